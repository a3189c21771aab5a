import { printFilter } from "../../../../../src/query-language/print.ts";
import { QUERY_LIMITS } from "../../../../../src/query-language/reader.ts";
import { joined } from "../../../../../src/query-language/syntax.ts";
import { printDuration } from "../../../../../src/query-language/values.ts";
import type { Table } from "../../../charts/chart-data.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import { entries } from "../../explorer/view/format.ts";
import { patternTest } from "../added-test.ts";
import type { Bins } from "../bins.ts";
import { columnPlaces } from "../column-places.ts";

/** How the count of a pattern differs from the count in the span before. */
export type Change = "new" | "gone" | "risen" | "fallen";

export interface Pattern {
  /** `null`: the entries of all patterns that are not in the list. */
  pattern: string | null;
  count: number;
  /** Entries in the span before; `null` if the spans are not compared. */
  before: number | null;
  /** Part of all entries, from 0 to 1. */
  share: number;
  /** `null`: no difference, or one that chance explains. */
  change: Change | null;
}

/**
 * Standard deviations by which two counts must differ to be risen or fallen. Counts of independent events vary by the
 * square root of their size.
 */
const DEVIATIONS = 2;

/**
 * Part of the entries that the span before must have so that it is compared. A project that has just begun to log would
 * have new patterns alone.
 */
const BASELINE = 0.001;

/**
 * Whether a span before has enough entries to tell what is new, on all pages.
 * @param before entries of the span before, as many as they would be in a span as long as the one now
 */
export function hasBaseline(before: number, now: number): boolean {
  return before > now * BASELINE;
}

/**
 * Says that nothing is marked as new.
 * @param chosen label of the chosen comparison
 */
export function tooFewText(before: number, chosen: string): string {
  const found = before === 0 ? "no entries" : `only ${entries(before)}`;
  return `The earlier range has ${found} of this query, so nothing is marked as new. For another range, change “${chosen}” above.`;
}

/** Begin of the notes of the service on a span that begins before all entries. */
const MISSING = "The earlier range ";

/** Returns notes without those that explain what is marked as new, for a list in which nothing is. */
export function withoutMissing(notes: readonly string[]): string[] {
  return notes.filter((note) => !note.startsWith(MISSING));
}

/** @param scale length of the span divided by that of the span before */
export function changeOf(count: number, before: number, scale = 1): Change | null {
  if (before === 0) return count > 0 ? "new" : null;
  if (count === 0) return "gone";
  const expected = before * scale;
  if (Math.abs(count - expected) <= DEVIATIONS * Math.sqrt(count + expected * scale)) return null;
  return count > expected ? "risen" : "fallen";
}

/** Reads the table of `patterns`, with or without `vs`. */
export function patternsOf(table: Table): Pattern[] {
  const [pattern, count, before] = columnPlaces(table, ["pattern", "count", "before"]);
  const counts = table.rows.map((row) => ({
    pattern: typeof row[pattern] === "string" ? row[pattern] : null,
    count: numberIn(row, count),
    before: before < 0 ? null : numberIn(row, before),
  }));
  const all = counts.reduce((sum, each) => sum + each.count, 0);
  const isComparable = hasBaseline(beforeIn(counts), all);
  return counts.map((each) => ({
    ...each,
    share: all === 0 ? 0 : each.count / all,
    change: !isComparable || each.before === null || each.pattern === null ? null : changeOf(each.count, each.before),
  }));
}

/** Returns the entries of the span before. */
export function beforeIn(patterns: readonly Pick<Pattern, "before">[]): number {
  return patterns.reduce((sum, { before }) => sum + (before ?? 0), 0);
}

function numberIn(row: readonly unknown[], at: number): number {
  const value = row[at];
  return typeof value === "number" ? value : 0;
}

export type Order = "count" | "errors" | "new" | "rarest" | "change";

/** The errors of patterns: entries of level `error` or above. */
export type Errors = ReadonlyMap<string, number>;

/** Reads the table of `patterns` of the errors. */
export function errorsIn(table: Table): Errors {
  return new Map(patternsOf(table).flatMap(({ pattern, count }) => (pattern === null ? [] : [[pattern, count]])));
}

/** Patterns in order, with that of all others last. Of new ones, and of those with as many errors, the most frequent is first. */
export function sorted(patterns: readonly Pattern[], order: Order, errors: Errors = new Map()): Pattern[] {
  const sizes: Readonly<Record<Order, (of: Pattern) => number>> = {
    count: ({ count }) => count,
    errors: ({ pattern }) => errors.get(pattern ?? "") ?? 0,
    new: ({ change }) => (change === "new" ? 2 : change === "risen" ? 1 : 0),
    rarest: ({ count }) => -count,
    change: ({ count, before }) => Math.abs(count - (before ?? 0)),
  };
  const size = sizes[order];
  return [...patterns].sort(
    (a, b) =>
      Number(a.pattern === null) - Number(b.pattern === null) ||
      size(b) - size(a) ||
      (order === "errors" || order === "new" ? b.count - a.count : 0) ||
      (a.pattern ?? "").localeCompare(b.pattern ?? ""),
  );
}

