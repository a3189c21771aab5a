import { parse } from "../../../../src/query-language/parse.ts";
import type { Table } from "../../charts/chart-data.ts";
import type { Span } from "../../charts/selection.ts";
import { shapeOf } from "../../charts/table-shape.ts";
import type { SavedRange } from "../../model/boards.ts";

/** Parts of a chart over time that a panel can keep in place of the whole. */
export interface ChartParts {
  /** What the reader has selected. */
  selected?: Span | undefined;
  /** Its entries where they fill little of it, and as much time before and after them: to compare with. */
  entries?: Span | undefined;
}

/** Share of a chart from which its entries fill it, with the time before and after them. */
const FILLED = 0.5;

/**
 * Returns the parts of a chart that differ from it.
 * @param spans those with entries, in any order
 */
export function partsOf(chart: Span, spans: Iterable<Span>, selected: Span | null): ChartParts {
  const within = ({ start, end }: Span): Span => ({
    start: Math.max(chart.start, start),
    end: Math.min(chart.end, end),
  });
  let entries: Span | undefined;
  for (const { start, end } of spans) {
    entries = { start: Math.min(start, entries?.start ?? start), end: Math.max(end, entries?.end ?? end) };
  }
  const isPart = (part: Span | undefined, most: number): part is Span =>
    part !== undefined && part.end > part.start && part.end - part.start < (chart.end - chart.start) * most;
  const length = entries === undefined ? 0 : entries.end - entries.start;
  const filled = entries && within({ start: entries.start - length, end: entries.end + length });
  const chosen = selected === null ? undefined : within(selected);
  return { ...(isPart(chosen, 1) && { selected: chosen }), ...(isPart(filled, FILLED) && { entries: filled }) };
}

/** Returns the spans of time in which a table has rows; none if it is not over time. */
export function spansWithRows({ columns, rows }: Table, query: string): Span[] {
  const { binMs } = shapeOf(parse(query));
  const time = columns.findIndex(({ name, type }) => name === "time" && type === "time");
  if (binMs === null || time < 0) return [];
  return rows.flatMap((row) => {
    const start = Date.parse(String(row[time]));
    return Number.isNaN(start) ? [] : [{ start, end: start + binMs }];
  });
}

/** Returns a part as a panel keeps it. */
export function fixedRange({ start, end }: Span): SavedRange {
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** Returns the times of a range that has two; `null` for others. */
export function fixedTimes(range: SavedRange): Span | null {
  if (range === null || "last" in range || range.from === null || range.to === null) return null;
  return { start: Date.parse(range.from), end: Date.parse(range.to) };
}
