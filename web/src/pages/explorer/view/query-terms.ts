import { fieldOf, printField } from "../../../../../src/query-language/fields.ts";
import { analyze, parse } from "../../../../../src/query-language/parse.ts";
import { printFilter } from "../../../../../src/query-language/print.ts";
import {
  type Field,
  type Filter,
  joined,
  LEVEL_NAMES,
  type ValueTest,
} from "../../../../../src/query-language/syntax.ts";
import type { Scalar } from "../filters.ts";

/** A test of a query that every entry passes: a part of its text, from `start` to `end` in UTF-16 offsets. */
export interface Term {
  start: number;
  end: number;
  text: string;
  filter: Filter;
  /** Whether it needs parentheses beside other tests. */
  isOpen: boolean;
}

/** A query as the tests of its filter, and the text of its pipes. */
export interface Terms {
  terms: readonly Term[];
  /** From the first `|`; empty without pipes. */
  pipes: string;
}

/** Splits a query at the tests that must all hold. A query with `OR` outside of parentheses is one test. `null` for an invalid query. */
export function termsOf(query: string): Terms | null {
  const { result, tokens } = analyze(query);
  if (!result.ok) return null;
  const { filter } = result.query;
  const first = tokens.find(({ kind, start, end }) => kind === "operator" && query.slice(start, end) === "|");
  const end = first?.start ?? query.length;
  const pipes = query.slice(end).trim();
  const parts: { start: number; end: number }[] = [];
  let [depth, isOpen, isEither] = [0, false, false];
  for (const token of tokens) {
    if (token.start >= end) break;
    const text = query.slice(token.start, token.end);
    const isWord = token.kind === "keyword" && depth === 0;
    isEither ||= isWord && text === "OR";
    const last = parts.at(-1);
    if (isWord && text === "AND") isOpen = false;
    else if (last !== undefined && (isOpen || depth > 0 || token.start === last.end)) last.end = token.end;
    else parts.push({ start: token.start, end: token.end });
    // What follows belongs to the negation.
    isOpen = isWord && text === "NOT";
    if (token.kind === "operator") depth += text === "(" ? 1 : text === ")" ? -1 : 0;
  }
  const terms = isEither ? [] : parts.map((part) => termAt(query, part));
  const all = terms.map((term) => term?.filter ?? null);
  const isExact = all.every((each) => each !== null) && same(joined("and", all), filter);
  const known = terms.filter((term) => term !== null && term.filter.kind !== "all");
  // SAFETY: the filter above leaves no `null`.
  if (isExact && terms.length > 0) return { terms: known as Term[], pipes };
  if (filter.kind === "all") return { terms: [], pipes };
  const start = query.length - query.trimStart().length;
  const text = query.slice(start, end).trimEnd();
  return { terms: [{ start, end: start + text.length, text, filter, isOpen: filter.kind === "or" }], pipes };
}

function termAt(query: string, { start, end }: { start: number; end: number }): Term | null {
  const text = query.slice(start, end);
  const read = parse(text);
  if (!read.ok || read.query.pipes.length > 0) return null;
  return { start, end, text, filter: read.query.filter, isOpen: false };
}

function same(a: Filter, b: Filter): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function written(texts: readonly string[], pipes: string): string {
  const filter = texts.join(" ");
  if (pipes === "") return filter;
  return `${filter === "" ? "*" : filter} ${pipes}`;
}

/** Returns the query with other tests. Of a test that stays, the text stays as written. */
function rewritten(query: string, change: (terms: readonly Term[]) => readonly (Term | Filter)[]): string {
  const parts = termsOf(query);
  // A text that is no query has no tests.
  const next = change(parts?.terms ?? []);
  const texts = next.map((each) => {
    if (!("text" in each)) return printFilter(each, next.length > 1 ? "and" : "whole");
    return each.isOpen && next.length > 1 ? `(${each.text})` : each.text;
  });
  return written(texts, parts?.pipes ?? "");
}

/** Adds tests that the query does not have. */
export function withTests(query: string, filters: readonly Filter[]): string {
  return rewritten(query, (terms) => [
    ...terms,
    ...filters.filter((each) => !terms.some((term) => same(term.filter, each))),
  ]);
}

export function withoutTerm(query: string, index: number): string {
  return rewritten(query, (terms) => terms.filter((_, at) => at !== index));
}

/** Returns a query with another test in the place of one. */
export function withTerm(query: string, index: number, filter: Filter): string {
  return rewritten(query, (terms) => terms.map((term, at) => (at === index ? filter : term)));
}

/** Turns a test into its opposite. */
export function negated(query: string, index: number): string {
  return rewritten(query, (terms) =>
    terms.map((term, at) => {
      if (at !== index) return term;
      return term.filter.kind === "not" ? term.filter.filter : { kind: "not", filter: term.filter };
    }),
  );
}

/** Returns a query with other pipes; without, only its filter. */
export function withPipes(query: string, pipes: string): string {
  const texts = termsOf(query)?.terms.map(({ text }) => text) ?? [];
  return written(texts.length === 0 ? ["*"] : texts, pipes);
}

/** Values of a field that a test names: all others fail, or with `isNegated` these. */
interface Listed {
  field: string;
  isNegated: boolean;
  values: readonly ValueTest[];
}

