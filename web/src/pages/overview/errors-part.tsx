import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Release } from "../../charts/releases.ts";
import { TimeAxis } from "../../charts/time-axis.tsx";
import { visible } from "../../lib/visible.ts";
import { timeFormat } from "../../lib/zone.ts";
import { ERRORS } from "../../model/types.ts";
import { useSize } from "../../ui/use-size.ts";
import { between } from "../explorer/view/range.ts";
import { toolLink, viewOf } from "../investigate/links.ts";
import { ReleaseMarks } from "../investigate/releases/release-marks.tsx";
import css from "./errors-part.module.css";
import { comparison } from "./lists.tsx";
import { BAR_MS, type ErrorBar, type Errors, HOURS } from "./now.ts";
import quiet from "./overview.module.css";

const COUNT = new Intl.NumberFormat();
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });

interface ErrorsProps {
  errors: Errors;
  /** Empty if there is none, or if they could not be read. */
  releases: readonly Release[];
  workspaceId: string;
}

/** Errors of the last 24 hours over time, with their services. A bar leads to its entries. */
export function ErrorsOfDay({ errors: { bars, total, isExact, services }, releases, workspaceId }: ErrorsProps) {
  if (total === 0) {
    return (
      <p class={quiet.quiet}>
        {isExact ? `No error or fatal entry in the last ${HOURS} hours.` : "Errors could not be counted."}
      </p>
    );
  }
  const base = `/w/${workspaceId}`;
  const others = total - services.reduce((sum, { count }) => sum + count, 0);
  const peak = bars.reduce((most, bar) => (bar.count > most.count ? bar : most));
  const link = (query: string): string => `${base}?${new URLSearchParams({ q: query })}`;
  return (
    <>
      <p class={css.head}>
        <a class={css.total} href={link(ERRORS)}>
          {isExact ? "" : "At least "}
          {errorsIn(total)}
        </a>
        {services.map(({ name, count }) => (
          <a key={name} class={css.service} href={link(`${ERRORS} service:=${JSON.stringify(name)}`)}>
            {visible(name)} <b>{COUNT.format(count)}</b>
            <span class="visually-hidden"> errors</span>
          </a>
        ))}
        {isExact && services.length > 0 && others > 0 ? (
          <span class={css.service}>
            other <b>{COUNT.format(others)}</b>
          </span>
        ) : null}
        <a class={`${css.service} ${css.peak}`} href={barLink(workspaceId, peak)}>
          most: <b>{COUNT.format(peak.count)}</b> at {barTime(peak)}
        </a>
      </p>
      <Plot bars={bars} peak={peak.count} releases={releases} workspaceId={workspaceId} />
    </>
  );
}

interface PlotProps {
  bars: readonly ErrorBar[];
  /** The most errors of a bar. */
  peak: number;
  /** The newest first. */
  releases: readonly Release[];
  workspaceId: string;
}

/** Nothing is around the drawing; the signs of releases have room in it. */
const MARKS = { top: 0, bottom: 0, left: 0, right: 0 };

/** The bars with the releases over them and an axis of time. */
function Plot({ bars, peak, releases, workspaceId }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const { width } = useSize(host);
  const { route } = useLocation();
  const from = bars[0]?.start ?? 0;
  const to = from + bars.length * BAR_MS;
  return (
    <>
      <div class={css.plot} ref={host}>
        <Bars bars={bars} peak={peak} workspaceId={workspaceId} />
        <ReleaseMarks
          scope={{ workspaceId, projectId: null }}
          releases={releases.toReversed()}
          from={from}
          to={to}
          width={width}
          inset={MARKS}
          onShow={(query, start, end) => route(toolLink(workspaceId, null, null, viewOf(query, between(start, end))))}
          onCompare={(release) => route(comparison(workspaceId, release, releases))}
        />
      </div>
      <div class={css.times}>
        <TimeAxis from={from} to={to} width={width} end="now" />
      </div>
    </>
  );
}

/** One tab stop, in which the arrow keys move. */
function Bars({ bars, peak, workspaceId }: Omit<PlotProps, "releases">) {
  const [focused, setFocused] = useState(0);
  const stops = bars.filter(({ count }) => count > 0).map(({ start }) => start);
  const stop = stops.includes(focused) ? focused : stops[0];
  return (
    <ul
      class={css.bars}
      aria-label={`Errors by time, at most ${COUNT.format(peak)} in half an hour`}
      onKeyDown={(event) => {
        const at = stops.indexOf(stop ?? 0);
        const end = stops.length - 1;
        const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: end }[event.key];
        if (next === undefined || event.altKey) return;
        event.preventDefault();
        event.currentTarget.querySelectorAll("a")[Math.max(0, Math.min(end, next))]?.focus();
      }}
    >
      {bars.map((bar) => (
        <li key={bar.start}>
          {bar.count === 0 ? null : (
            <a
              class={css.bar}
              href={barLink(workspaceId, bar)}
              aria-label={`${barTime(bar)}: ${errorsIn(bar.count)}`}
              data-tooltip={`${barTime(bar)}: ${errorsIn(bar.count)}`}
              tabIndex={bar.start === stop ? 0 : -1}
              onFocus={() => setFocused(bar.start)}
            >
              <span style={{ height: `max(1px, ${(bar.count / peak) * 100}%)` }} />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function barLink(workspaceId: string, { start }: ErrorBar): string {
  return toolLink(workspaceId, null, null, viewOf(ERRORS, between(start, start + BAR_MS)));
}

function barTime({ start }: ErrorBar): string {
  return `${CLOCK(start)} – ${CLOCK(start + BAR_MS)}`;
}

function errorsIn(count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? "error" : "errors"}`;
}
