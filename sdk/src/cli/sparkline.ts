import { paint, shown } from "./pretty.ts";
import { type Table, widthOf } from "./table.ts";
import { formatTime, timeZone } from "./time.ts";

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
/** Characters of a line. Several spans share one if there are more; it shows the highest of them. */
const WIDTH = 60;
/** Lines of one answer. */
const MOST = 20;
/** Characters of a name. */
const NAME = 40;

interface Series {
  name: string;
  values: Map<number, number>;
  peak: number;
}

/**
 * Formats each numeric column of a table over spans of time as a line of bars, separately for each group. Every line has
 * a scale of its own, from 0 to its highest value. The lines of a group are in the order of the columns, the groups with
 * the highest values of the first column come first.
 * @param binMs milliseconds of a span; `null` if the table has none
 */
export function sparkLines({ columns, rows }: Table, binMs: number | null, colors: boolean): string[] {
  const time = columns.findIndex(({ name, type }) => name === "time" && type === "time");
  if (binMs === null || time < 0) return [];
  const measures = columns.flatMap(({ type }, at) => (at !== time && type === "number" ? [at] : []));
  const keys = columns.flatMap((_, at) => (at !== time && !measures.includes(at) ? [at] : []));
  const groups = new Map<string, Map<number, Series>>();
  const times: number[] = [];
  for (const row of rows) {
    const at = Date.parse(String(row[time]));
    if (Number.isNaN(at)) continue;
    times.push(at);
    const group = keys.map((key) => textOf(row[key]));
    const name = group.join("  ");
    const series = groups.get(name) ?? new Map<number, Series>();
    groups.set(name, series);
    for (const measure of measures) {
      const value = row[measure];
      if (typeof value !== "number") continue;
      const line = series.get(measure) ?? {
        name: [...group, columns[measure]?.name].join("  "),
        values: new Map(),
        peak: 0,
      };
      line.values.set(at, value);
      line.peak = Math.max(line.peak, value);
      series.set(measure, line);
    }
  }
  const all = [...groups.values()]
    .sort((a, b) => peakOf(b, measures) - peakOf(a, measures))
    .flatMap((series) => measures.flatMap((measure) => series.get(measure) ?? []));
  if (times.length === 0 || all.length === 0) return [];
  const first = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const spans = Math.round((last - first) / binMs) + 1;
  const perCharacter = Math.ceil(spans / WIDTH);
  const drawn = all.slice(0, MOST);
  const width = Math.max(...drawn.map(({ name }) => widthOf(cut(name))));
  const lines = drawn.map(({ name, values, peak }) => {
    const heights = new Array<number>(Math.ceil(spans / perCharacter)).fill(Number.NaN);
    for (const [at, value] of values) {
      const place = Math.floor(Math.round((at - first) / binMs) / perCharacter);
      heights[place] = Math.max(value, heights[place] || Number.NEGATIVE_INFINITY);
    }
    const bars = heights.map((height) => barOf(height, peak)).join("");
    return `${cut(name)}${" ".repeat(width - widthOf(cut(name)))}  ${bars}  ${paint(`to ${peak.toLocaleString("en-US")}`, "2", colors)}`.trimEnd();
  });
  const range = `${formatTime(new Date(first).toISOString()).slice(0, 16)} to ${formatTime(new Date(last + binMs).toISOString()).slice(0, 16)}`;
  const hidden = all.length > drawn.length ? `, the highest ${drawn.length} of ${all.length}` : "";
  return [paint(`${range} (${timeZone()})${hidden}`, "2", colors), ...lines, ""];
}

/** The highest value of a group in the first numeric column. */
function peakOf(series: ReadonlyMap<number, Series>, measures: readonly number[]): number {
  return series.get(measures[0] ?? -1)?.peak ?? 0;
}

/** A span without a value has no bar. */
function barOf(height: number, peak: number): string {
  if (Number.isNaN(height)) return " ";
  const step = peak === 0 ? 0 : Math.ceil((height / peak) * BARS.length) - 1;
  return BARS[Math.min(Math.max(step, 0), BARS.length - 1)] ?? " ";
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? "-" : typeof value === "string" ? value : JSON.stringify(value);
}

function cut(name: string): string {
  const text = shown(name);
  return text.length > NAME ? `${text.slice(0, NAME - 1)}…` : text;
}
