import { layerEnds, niceCeiling } from "../lib/bar-heights.ts";
import type { BarSeries } from "./bar-series.ts";
import css from "./stacked-bars.module.css";

interface StackedBarsProps {
  /** Accessible name: what the bars show, over which time. */
  label: string;
  /** From the lowest part of a bar to the highest. */
  series: readonly BarSeries[];
  /** A name for each bar, shown when the pointer is on it. */
  names: readonly string[];
  /** Texts below the first and the last bar. */
  ends?: readonly [first: string, last: string];
  /** Whether the legend has the sum of each series. */
  isTotalShown?: boolean;
}

const HEIGHT = 100;
/** Pixels of this height, as in the style sheet. */
const PIXELS = 96;
/** Share of a bar's place that is free. */
const GAP = 0.16;
const COUNT = new Intl.NumberFormat();

/** Stacked bars with a legend. The values are also in the tooltips; a page that needs them as a table adds one. */
export function StackedBars({ label, series, names, ends, isTotalShown = true }: StackedBarsProps) {
  const shown = series.filter(({ values }) => values.some((value) => value > 0));
  const totals = names.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const peak = Math.max(1, ...totals);
  const top = niceCeiling(peak);
  const tops = layerEnds(
    shown.map(({ level = null, values }) => ({ level, values })),
    top / PIXELS,
  );
  return (
    <figure class={css.figure}>
      {/* The accessible name has the highest bar. */}
      <div class={css.peak} aria-hidden="true">
        {COUNT.format(top)}
      </div>
      <svg
        class={css.bars}
        viewBox={`0 0 ${Math.max(1, names.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, at most ${COUNT.format(peak)}`}
      >
        {names.map((name, at) => {
          let before = 0;
          return (
            <g key={name}>
              <title>{`${name}: ${COUNT.format(totals[at] ?? 0)}`}</title>
              <rect class={css.place} x={at} y={0} width={1} height={HEIGHT} />
              {shown.map(({ color }, part) => {
                const end = tops[part]?.[at] ?? before;
                const height = ((end - before) / top) * HEIGHT;
                const y = HEIGHT - (end / top) * HEIGHT;
                before = end;
                return height === 0 ? null : (
                  <rect key={part} x={at + GAP / 2} y={y} width={1 - GAP} height={height} style={{ fill: color }} />
                );
              })}
            </g>
          );
        })}
      </svg>
      {ends === undefined ? null : (
        <div class={css.ends} aria-hidden="true">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </div>
      )}
      <figcaption>
        <ul class={css.legend}>
          {shown.map(({ name, color, values }, part) => (
            <li key={part}>
              <span class={css.key} style={{ background: color }} />
              {name} {isTotalShown ? <b>{COUNT.format(values.reduce((sum, value) => sum + value, 0))}</b> : null}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
