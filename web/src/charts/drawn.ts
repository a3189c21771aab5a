import type { Level } from "../model/types.ts";
import { COLOURS, type Series, type TimeChart } from "./chart-data.ts";

/** Returns the tops of stacked series: each on the sum of those before. */
export function stackedOf(
  series: readonly Series[],
): { name: string; level: Level | null; from: number[]; to: number[] }[] {
  let sums: number[] = [];
  return series.map(({ name, level, values }) => {
    const from = values.map((_, at) => sums[at] ?? 0);
    sums = values.map((value, at) => (from[at] ?? 0) + Math.max(0, value ?? 0));
    return { name, level, from, to: sums };
  });
}

/** One series as it is drawn. */
export interface DrawnSeries extends Series {
  /** Place among all series, which is that of its colour. */
  index: number;
  /** Names it among all series. A refresh may change its place, and two series may have one name. */
  key: string;
}

/** What is drawn of values over time. */
export interface Drawn {
  /** What the legend has. */
  all: DrawnSeries[];
  /** What is drawn of them. */
  shown: DrawnSeries[];
  /** Tops of the stacked series, the bottom one first; `null` if they are lines from 0. */
  stacked: ReturnType<typeof stackedOf> | null;
  /** The highest value. */
  most: number;
  /** Groups that are not drawn. */
  hidden: number;
}

/** Returns what is drawn. @param only key of a series that is drawn alone */
export function drawnOf({ series, rest, hidden, isCount }: TimeChart, isLines: boolean, only: string | null): Drawn {
  // Percentiles of groups cannot be added.
  const isStacked = !isLines && (isCount || series.length === 1);
  const withRest = isStacked && rest !== null ? [...series.slice(0, COLOURS), rest] : series;
  const all = withRest.map((each, index) => {
    const before = withRest.slice(0, index).filter(({ name }) => name === each.name).length;
    return { ...each, index, key: `${before} ${each.name}` };
  });
  const alone = all.filter(({ key }) => key === only);
  const shown = alone.length === 0 ? all : alone;
  const stacked = isStacked ? stackedOf(shown) : null;
  const most = Math.max(...(stacked?.at(-1)?.to ?? shown.map(({ peak }) => peak)));
  return { all, shown, stacked, most, hidden: isStacked && rest !== null ? 0 : hidden };
}

/**
 * Returns the parts of a drawing at its start and end that are lighter, because the range has only part of their span of time.
 * @param isJoined whether the value of a span is joined with that of the next one, from the middle of the spans
 */
export function cutOf({ from, binMs, spans, edges }: TimeChart, isJoined: boolean): { start: number; end: number } {
  const part = Math.min(0.5, (isJoined && spans > 1 ? 1.5 : 1) / spans);
  return { start: edges.from > from ? part : 0, end: edges.to < from + spans * binMs ? part : 0 };
}
