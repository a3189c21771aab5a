import { GROUP_CHARACTERS, shownValue } from "../../../../src/alerts/template.ts";
import { printField } from "../../../../src/query-language/fields.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { print } from "../../../../src/query-language/print.ts";
import type { Key, Pipe, Query } from "../../../../src/query-language/syntax.ts";
import type { Table } from "../../charts/chart-data.ts";
import type { Deciding, Decision } from "../../model/alerts.ts";
import { durationMs } from "./words.ts";

/** What a rule computes. */
type Aggregating = Extract<Pipe, { kind: "count" | "stats" }>;

function isAggregating(pipe: Pipe): pipe is Aggregating {
  return pipe.kind === "count" || pipe.kind === "stats";
}

/**
 * Returns what a rule can have of a query: its filters, and its aggregation without spans of time. Other pipes, which make
 * tables for people, are left out.
 */
export function ruleQuery(text: string): string {
  const result = parse(text);
  if (!result.ok) return text.trim();
  const { filter, pipes } = result.query;
  const kept: Pipe[] = [];
  for (const pipe of pipes) {
    if (pipe.kind === "where") kept.push(pipe);
    else {
      if (isAggregating(pipe)) kept.push({ ...pipe, by: pipe.by.filter(({ kind }) => kind === "field") });
      break;
    }
  }
  // A query that needs no change stays as written.
  return kept.length === pipes.length && kept.every((pipe, at) => isSame(pipe, pipes[at]))
    ? text.trim()
    : print({ filter, pipes: kept });
}

