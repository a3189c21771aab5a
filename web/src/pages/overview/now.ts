import type { Table } from "../../charts/chart-data.ts";
import { type Release, releasesOf } from "../investigate/releases/releases.ts";

/** Minutes over which the rate is measured, without the one in progress. */
export const RATE_MINUTES = 5;
const MINUTE_MS = 60_000;
export const MINUTES = 60;

/** Hours of the errors and the releases. */
export const HOURS = 24;
const HOURS_MS = HOURS * 60 * MINUTE_MS;
/** Milliseconds of a bar of the errors. */
export const BAR_MS = 30 * MINUTE_MS;
/** Those of the hours, and the one in progress. */
const BARS = HOURS_MS / BAR_MS + 1;
/** A version whose first entry is in the first of so many parts of the hours may have run before. */
const PARTS = 60;

/** A kind of message that occurs today and did not the day before. */
export interface NewPattern {
  pattern: string;
  count: number;
}

/** Errors of a span of time. */
export interface ErrorBar {
  /** Epoch milliseconds. */
  start: number;
  count: number;
}

export interface Errors {
  bars: ErrorBar[];
  total: number;
  /** Those with the most errors, the most first. */
  services: { name: string; count: number }[];
}

export interface Now {
  /** Entries of each of the last 60 minutes by their timestamp; the last one is in progress. */
  minutes: number[];
  /** Entries a minute, over the last whole minutes. */
  rate: number;
  patterns: { items: NewPattern[]; isExact: boolean };
  errors: Errors;
  /** The newest first; empty if no entry has a field with versions. */
  releases: Release[];
}

/** The answer of a batch to one query. */
export interface NowAnswer extends Table {
  ok: boolean;
  exact: boolean;
  complete: boolean;
  matched: number;
}

type Rows = Pick<NowAnswer, "rows"> & { columns: readonly { name: string }[] };

/** Reads the answers of the four queries. @param now epoch milliseconds */
export function nowOf([counts, patterns, errors, services]: readonly NowAnswer[], now: number): Omit<Now, "releases"> {
  const minutes = countsOf(counts, now, MINUTE_MS, MINUTES).map(({ count }) => count);
  const whole = minutes.slice(-1 - RATE_MINUTES, -1);
  const bars = countsOf(errors, now, BAR_MS, BARS);
  return {
    minutes,
    rate: whole.reduce((sum, count) => sum + count, 0) / RATE_MINUTES,
    patterns: { items: patternsOf(patterns), isExact: patterns?.ok === true && patterns.exact },
    errors: {
      bars,
      total: bars.reduce((sum, { count }) => sum + count, 0),
      services: records(services).flatMap(({ service: name, n: count }) =>
        typeof name === "string" && typeof count === "number" ? [{ name, count }] : [],
      ),
    },
  };
}

/** Reads the answer to `releasesQuery`. @param now epoch milliseconds */
export function newestReleases(answer: NowAnswer | undefined, now: number): Release[] {
  if (answer?.ok !== true || !answer.complete) return [];
  return releasesOf(answer, now - HOURS_MS, HOURS_MS / PARTS).reverse();
}

/** Returns a count for each span up to `now`, 0 where the table has no row. */
export function countsOf(table: Rows | undefined, now: number, spanMs: number, spans: number): ErrorBar[] {
  const first = Math.floor(now / spanMs) - spans + 1;
  const counts = Array.from({ length: spans }, (_, at) => ({ start: (first + at) * spanMs, count: 0 }));
  for (const { time, n } of records(table)) {
    const span = counts[Math.floor(Date.parse(String(time)) / spanMs) - first];
    if (span !== undefined && typeof n === "number") span.count = n;
  }
  return counts;
}

function patternsOf(table: Rows | undefined): NewPattern[] {
  return records(table).flatMap(({ pattern, count }) =>
    typeof pattern === "string" && typeof count === "number" ? [{ pattern, count }] : [],
  );
}

/** Returns the query for the entries of a pattern. */
export function patternQuery(pattern: string): string {
  return `level:>=warn pattern:=${JSON.stringify(pattern)}`;
}

function records(table: Rows | undefined): Record<string, unknown>[] {
  if (table?.rows === undefined) return [];
  return table.rows.map((row) => Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at]])));
}
