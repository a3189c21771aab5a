import { useMemo } from "preact/hooks";
import { visible } from "../view/visible.ts";
import css from "./answer-view.module.css";
import type { Axes } from "./asked.ts";
import { cellText } from "./cell-text.ts";
import { type Drawing, drawingsOf, type Series } from "./series.ts";

const WIDTH = 1000;
const HEIGHT = 140;
/** Room above the highest value, for the width of a line. */
const TOP = 2;
/** Spans of a line with a point for each. */
const MAX_FILLED = 2000;

interface AnswerChartsProps {
  table: { columns: { name: string; type: string }[]; rows: unknown[][] };
  axes: Axes | null;
}

/** A chart for each numeric column of a table over time. The table below has the same values. */
export function AnswerCharts({ table, axes }: AnswerChartsProps) {
  const drawings = useMemo(() => drawingsOf(table, axes), [table, axes?.binMs, axes?.keys.join()]);
  if (drawings.length === 0) return null;
  return (
    <div class={css.charts}>
      {drawings.map((drawing) => (
        <AnswerChart key={drawing.measure} drawing={drawing} />
      ))}
    </div>
  );
}

/** Bars of one group over time, or a line for each of several. */
function AnswerChart({ drawing: { measure, from, to, spans, series, groups, peak } }: { drawing: Drawing }) {
  const x = WIDTH / spans;
  const y = (value: number): number => (peak === 0 ? 0 : (Math.max(0, value) / peak) * (HEIGHT - TOP));
  const [only] = series;
  // A span without entries has no row, and of a count that is 0.
  const isCount = /^(?:count|rate|sum)\b/.test(measure) && spans <= MAX_FILLED;
  const most = cellText(peak, "number");
  const label = `${measure} from ${time(from)} to ${time(to)}, at most ${most}`;
  return (
    <figure class={css.chart}>
      <p class={css.measure}>{visible(measure)}</p>
      <div class={css.values} aria-hidden="true">
        <span>{most}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={visible(label)}>
        {series.length === 1 && only
          ? [...only.points].map(([at, value]) => (
              <rect key={at} class={css.tone0} x={at * x} y={HEIGHT - y(value)} width={x * 0.9} height={y(value)} />
            ))
          : series.map((each, at) => (
              <polyline
                key={each.name}
                class={css[`tone${at}`]}
                points={lineOf(isCount ? filled(each, spans) : each, x, y)}
              />
            ))}
      </svg>
      <div class={css.times} aria-hidden="true">
        <span>{time(from)}</span>
        <span>{time(to)}</span>
      </div>
      {series.length < 2 ? null : (
        <figcaption>
          <ul class={css.legend}>
            {series.map(({ name, peak: highest }, at) => (
              <li key={name} class={css[`tone${at}`]}>
                {visible(name)} (to {cellText(highest, "number")})
              </li>
            ))}
            {groups > series.length ? <li class={css.more}>{groups - series.length} more in the table</li> : null}
          </ul>
        </figcaption>
      )}
    </figure>
  );
}

function filled(series: Series, spans: number): Series {
  const points = new Map(Array.from({ length: spans }, (_, at) => [at, series.points.get(at) ?? 0]));
  return { ...series, points };
}

function lineOf({ points }: Series, x: number, y: (value: number) => number): string {
  const sorted = [...points].sort(([a], [b]) => a - b);
  return sorted.map(([at, value]) => `${((at + 0.5) * x).toFixed(1)},${(HEIGHT - y(value)).toFixed(1)}`).join(" ");
}

function time(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