function isSame(a: Pipe, b: Pipe | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the names of the fields that group the entries of a rule. */
export function groupFields(text: string): string[] {
  const result = parse(text);
  const pipe = result.ok ? result.query.pipes.find(isAggregating) : undefined;
  return (pipe?.by ?? []).flatMap((key) =>
    key.kind === "field" && key.field.kind !== "column" ? [printField(key.field)] : [],
  );
}

/** Whether a rule computes something else than the number of entries. */
export function isMeasure(text: string): boolean {
  const result = parse(text);
  const pipe = result.ok ? result.query.pipes.find(isAggregating) : undefined;
  return pipe?.kind === "stats" && pipe.aggregates.some(({ fn, field }) => fn !== "count" || field !== null);
}

/** Returns the query of the values of a rule over spans of time; `null` if its text is not valid. */
export function valuesQuery(text: string, binMs: number, isGrouped: boolean): string | null {
  const result = parse(text);
  if (!result.ok) return null;
  const { filter, pipes } = result.query;
  const at = pipes.findIndex(isAggregating);
  const own = pipes[at];
  const bin: Key = { kind: "bin", ms: binMs };
  const by = own !== undefined && isAggregating(own) && isGrouped ? own.by : [];
  const pipe: Pipe =
    own !== undefined && isAggregating(own) ? { ...own, by: [...by, bin] } : { kind: "count", by: [bin] };
  const query: Query = { filter, pipes: [...pipes.slice(0, at < 0 ? pipes.length : at), pipe] };
  return print(query);
}

/**
 * Returns the values of a rule by the groups that the rule has: a value that is no text, number or boolean is in the group `null`,
 * and texts group by their first characters.
 * @param table the answer to `valuesQuery`: fields of the group, then the time, then the value
 * @returns `isExact`: whether no value had to be left out of a group of several texts, because it cannot be added
 */
export function asGroups(text: string, { columns, rows }: Table): { table: Table; isExact: boolean } {
  const fields = groupFields(text).length;
  if (fields === 0) return { table: { columns, rows }, isExact: true };
  const join = joinOf(text);
  let isExact = true;
  const joined = new Map<string, unknown[]>();
  for (const row of rows) {
    const group = row.slice(0, fields).map(groupedText);
    const key = JSON.stringify([group, row[fields]]);
    const before = joined.get(key);
    if (before === undefined) joined.set(key, [...group, ...row.slice(fields)]);
    else {
      isExact &&= join.isExact;
      const [one, other] = [before.at(-1), row.at(-1)];
      if (typeof one === "number" && typeof other === "number") before[before.length - 1] = join.of(one, other);
    }
  }
  const types = columns.map((column, at) => (at < fields ? { ...column, type: "string" } : column));
  return { table: { columns: types, rows: [...joined.values()] }, isExact };
}

/** Returns the text of the group in which a rule counts a value. */
function groupedText(value: unknown): string {
  if (typeof value === "string") return shownValue(value.slice(0, GROUP_CHARACTERS));
  return shownValue(typeof value === "number" || typeof value === "boolean" ? value : null);
}

/** Returns how values of two texts of one group are one value. */
function joinOf(text: string): { of: (a: number, b: number) => number; isExact: boolean } {
  const result = parse(text);
  const pipe = result.ok ? result.query.pipes.find(isAggregating) : undefined;
  const fn = pipe?.kind === "stats" ? pipe.aggregates[0]?.fn : "count";
  if (fn === "count" || fn === "sum") return { of: (a, b) => a + b, isExact: true };
  if (fn === "min") return { of: Math.min, isExact: true };
  return { of: Math.max, isExact: fn === "max" };
}

/** Most spans of a chart. */
export const MAX_SPANS = 1440;
const WEEK_MS = 7 * 86_400_000;

/**
 * Returns the times that a chart of a rule covers: windows of the last 7 days, or as many as can be told apart.
 * @returns `isCut`: whether the chart has no room for all of them
 */
export function chartSpan(window: string, now: number): { from: number; to: number; binMs: number; isCut: boolean } {
  const binMs = Math.max(60_000, durationMs(window));
  const to = Math.ceil(now / binMs) * binMs;
  const [week, least] = [Math.floor((now - WEEK_MS) / binMs) * binMs, to - MAX_SPANS * binMs];
  return { from: Math.max(least, week), to, binMs, isCut: least > week };
}

/**
 * Returns where the condition of a rule lies on a chart of the values of its windows; `null` if it is no value, such as a change.
 */
export function thresholdOf({ condition, window }: Pick<Deciding, "condition" | "window">): number | null {
  switch (condition.kind) {
    case "threshold":
    case "absence":
      return condition.value;
    case "rate":
      return (condition.value * durationMs(window)) / 1000;
    case "change":
    case "new-pattern":
      return null;
  }
}

/**
 * Whether a firing lies where the values are below the threshold: those that it counted have other times. Firings whose
 * windows the chart does not have tell nothing.
 */
export function firesElsewhere(
  { columns, rows }: Table,
  firings: readonly number[],
  { from, binMs }: { from: number; binMs: number },
  threshold: number | null,
): boolean {
  const time = columns.findIndex(({ name }) => name === "time");
  if (threshold === null || time < 0) return false;
  const most = new Map<number, number>();
  for (const row of rows) {
    const bin = Math.floor(Date.parse(String(row[time])) / binMs);
    const values = row.filter((value, at) => at !== time && typeof value === "number");
    most.set(bin, Math.max(most.get(bin) ?? 0, ...values.map(Number)));
  }
  return firings.some((at) => {
    if (at <= from + 2 * binMs) return false;
    const last = Math.floor((at - 1) / binMs);
    // A window ends at the firing and may begin in the span before; two spans have its entries.
    return (most.get(last) ?? 0) + (most.get(last - 1) ?? 0) < threshold;
  });
}

/** Returns the address that shows the entries of a decision: the link of its notification, or else what its rule counted. */
export function decisionLink(
  workspaceId: string,
  projectId: string,
  decision: Pick<Decision, "link" | "seqRange" | "at">,
  rule: Pick<Deciding, "query" | "window"> | null,
): string | null {
  const { link, seqRange, at } = decision;
  if (link !== null && URL.canParse(link)) {
    const { pathname, search } = new URL(link);
    return `${pathname}${search}`;
  }
  const filter = rule === null ? "" : filterText(rule.query);
  const base = `/w/${workspaceId}/p/${projectId}`;
  if (seqRange !== null) {
    const query = `${filter} seq:${seqRange.from}..${seqRange.to}`.trim();
    return `${base}?${new URLSearchParams({ q: query, range: "all" })}`;
  }
  if (rule === null) return null;
  const to = Date.parse(at);
  const times = { from: new Date(to - durationMs(rule.window)).toISOString(), to: new Date(to).toISOString() };
  return `${base}?${new URLSearchParams({ ...(filter === "" ? {} : { q: filter }), ...times })}`;
}

/** Returns the filters of a query, as one that finds entries. */
export function filterText(text: string): string {
  const result = parse(text);
  if (!result.ok) return "";
  const { filter, pipes } = result.query;
  const written = print({ filter, pipes: pipes.filter(({ kind }) => kind === "where") });
  return written === "*" ? "" : pipes.some(({ kind }) => kind === "where") ? written : `(${written})`;
}

/** The notes on a rule's values that a rule can follow: not those that advise a further stage, which a rule cannot have. */
export function notesOfRule(notes: readonly string[]): string[] {
  return notes.filter((note) => !note.includes("`| "));
}
