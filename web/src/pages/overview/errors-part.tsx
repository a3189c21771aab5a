import { timeFormat } from "../../lib/zone.ts";
import { between } from "../explorer/view/range.ts";
import { viewSearch } from "../explorer/view/view.ts";
import { visible } from "../explorer/view/visible.ts";
import css from "./errors-part.module.css";
import { ERRORS } from "./load-now.ts";
import { BAR_MS, type Errors, HOURS } from "./now.ts";
import quiet from "./overview.module.css";

const COUNT = new Intl.NumberFormat();
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });

interface ErrorsProps {
  errors: Errors;
  /** Path of the workspace's logs. */
  base: string;
}

/** Errors of the last 24 hours over time, with their services. A bar leads to its entries. */
export function ErrorsOfDay({ errors: { bars, total, services }, base }: ErrorsProps) {
  if (total === 0) return <p class={quiet.quiet}>No error or fatal entry in the last {HOURS} hours.</p>;
  const peak = bars.reduce((most, bar) => (bar.count > most.count ? bar : most));
  const link = (query: string): string => `${base}?${new URLSearchParams({ q: query })}`;
  return (
    <>
      <p class={css.head}>
        <a class={css.total} href={link(ERRORS)}>
          {COUNT.format(total)} {total === 1 ? "error" : "errors"}
        </a>
        {services.map(({ name, count }) => (
          <a key={name} class={css.service} href={link(`${ERRORS} service:=${JSON.stringify(name)}`)}>
            {visible(name)} <b>{COUNT.format(count)}</b>
          </a>
        ))}
      </p>
      <ul class={css.bars} aria-label={`Errors by time, at most ${COUNT.format(peak.count)} in half an hour`}>
        {bars.map(({ start, count }) => (
          <li key={start}>
            {count === 0 ? null : (
              <a
                href={`${base}${viewSearch({ query: ERRORS, order: "desc", live: false, range: between(start, start + BAR_MS) })}`}
                aria-label={named(start, count)}
                data-tooltip={named(start, count)}
              >
                <span style={{ height: `max(2px, ${(count / peak.count) * 100}%)` }} />
              </a>
            )}
          </li>
        ))}
      </ul>
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

function named(start: number, count: number): string {
  return `${CLOCK(start)} – ${CLOCK(start + BAR_MS)}: ${COUNT.format(count)}`;
}
