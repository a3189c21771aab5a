import { evenCeiling, layerEnds, niceCeiling } from "../lib/bar-heights.ts";
import type { Level } from "../model/types.ts";
import type { GroupChart, Series, TimeChart } from "./chart-data.ts";
import { COLOURS, coloursOf, type KnownColours, NEUTRAL, PAGE_COLOURS } from "./series-colours.ts";

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

/**
 * Returns the tops of stacked series as bars are drawn: those of severe levels can be seen, as in the explorer's histogram.
 * @param perPixel value of a pixel
 */
export function barTops(
  series: readonly Pick<Series, "level" | "values">[],
  perPixel: number,
): { from: number[]; to: number[] }[] {
  const layers = series.map(({ level, values }) => ({ level, values: values.map((value) => Math.max(0, value ?? 0)) }));
  let before: number[] = [];
  return layerEnds(layers, perPixel).map((ends) => {
    const from = ends.map((_, at) => before[at] ?? 0);
    before = ends.map((end) => end ?? 0);
    return { from, to: before };
  });
}

/** One series as it is drawn. */
export interface DrawnSeries extends Series {
  /** Place among all series. */
  index: number;
  /** Its colour, if it is not that of a level. */
  colour: number;
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
  /** Names of the groups of which the last series is the sum. */
  summed: readonly string[];
  /** Names of the groups that are not drawn. */
  hidden: readonly string[];
}

/** Key of the sum of further groups: a refresh may change their number, and so its name. */
const REST = "rest";

/** The series that was chosen in the legend of a drawing. */
export interface Choice {
  /** Of the drawing. */
  measure: string;
  key: string;
}

/** Returns the key of what a drawing shows alone: in those of other values, too, but the rest, which is another one there. */
export function onlyOf(choice: Choice | null, measure: string): string | null {
  if (choice === null || (choice.key === REST && choice.measure !== measure)) return null;
  return choice.key;
}

/** Returns the series that a choice shows alone; `null` if it is no longer there, and so all are shown. */
export function chosenOf(
  charts: readonly (TimeChart | GroupChart)[],
  isLines: boolean,
  choice: Choice | null,
): DrawnSeries | null {
  if (choice === null) return null;
  const chart = charts.find(({ measure }) => measure === choice.measure);
  if (chart?.kind !== "time") return null;
  return drawnOf(chart, isLines, choice.key).all.find(({ key }) => key === choice.key) ?? null;
}

/**
 * Returns what is drawn.
 * @param only key of a series that is drawn alone
 * @param known colours of names; gets those of new ones
 */
export function drawnOf(
  { series, rest, hidden, isCount }: TimeChart,
  isLines: boolean,
  only: string | null,
  known: KnownColours = PAGE_COLOURS,
): Drawn {
  // Percentiles of groups cannot be added.
  const isStacked = !isLines && (isCount || series.length === 1);
  const sum = isStacked ? rest : null;
  const keyed = (sum === null ? series : series.slice(0, COLOURS)).map((each, index, own) => {
    const before = own.slice(0, index).filter(({ name }) => name === each.name).length;
    return { ...each, index, key: `${before} ${each.name}` };
  });
  const colours = coloursOf(
    keyed.flatMap(({ level, name, key }) => (level === null && name !== "" ? [key] : [])),
    known,
  );
  const all: DrawnSeries[] = keyed.map((each) => ({ ...each, colour: colours.get(each.key) ?? 0 }));
  if (sum !== null) all.push({ ...sum, index: COLOURS, key: REST, colour: NEUTRAL });
  const alone = all.filter(({ key }) => key === only);
  const shown = alone.length === 0 ? all : alone;
  const stacked = isStacked ? stackedOf(shown) : null;
  const most = Math.max(...(stacked?.at(-1)?.to ?? shown.map(({ peak }) => peak)));
  const summed = sum === null ? [] : [...series.slice(COLOURS).map(({ name }) => name), ...hidden];
  return { all, shown, stacked, most, summed, hidden: sum === null ? hidden : [] };
}

/**
 * Returns the top of the axis, whose marks are this, its half, and 0. Marks of whole values are whole.
 * @param least what has room, also above the highest value
 */
export function topOf({ all, most }: Pick<Drawn, "all" | "most">, least = 0): number {
  const isWhole = all.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  return (isWhole ? evenCeiling : niceCeiling)(Math.max(most, least));
}

/** Whether a span that the range cuts has anything drawn in it. */
export function isCutDrawn({ shown }: Pick<Drawn, "shown">, cut: ReturnType<typeof cutOf>): boolean {
  const isDrawn = (at: number): boolean => shown.some(({ values }) => (values.at(at) ?? 0) !== 0);
  return (cut.start > 0 && isDrawn(0)) || (cut.end > 0 && isDrawn(-1));
}

/**
 * Returns the parts of a drawing at its start and end that are lighter, because the range has only part of their span of time.
 * @param isJoined whether the value of a span is joined with that of the next one, from the middle of the spans
 */
export function cutOf({ from, binMs, spans, edges }: TimeChart, isJoined: boolean): { start: number; end: number } {
  const part = Math.min(0.5, (isJoined && spans > 1 ? 1.5 : 1) / spans);
  return { start: edges.from > from ? part : 0, end: edges.to < from + spans * binMs ? part : 0 };
}
