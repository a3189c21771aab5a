import type { Axes } from "./asked.ts";

/** What is drawn of a table over spans of time. */

interface Table {
  columns: { name: string; type: string }[];
  rows: unknown[][];
}

export interface Series {
  name: string;
  /** Values by the index of their span. */
  points: ReadonlyMap<number, number>;
  peak: number;
}

export interface Drawing {
  /** Name of the drawn column. */
  measure: string;
  /** Epoch milliseconds. */
  from: number;
  to: number;
  spans: number;
  series: Series[];
  /** Number of groups, drawn or not. */
  groups: number;
  peak: number;
}

/** Groups that are drawn: those with the highest values. */
const MOST = 6;
/** Spans of time beyond which a table is not drawn: its times lie too far apart. */
const MAX_SPANS = 20_000;

/** Values that are drawn. The table has all. */
const MAX_MEASURES = 4;

/** Returns a drawing for each numeric column of a table over time that is no key, by group; none if there is nothing to draw. */
export function drawingsOf(table: Table, axes: Axes | null): Drawing[] {
  if (axes === null) return [];
  const measures = table.columns.flatMap(({ name, type }, at) =>
    type === "number" && !axes.keys.includes(name) ? [at] : [],
  );
  return measures.slice(0, MAX_MEASURES).flatMap((at) => drawingOf(table, axes, at) ?? []);
}

function drawingOf({ columns, rows }: Table, { binMs, keys: names }: Axes, measure: number): Drawing | null {
  const time = columns.findIndex(({ name, type }) => name === "time" && type === "time");
  if (time < 0) return null;
  const keys = columns.flatMap(({ name, type }, at) =>
    at === time || (type === "number" && !names.includes(name)) ? [] : [at],
  );
  const times = rows.map((row) => Date.parse(String(row[time]))).filter((at) => !Number.isNaN(at));
  if (times.length === 0) return null;
  const from = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const spans = Math.round((last - from) / binMs) + 1;
  if (spans > MAX_SPANS) return null;
  const groups = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const [at, value] = [Date.parse(String(row[time])), row[measure]];
    if (Number.isNaN(at) || typeof value !== "number") continue;
    const name = keys.map((key) => text(row[key])).join(" ");
    const points = groups.get(name) ?? new Map<number, number>();
    groups.set(name, points.set(Math.round((at - from) / binMs), value));
  }
  const all = [...groups].map(([name, points]): Series => {
    return { name, points, peak: [...points.values()].reduce((a, b) => Math.max(a, b), 0) };
  });
  const series = all.sort((a, b) => b.peak - a.peak).slice(0, MOST);
  const peak = series[0]?.peak ?? 0;
  return { measure: columns[measure]?.name ?? "", from, to: last + binMs, spans, series, groups: all.length, peak };
}

function text(value: unknown): string {
  return value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}
