import { useState } from "preact/hooks";
import { timeFormat } from "../../lib/zone.ts";
import { ERRORS } from "../../model/types.ts";
import { between } from "../explorer/view/range.ts";
import { viewSearch } from "../explorer/view/view.ts";
import { visible } from "../explorer/view/visible.ts";
import { releaseTooltip } from "../investigate/releases/release-names.ts";
import type { Release } from "../investigate/releases/releases.ts";
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
      </p>
      <Bars bars={bars} peak={peak.count} releases={releases} workspaceId={workspaceId} />
      <p class={css.ends} aria-hidden="true">
        <span>{CLOCK(bars[0]?.start ?? 0)}</span>
        <span>
          most at {CLOCK(peak.start)}: {COUNT.format(peak.count)}
        </span>
        <span>now</span>
      </p>
    </>
  );
}

interface BarsProps {
  bars: readonly ErrorBar[];
  /** The most errors of a bar. */
  peak: number;
  releases: readonly Release[];
  workspaceId: string;
}

/** One tab stop, in which the arrow keys move over the bars and the releases above them. */
function Bars({ bars, peak, releases, workspaceId }: BarsProps) {
  const [focused, setFocused] = useState("");
  const shown = bars.map(({ start, count }) => ({
    start,
    count,
    begun: releases.filter(({ at }) => at >= start && at < start + BAR_MS).toReversed(),
  }));
  const stops = shown.flatMap(({ start, count, begun }) => [
    ...(begun.length > 0 ? [`release ${start}`] : []),
    ...(count > 0 ? [`errors ${start}`] : []),
  ]);
  const stop = stops.includes(focused) ? focused : stops[0];
  const linkAs = (name: string, text: string) => ({
    "aria-label": text,
    "data-tooltip": text,
    tabIndex: name === stop ? 0 : -1,
    onFocus: () => setFocused(name),
  });
  return (
    <ul
      class={css.bars}
      aria-label={`Errors by time, at most ${COUNT.format(peak)} in half an hour`}
      onKeyDown={(event) => {
        const at = stops.indexOf(stop ?? "");
        const end = stops.length - 1;
        const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: end }[event.key];
        if (next === undefined || event.altKey) return;
        event.preventDefault();
        event.currentTarget.querySelectorAll("a")[Math.max(0, Math.min(end, next))]?.focus();
      }}
    >
      {shown.map(({ start, count, begun }) => (
        <li key={start}>
          {begun[0] === undefined ? null : (
            <a
              class={css.release}
              data-count={begun.length > 1 ? begun.length : undefined}
              href={comparison(workspaceId, begun[0], releases)}
              {...linkAs(`release ${start}`, releaseTooltip(begun))}
              aria-description="What changed"
              data-tooltip={`${releaseTooltip(begun)}\nClick: what changed`}
            />
          )}
          {count === 0 ? null : (
            <a
              class={css.bar}
              href={`/w/${workspaceId}${viewSearch({ query: ERRORS, order: "desc", live: false, range: between(start, start + BAR_MS) })}`}
              {...linkAs(`errors ${start}`, `${CLOCK(start)} – ${CLOCK(start + BAR_MS)}: ${errorsIn(count)}`)}
            >
              <span style={{ height: `max(2px, ${(count / peak) * 100}%)` }} />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function errorsIn(count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? "error" : "errors"}`;
}