/** A pattern's entries over time. */
export interface Trend {
  counts: number[];
  /** The most frequent level; `null` if there is no entry. */
  level: Level | null;
  /** Entries of level `error` or above. */
  errors: number;
  /** Entries of the most severe level, if that is another one. */
  worst: { level: Level; counts: number[] } | null;
  /** Times of the first and the last entry of the range, epoch milliseconds; `null` if there is none. */
  seen: Seen | null;
}

export interface Seen {
  first: number;
  last: number;
}

/** Patterns of one query: half of the tests that a query may have, so that its own tests have room. */
const TESTS = QUERY_LIMITS.atoms / 2;

/**
 * Returns queries that count patterns over time. Patterns are divided over several queries where one would be too long. A
 * pattern that no query can hold is left out.
 * @param most number of queries
 */
export function trendQueries(filter: string, patterns: readonly string[], binMs: number, most: number): string[] {
  // Tests of the table, because each test of the entries would make the pattern of every message again.
  const counted = "count() as entries, min(time) as first, max(time) as last";
  const stats = `stats ${counted} by pattern, level, bin(${printDuration(binMs)})`;
  const textOf = (some: readonly string[]) => `${filter || "*"} | ${stats} | where ${printFilter(anyPattern(some))}`;
  const queries: string[] = [];
  let group: string[] = [];
  for (const pattern of patterns) {
    if (bytesOf(textOf([pattern])) > QUERY_LIMITS.bytes) continue;
    const isFull = group.length >= TESTS || bytesOf(textOf([...group, pattern])) > QUERY_LIMITS.bytes;
    if (isFull) {
      queries.push(textOf(group));
      group = [];
    }
    group.push(pattern);
  }
  if (group.length > 0) queries.push(textOf(group));
  return queries.slice(0, most);
}

function anyPattern(patterns: readonly string[]) {
  return joined("or", patterns.map(patternTest));
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Reads the tables of `trendQueries`. */
export function trendsOf(tables: readonly Table[], { start, binMs, spans }: Bins): ReadonlyMap<string, Trend> {
  const patterns = new Map<string, Map<Level, number[]>>();
  const seen = new Map<string, Seen>();
  for (const table of tables) {
    const [pattern, time, entries, of] = columnPlaces(table, ["pattern", "time", "entries", "level"]);
    const [first, last] = columnPlaces(table, ["first", "last"]);
    for (const row of table.rows) {
      const span = Math.floor((Date.parse(String(row[time])) - start) / binMs);
      const name = row[pattern];
      const level = LEVELS.find((each) => each === row[of]);
      if (typeof name !== "string" || level === undefined || !(span >= 0 && span < spans)) continue;
      const levels = patterns.get(name) ?? new Map<Level, number[]>();
      const counts = levels.get(level) ?? Array<number>(spans).fill(0);
      counts[span] = (counts[span] ?? 0) + numberIn(row, entries);
      patterns.set(name, levels.set(level, counts));
      const [from, to] = [Date.parse(String(row[first])), Date.parse(String(row[last]))];
      if (Number.isNaN(from) || Number.isNaN(to)) continue;
      const known = seen.get(name) ?? { first: from, last: to };
      seen.set(name, { first: Math.min(known.first, from), last: Math.max(known.last, to) });
    }
  }
  return new Map(
    [...patterns].map(([name, levels]) => [name, { ...trendOf(levels, spans), seen: seen.get(name) ?? null }]),
  );
}

function trendOf(levels: ReadonlyMap<Level, number[]>, spans: number): Omit<Trend, "seen"> {
  const counts = Array<number>(spans).fill(0);
  let [level, most]: [Level | null, number] = [null, 0];
  let worst: Trend["worst"] = null;
  let errors = 0;
  // From the least severe level, so that of two as frequent the more severe one stays.
  for (const each of LEVELS) {
    const own = levels.get(each);
    if (own === undefined) continue;
    own.forEach((count, at) => {
      counts[at] = (counts[at] ?? 0) + count;
    });
    const sum = sumOf(own);
    if (sum >= most) [level, most] = [each, sum];
    if (isError(each)) errors += sum;
    if (sum > 0) worst = { level: each, counts: own };
  }
  return { counts, level, errors, worst: worst?.level === level ? null : worst };
}

export function isError(level: Level): boolean {
  return level === "error" || level === "fatal";
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
