import type { Table } from "../../../charts/chart-data.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import type { Bins } from "../bins.ts";
import { columnPlaces } from "../column-places.ts";
import { isError } from "../patterns/pattern-model.ts";
import type { TimeSpan } from "./spans-of-time.ts";

/** The entries of a span over time and by level. */
export interface Counts {
  bins: Bins;
  /** Entries of each span of time. */
  values: number[];
  /** Of these, the ones of level `error` or above. */
  errors: number[];
  /** Whether a span of time begins before the counted span or ends after it. */
  partial: boolean[];
  levels: ReadonlyMap<Level, number>;
  total: number;
}

/**
 * Reads the table of `count by level, bin(...)`.
 * @param counted whose entries the table has
 */
export function countsOf(table: Table, bins: Bins, counted: TimeSpan): Counts {
  const [time, level, count] = columnPlaces(table, ["time", "level", "count"]);
  const values = Array<number>(bins.spans).fill(0);
  const errors = Array<number>(bins.spans).fill(0);
  const partial = values.map((_, at) => {
    const start = bins.start + at * bins.binMs;
    return start < counted.start || start + bins.binMs > counted.end;
  });
  const levels = new Map<Level, number>();
  let total = 0;
  for (const row of table.rows) {
    const found = row[count];
    const entries = typeof found === "number" ? found : 0;
    const span = Math.floor((Date.parse(String(row[time])) - bins.start) / bins.binMs);
    const name = LEVELS.find((each) => each === row[level]);
    if (span >= 0 && span < bins.spans) {
      values[span] = (values[span] ?? 0) + entries;
      if (name !== undefined && isError(name)) errors[span] = (errors[span] ?? 0) + entries;
    }
    if (name !== undefined) levels.set(name, (levels.get(name) ?? 0) + entries);
    total += entries;
  }
  return { bins, values, errors, partial, levels, total };
}

/** Part of the most errors in a span of time, from which those beside it belong to the peak. */
const OF_PEAK = 0.5;

/** Returns the time of the most errors; `null` without errors, or without entries in as much time before it. */
export function errorPeak({ bins, values, errors }: Counts): TimeSpan | null {
  const most = Math.max(...errors);
  if (!(most > 0)) return null;
  const isPeak = (at: number): boolean => (errors[at] ?? 0) >= most * OF_PEAK;
  let first = errors.indexOf(most);
  let end = first + 1;
  while (isPeak(first - 1)) first--;
  while (isPeak(end)) end++;
  const before = values.slice(Math.max(0, 2 * first - end), first);
  if (!before.some((count) => count > 0)) return null;
  return { start: bins.start + first * bins.binMs, end: bins.start + end * bins.binMs };
}

/**
 * Returns the newer half of the time that has entries, to compare with the older half; `null` if there are too few.
 * @param least entries of each half
 */
export function newerHalf({ bins, values }: Counts, least: number): TimeSpan | null {
  const first = values.findIndex((count) => count > 0);
  const end = values.findLastIndex((count) => count > 0) + 1;
  const half = Math.floor((end - first) / 2);
  const from = end - half;
  const sum = (some: readonly number[]): number => some.reduce((a, b) => a + b, 0);
  if (half === 0 || sum(values.slice(from - half, from)) < least || sum(values.slice(from, end)) < least) return null;
  return { start: bins.start + from * bins.binMs, end: bins.start + end * bins.binMs };
}
