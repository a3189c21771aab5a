import type { Table } from "../../charts/chart-data.ts";
import type { Release } from "../../charts/releases.ts";
import { hasBaseline } from "../investigate/patterns/pattern-model.ts";
import { releasesSearch } from "../investigate/releases/releases.ts";

/** Minutes over which the rate is measured, without the one in progress. */
export const RATE_MINUTES = 5;
const MINUTE_MS = 60_000;
export const MINUTES = 60;

/** Hours of the errors and the releases. */
export const HOURS = 24;
const HOURS_MS = HOURS * 60 * MINUTE_MS;
/** Milliseconds of a bar of the errors. */
export const BAR_MS = 30 * MINUTE_MS;
const WHOLE_BARS = HOURS_MS / BAR_MS;
/** Those of the hours, and the one in progress. */
const BARS = WHOLE_BARS + 1;
/** Items of a list of the overview. */
export const LISTED = 6;

/** A kind of message that occurs today and did not the day before. */
export interface NewPattern {
  pattern: string;
  count: number;
}

export interface NewPatterns {
  items: NewPattern[];
  isExact: boolean;
  /** Whether the day before has enough entries to tell what is new. */
  isComparable: boolean;
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
  /** False if errors may be missing: there are at least `total`. */
  isExact: boolean;
  /** Those with the most errors, the most first. */
  services: { name: string; count: number }[];
}

export interface Now {
  /** Entries of each of the last 60 minutes by their timestamp; the last one is in progress. */
  minutes: number[];
  /** Entries a minute, over the last whole minutes; `null` if they could not be counted. */
  rate: number | null;
  patterns: NewPatterns;
  errors: Errors;
  /** The newest first; empty if no entry has a field with versions; `null` if they could not be read. */
  releases: Release[] | null;
}

/** The answer of a batch to one query. */
export interface NowAnswer extends Table {
  ok: boolean;
  exact: boolean;
  complete: boolean;
  matched: number;
}

type Rows = Pick<NowAnswer, "rows"> & { columns: readonly { name: string }[] };

/** Whether an answer has everything that its query asks for. A batch refuses its last queries when the work of a request is used up. */
export function isWhole(answer: NowAnswer | undefined): boolean {
  return answer?.ok === true && answer.complete;
}

/**
 * Reads the answers to the counts of minutes, the errors, their services, warnings of two days and new patterns.
 * @param now epoch milliseconds
 */
export function nowOf(
  [counts, errors, services, warnings, patterns]: readonly (NowAnswer | undefined)[],
  now: number,
): Omit<Now, "releases"> {
  const minutes = countsOf(counts, now, MINUTE_MS, MINUTES).map(({ count }) => count);
  const whole = minutes.slice(-1 - RATE_MINUTES, -1);
  const bars = countsOf(errors, now, BAR_MS, BARS);
  return {
    minutes,
    rate: isWhole(counts) ? whole.reduce((sum, count) => sum + count, 0) / RATE_MINUTES : null,
    patterns: {
      items: patternsOf(patterns),
      isExact: patterns?.ok === true && patterns.exact,
      isComparable: isComparable(warnings, now),
    },
    errors: {
      bars,
      total: sumOf(bars),
      isExact: isWhole(errors),
      services: records(isWhole(services) ? services : undefined).flatMap(({ service: name, n: count }) =>
        typeof name === "string" && typeof count === "number" ? [{ name, count }] : [],
      ),
    },
  };
}

/** Whether what is new can be told, as on the page of patterns. A day that could not be counted says nothing against it. */
function isComparable(warnings: NowAnswer | undefined, now: number): boolean {
  if (!isWhole(warnings)) return true;
  const bars = countsOf(warnings, now, BAR_MS, WHOLE_BARS + BARS);
  const today = sumOf(bars.slice(WHOLE_BARS));
  return today === 0 || hasBaseline(sumOf(bars.slice(0, WHOLE_BARS)), today);
}

function sumOf(bars: readonly ErrorBar[]): number {
  return bars.reduce((sum, { count }) => sum + count, 0);
}

/** Returns where to look from for the releases of the hours, epoch milliseconds. @param now epoch milliseconds */
export function releasesStart(now: number): number {
  return searchOf(now).start;
}

function searchOf(now: number): ReturnType<typeof releasesSearch> {
  return releasesSearch({ start: now - HOURS_MS, end: now }, false);
}

/** Reads the answer to `releasesQuery`; `null` if it is not whole. @param now when it was asked for, epoch milliseconds */
export function newestReleases(answer: NowAnswer | undefined, now: number): Release[] | null {
  if (answer === undefined || !isWhole(answer)) return null;
  return searchOf(now).read(answer).reverse();
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
