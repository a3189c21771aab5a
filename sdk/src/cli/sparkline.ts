import { paint, shown } from "./pretty.ts";
import { type Table, widthOf } from "./table.ts";
import { formatTime } from "./time.ts";

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
/** Characters of a line. Several spans share one if there are more; it shows the highest of them. */
const WIDTH = 60;
/** Lines of one answer, those with the highest values first. */
const MOST = 20;
/** Characters of a name. */
const NAME = 40;

interface Series {
  name: string;
  values: ReadonlyMap<number, number>;
  peak: number;
}

/**
 * Formats each numeric column of a table over spans of time as a line of bars, separately for each group. Every line has
 * a scale of its own, from 0 to its highest value.
 * @param binMs milliseconds of a span; `null` if the table has none
 */
export function sparkLines({ columns, rows }: Table, binMs: number | null, colors: boolean): string[] {
  const time = columns.findIndex(({ name, type }) => name === "time" && type === "time");
  if (binMs === null || time < 0) return [];
  const measures = columns.flatMap(({ type }, at) => (at !== time && type === "number" ? [at] : []));
  const keys = columns.flatMap((_, at) => (at !== time && !measures.includes(at) ? [at] : []));
  const series = new Map<string, Map<number, number>>();
  const times: number[] = [];
  for (const row of rows) {
    const at = Date.parse(String(row[time]));
    if (Number.isNaN(at)) continue;
    times.push(at);
    for (const measure of measures) {
      const value = row[measure];
      if (typeof value !== "number") continue;
      const name = [...keys.map((key) => textOf(row[key])), columns[measure]?.name].join("  ");
      const values = series.get(name) ?? new Map<number, number>();
      series.set(name, values.set(at, value));
    }
  }
  if (times.length === 0 || series.size === 0) return [];
  const first = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const spans = Math.round((last - first) / binMs) + 1;
  const perCharacter = Math.ceil(spans / WIDTH);
  const all = [...series].map(([name, values]): Series => ({ name, values, peak: Math.max(0, ...values.values()) }));
  const drawn = all.sort((a, b) => b.peak - a.peak).slice(0, MOST);
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
  return [paint(`${range}${hidden}`, "2", colors), ...lines, ""];
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