/** Returns the values that a test of the form `field:a`, `field:(a OR b)` or the negation of one lists; `null` for other tests. */
export function listedIn(filter: Filter): Listed | null {
  const isNegated = filter.kind === "not";
  const test = filter.kind === "not" ? filter.filter : filter;
  if (test.kind !== "field") return null;
  const values = test.test.kind === "anyOf" ? test.test.tests : [test.test];
  const isList = values.every(({ kind }) => kind === "is" || kind === "exact");
  return isList ? { field: printField(test.field), isNegated, values } : null;
}

/** Whether a query includes a value of a field, excludes it, or has no test that names it. */
export function stateOf(query: string, field: string, value: Scalar): "included" | "excluded" | null {
  for (const { filter } of termsOf(query)?.terms ?? []) {
    const listed = listedIn(filter);
    if (listed?.field === field && listed.values.some((each) => names(each, value))) {
      return listed.isNegated ? "excluded" : "included";
    }
  }
  return null;
}

/** Whether a query has a test of a field, so that the counts of its values lack those that fail. */
export function tests(query: string, field: string): boolean {
  return termsOf(query)?.terms.some(({ filter }) => testedField(filter) === field) ?? false;
}

/** Returns a query without the tests of a field. */
export function withoutField(query: string, field: string): string {
  return rewritten(query, (terms) => terms.filter(({ filter }) => testedField(filter) !== field));
}

function testedField(filter: Filter): string | null {
  if (filter.kind === "not") return testedField(filter.filter);
  return filter.kind === "field" ? printField(filter.field) : null;
}

/** Includes or excludes a value of a field beside those that are included or excluded already; takes it away if it is. */
export function toggled(query: string, field: string, value: Scalar, as: "included" | "excluded"): string {
  const isThere = stateOf(query, field, value) === as;
  return rewritten(query, (terms) => {
    let isAdded = isThere;
    const next = terms.flatMap((term): (Term | Filter)[] => {
      const listed = listedIn(term.filter);
      if (listed === null || listed.field !== field) return [term];
      const left = listed.values.filter((each) => !names(each, value));
      const isOfKind = listed.isNegated === (as === "excluded");
      if (isAdded || !isOfKind) return left.length === listed.values.length ? [term] : listFilter(listed, left);
      isAdded = true;
      return listFilter(listed, [...left, ...valueTests(field, value)]);
    });
    if (isAdded) return next;
    return [...next, ...valueFilters(field, value, as === "excluded")];
  });
}

/** Adds tests. One that lists values of a field replaces those of the query. */
export function narrowedTo(query: string, filters: readonly Filter[]): string {
  const fields = filters.flatMap((each) => included(each));
  const left = rewritten(query, (terms) =>
    terms.filter(({ filter }) => !included(filter).some((name) => fields.includes(name))),
  );
  return withTests(left === "" ? "*" : left, filters);
}

/** The field of which a test lists values that pass. */
function included(filter: Filter): string[] {
  const listed = listedIn(filter);
  return listed === null || listed.isNegated ? [] : [listed.field];
}

function listFilter({ field, isNegated }: Listed, values: readonly ValueTest[]): Filter[] {
  const [only] = values;
  if (only === undefined) return [];
  const test: ValueTest = values.length === 1 ? only : { kind: "anyOf", tests: [...values] };
  return [negation({ kind: "field", field: fieldNamed(field), test }, isNegated)];
}

function valueFilters(field: string, value: Scalar, isNegated: boolean): Filter[] {
  return [negation(valueFilter(fieldNamed(field), value), isNegated)];
}

function negation(filter: Filter, isNegated: boolean): Filter {
  return isNegated ? { kind: "not", filter } : filter;
}

/** Tests a field for a value. Of a text exactly, because the counts of values tell apart what differs in case alone. */
export function valueFilter(field: Field, value: Scalar): Filter {
  const [test] = valueTests(printField(field), value);
  if (test !== undefined) return { kind: "field", field, test };
  // The language has no word for null: what exists and is no text, number or boolean.
  const isText: Filter = { kind: "field", field, test: { kind: "regex", source: "^", ignoreCase: false } };
  return joined("and", [
    { kind: "field", field, test: { kind: "exists" } },
    { kind: "not", filter: isText },
  ]);
}

function valueTests(field: string, value: Scalar): ValueTest[] {
  if (value === null) return [];
  // Levels have one spelling.
  const isLevel = field === "level" && LEVEL_NAMES.some((name) => name === value);
  const isExact = typeof value === "string" && !isLevel;
  return [isExact ? { kind: "exact", text: value } : { kind: "is", text: String(value) }];
}

function names(test: ValueTest, value: Scalar): boolean {
  if (test.kind === "exact") return test.text === value;
  if (test.kind !== "is" || value === null) return false;
  return typeof value === "string" ? test.text.toLowerCase() === value.toLowerCase() : test.text === String(value);
}

/** Returns the field of a written name, as facets and columns have it. */
export function fieldNamed(name: string): Field {
  const read = parse(`${name}:*`);
  if (read.ok && read.query.filter.kind === "field") return read.query.filter.field;
  return fieldOf([name]);
}
