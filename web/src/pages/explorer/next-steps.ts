import { nearest } from "../../../../src/query-language/error.ts";
import type { Filter, ValueTest } from "../../../../src/query-language/syntax.ts";
import { listedIn, termsOf, withoutTerm, withTerm } from "./view/query-terms.ts";
import { PRESETS, type Range, type Times } from "./view/range.ts";

/** A query that helps to find what another one lacks. */
export interface Question {
  query: string;
  from?: string;
  to?: string;
}

/** Another search that is offered because a search has found nothing. */
export interface NextStep {
  /** `value`: a misspelt value is corrected; `drop`: without one test; `range`: with a longer time range. */
  kind: "value" | "drop" | "range";
  /** The test that is corrected to or left out, or the name of the range. */
  text: string;
  query: string;
  /** Absent: the range of the search. */
  range?: Range;
  count: number;
  /** Whether all entries were counted. */
  isExact: boolean;
}

/** The answer to a question, as far as it is read. */
export interface StepAnswer {
  rows: readonly (readonly unknown[])[];
  complete: boolean;
}

/** A question and the reader of its answer. */
interface Ask {
  question: Question;
  read: (answer: StepAnswer) => NextStep[];
}

/** Values of a field that a misspelt one is compared with. */
const VALUES = 200;
/** Tests that are corrected, and tests that are left out in turn. */
const MAX_FIELDS = 3;
const MAX_DROPPED = 6;
/** Relative ranges that are counted if they begin before the range of the search. */
const LONGER = PRESETS.filter(({ name }) => name === "24h" || name === "7d");

/**
 * Returns what to ask after a search that has found nothing: at most 11 queries.
 * @param query with no pipes but `where`
 * @param now epoch milliseconds
 */
export function asksOf(query: string, times: Times, now: number): Ask[] {
  const terms = termsOf(query)?.terms ?? [];
  const bounds = {
    ...(times.from === undefined ? {} : { from: times.from }),
    ...(times.to === undefined ? {} : { to: times.to }),
  };
  const values = terms.flatMap(({ filter }, at): Ask[] => {
    const listed = listedIn(filter);
    if (listed === null || listed.isNegated) return [];
    const question = { query: `* | top ${VALUES} by ${listed.field}`, ...bounds };
    return [{ question, read: (answer) => corrections(query, at, filter, answer) }];
  });
  const dropped = terms.length < 2 ? [] : terms.slice(0, MAX_DROPPED);
  const isLong = (ms: number): boolean => times.from !== undefined && now - ms < Date.parse(times.from) - MINUTE_MS;
  const longer = LONGER.filter(({ ms }) => isLong(ms));
  return [
    ...values.slice(0, MAX_FIELDS),
    ...dropped.map(({ text }, at): Ask => {
      const without = withoutTerm(query, at);
      const step = { kind: "drop" as const, text, query: without };
      return { question: { query: counted(without), ...bounds }, read: (answer) => found(step, answer) };
    }),
    ...longer.map(({ name, label, ms }): Ask => {
      const step = { kind: "range" as const, text: label, query, range: { kind: "last" as const, preset: name } };
      const question = { query: counted(query), from: new Date(now - ms).toISOString() };
      return { question, read: (answer) => found(step, answer) };
    }),
  ];
}

/** A relative range begins at a whole minute. */
const MINUTE_MS = 60_000;

function counted(query: string): string {
  return `${query.trim() === "" ? "*" : query} | count`;
}

function found(step: Omit<NextStep, "count" | "isExact">, { rows, complete }: StepAnswer): NextStep[] {
  const count = rows[0]?.[0];
  return typeof count === "number" && count > 0 ? [{ ...step, count, isExact: complete }] : [];
}

/** Corrects the values of a test that no entry has and that are similar to one that entries have. */
function corrections(query: string, at: number, filter: Filter, { rows, complete }: StepAnswer): NextStep[] {
  const listed = listedIn(filter);
  if (listed === null || filter.kind !== "field") return [];
  const counts = new Map(
    rows.flatMap(([value, count]) => (typeof value === "string" && typeof count === "number" ? [[value, count]] : [])),
  );
  const names = [...counts.keys()];
  const lower = new Set(names.map((name) => name.toLowerCase()));
  let count = 0;
  const tests = listed.values.map((test): ValueTest => {
    if (!("text" in test)) return test;
    const isThere = test.kind === "exact" ? counts.has(test.text) : lower.has(test.text.toLowerCase());
    const near = isThere ? undefined : nearest(test.text, names);
    if (near === undefined) return test;
    count += counts.get(near) ?? 0;
    return { kind: test.kind === "exact" ? "exact" : "is", text: near };
  });
  const [only] = tests;
  if (count === 0 || only === undefined) return [];
  const test: ValueTest = tests.length === 1 ? only : { kind: "anyOf", tests };
  const corrected = withTerm(query, at, { ...filter, test });
  const text = termsOf(corrected)?.terms[at]?.text ?? corrected;
  return [{ kind: "value", text, query: corrected, count, isExact: complete }];
}
