import type { Facts } from "./facts.ts";

type Cell = string | number | null;
/** Cells of a table by the name of their column. */
export type Row = Record<string, Cell>;

/** An answer as the service or its peer gave it, in one form. */
export interface Answer {
  rows: Row[];
  /** Entries, newest first, by trace id; empty for tables. */
  traceIds: string[];
  /** Whether numbers may be estimates, by the answer itself. */
  isExact: boolean;
}

/** Returns what is wrong with an answer; `null` if it is right. */
export type Check = (answer: Answer) => string | null;

/** What a measurement must not exceed. */
export interface Goal {
  /** Milliseconds, on the machine for which the targets were set; `null` if the target needs the peer. */
  atMost: number | null;
  /** Times the peer's time in the same run; `null` where only milliseconds are asked for. */
  timesPeer: number | null;
}

/** One question for the service and its peer. */
export interface Comparison {
  name: string;
  /** How its time may grow with the entries. */
  grows: "logarithm" | "linear";
  goal: Goal | null;
  request: { path: string; body: Record<string, unknown> };
  /**
   * The same question in LogsQL, in its fastest form, with its time range; `null` if the peer has none. `limit`: the newest
   * entries that are wanted; `null` for a table.
   */
  peer: { query: string; from: number; to: number; limit: number | null; check: Check } | null;
  check: Check;
}

/** Relative errors of estimates: of the service as documented (four standard errors of a distinct count), of its peer. */
const ESTIMATE = { percentile: 0.01, distinct: 0.032, peer: 0.05 } as const;

/** Rows of these groups and no others, with these numbers. */
export function expectCounts(
  expected: ReadonlyMap<string, number>,
  keyOf: (row: Row) => string,
  column: string,
  error = 0,
): Check {
  return ({ rows }) => {
    if (rows.length !== expected.size) return `${rows.length} rows instead of ${expected.size}`;
    for (const row of rows) {
      const key = keyOf(row);
      const right = expected.get(key);
      const found = Number(row[column]);
      if (right === undefined || !(Math.abs(found - right) <= right * error)) {
        return `${key}: ${row[column]} instead of ${right}`;
      }
    }
    return null;
  };
}

export function expectPercentiles(
  expected: ReadonlyMap<string, number>,
  keyOf: (row: Row) => string,
  column: string,
): Record<"service" | "peer", Check> {
  return {
    service: (answer) => expectCounts(expected, keyOf, column, answer.isExact ? 0 : ESTIMATE.percentile)(answer),
    peer: expectCounts(expected, keyOf, column, ESTIMATE.peer),
  };
}

export function expectDistinct(
  expected: ReadonlyMap<string, number>,
  keyOf: (row: Row) => string,
  column: string,
): Record<"service" | "peer", Check> {
  return {
    service: (answer) => expectCounts(expected, keyOf, column, answer.isExact ? 0 : ESTIMATE.distinct)(answer),
    peer: expectCounts(expected, keyOf, column),
  };
}

/** The largest groups. Among equal ones any may be returned. */
export function expectTop(
  limit: number,
  expected: ReadonlyMap<string, number>,
  keyOf: (row: Row) => string,
  column: string,
): Check {
  const largest = [...expected.values()].sort((a, b) => b - a).slice(0, limit);
  return ({ rows }) => {
    const found = rows.map((row) => Number(row[column])).sort((a, b) => b - a);
    if (found.join() !== largest.join()) return `${found.join()} instead of ${largest.join()}`;
    const wrong = rows.find((row) => expected.get(keyOf(row)) !== Number(row[column]));
    return wrong === undefined ? null : `${keyOf(wrong)}: ${wrong[column]} instead of ${expected.get(keyOf(wrong))}`;
  };
}

/** Exactly these entries, in this order. */
export function expectEntries(expected: readonly string[]): Check {
  return ({ traceIds }) => {
    if (traceIds.length !== expected.length) return `${traceIds.length} entries instead of ${expected.length}`;
    const at = expected.findIndex((id, index) => id !== traceIds[index]);
    return at < 0 ? null : `entry ${at} is ${traceIds[at]} instead of ${expected[at]}`;
  };
}

/** Groups whose counts add up to all entries. */
export function expectAll({ data }: Facts, column: string): Check {
  return ({ rows }) => {
    const total = rows.reduce((sum, row) => sum + Number(row[column]), 0);
    return total === data.entries ? null : `the counts add up to ${total} instead of ${data.entries}`;
  };
}
