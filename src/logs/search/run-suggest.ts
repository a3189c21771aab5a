import type { Field, OwnField, Query } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer } from "../query/budget.ts";
import { isOpenInRange, type LogFilter, needsContent, OPEN_FILTER } from "../query/filter.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import type { RecentPage } from "../query/recent-feed.ts";
import { runQuery } from "../query/run-query.ts";
import { recentSelection } from "../query/tiers.ts";
import type { Row } from "../query/top-rows.ts";
import type { StatsSource } from "../stats/count-entries.ts";
import { COUNTED_GROUPS, type CountedGroup, INTERVALS } from "../stats/histogram.ts";
import { runStats } from "../stats/run-stats.ts";
import { andFilters, compileFilter } from "./compile-filter.ts";
import type { Completion } from "./completion.ts";
import { emptyMembers, namedMembers, type SampledValue, unknownFields, valuesIn } from "./field-sample.ts";
import { regexesOf } from "./query-text.ts";
import type { SearchAnswer, SearchQuery } from "./search-query.ts";
import { needsEntries, type Suggestion, suggestionsAt } from "./suggest.ts";
import { compileAll, InvalidRegex } from "./text-tests.ts";

/** Entries of a sample. */
export const SAMPLE_ENTRIES = 500;

/** Entries of a sample in place of one that is empty. Few suffice for the names of fields. */
const NEWEST_ENTRIES = 100;

/**
 * The sample is read with an eightieth of the work of a query, about 15 ms, and held while its fields are counted: with the
 * newest entries, which are read if nothing passes, and the way to the object, suggestions take less than 100 ms.
 */
const SAMPLE_BUDGET: QueryBudget = {
  ...QUERY_BUDGET,
  work: QUERY_BUDGET.work / 80,
  heldBytes: 2 * 1024 * 1024,
  answerBytes: 2 * 1024 * 1024,
};

/** What suggestions are based on. */
export interface SuggestionBasis {
  /**
   * `sample`: the newest entries that the rest of the query leaves. `newest`: the newest entries, because the sample found
   * none of those. `counts`: the stored counts of all of them. `none`: the suggestions do not depend on entries.
   */
  kind: "sample" | "newest" | "counts" | "none";
  /** Number of entries that were counted. */
  entries: number;
  /** Whether these are all entries that the rest of the query leaves. */
  complete: boolean;
  /** Timestamps of the oldest and the newest entry of a sample, ISO 8601. */
  from?: string;
  to?: string;
}

export interface SuggestAnswer {
  kind: Completion["kind"];
  start: number;
  end: number;
  items: Suggestion[];
  basis: SuggestionBasis;
}

/** A request for suggestions as the router runs it. */
export interface SuggestQuery {
  completion: Completion;
  projectId: string | null;
  /** Epoch milliseconds: `from <= timestamp < to`. */
  from: number | null;
  to: number | null;
  /** From which relative times count, epoch milliseconds. */
  now: number;
}

/** Returns what may be written at a place of a query. Reads a bounded number of entries, or stored counts. */
export async function runSuggest(
  source: StatsSource,
  { completion, projectId, from, to, now }: SuggestQuery,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<SuggestAnswer> {
  const { kind, start, end } = completion;
  if (!needsEntries(completion)) {
    await admit(source);
    const basis: SuggestionBasis = { kind: "none", entries: 0, complete: true };
    return { kind, start, end, items: suggestionsAt(completion, [], null), basis };
  }
  const filter = andFilters({ ...OPEN_FILTER, from, to }, filterOf(completion, now));
  const groupBy = groupOf(completion);
  const counted =
    groupBy === null || needsContent(filter) ? null : await count(source, { filter, projectId, groupBy }, memory);
  if (counted !== null) {
    return { kind, start, end, items: suggestionsAt(completion, [], counted.values), basis: counted.basis };
  }
  const found = await sample(source, filter, projectId, memory);
  const isRare = found.entries.length === 0 && !isOpenInRange(filter);
  // Few entries pass, or none. The names of others help more than an empty list.
  const { entries, basis } = isRare ? await newest(source, { from, to }, projectId, memory) : found;
  return { kind, start, end, items: suggestionsAt(completion, entries, null), basis };
}

/**
 * Returns notes on members that a query names and that the newest entries lack: why nothing matched, or why a column is
 * empty. Reads the sample that
 * suggestions read, within the times of the request. A question that is repeated on a snapshot gets no notes on entries
 * that came later.
 * @param answer to the query, whose rows it does not keep
 */
export async function unknownMembers(
  source: StatsSource,
  { query, projectId, from, to, asOf, isNewest = asOf === null }: SearchQuery,
  answer: SearchAnswer,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<{ notes: string[]; work: number }> {
  if (!answer.complete || !isNewest) return { notes: [], work: 0 };
  const pacer = new ScanPacer();
  const members = await membersWithout(query, answer, pacer);
  if (members.length === 0) return { notes: [], work: pacer.meter.done };
  const { entries, work } = await sample(source, { ...OPEN_FILTER, from, to }, projectId, memory);
  return { notes: unknownFields(entries, members), work: pacer.meter.done + work };
}

/** Returns the members of a query that no entry of its answer has. Parses rows in steps: one may have megabytes. */
async function membersWithout(query: Query, answer: SearchAnswer, pacer: ScanPacer): Promise<Field[]> {
  if (answer.matched === 0) return namedMembers(query);
  if (answer.kind === "entries") return emptyMembers(query, null, entryOf(answer.rows[0]?.line ?? "")[0] ?? null);
  const filled = new Set<string>();
  const objects = new ObjectWork();
  for (const row of answer.rows.slice(0, MAX_ROWS_READ)) {
    const bytes = Buffer.from(row, "latin1");
    await pacer.pause(ROW_WORK + bytes.length * BYTE_WORK + objects.of(bytes, 0, bytes.length));
    // SAFETY: rows are JSON arrays.
    const values = JSON.parse(bytes.toString("utf8")) as unknown[];
    for (const [at, { name }] of answer.columns.entries()) if (!isEmpty(values[at])) filled.add(name);
    if (filled.size === answer.columns.length) break;
  }
  return emptyMembers(query, filled, null);
}

/** Rows in which a value is looked for. */
const MAX_ROWS_READ = 100;

/** Whether a value may be that of a group without values, of any function. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === 0 || (Array.isArray(value) && value.length === 0);
}

/** Admits and counts the request, and reads no entry. */
async function admit(source: StatsSource): Promise<void> {
  await openSnapshot(source, null);
}

/** Admits and counts the request, and reads no entry. @param asOf `null` pins the newest commit */
export async function openSnapshot(
  source: StatsSource,
  asOf: number | null,
): Promise<Pick<RecentPage, "asOf" | "lastCommit">> {
  const scan = { asOf, from: null, to: null, order: "desc" } as const;
  return source.recent({ ...recentSelection(OPEN_FILTER, scan), levelMask: 0, position: null, maxBytes: 1 });
}

function filterOf({ filter }: Completion, now: number): LogFilter {
  try {
    compileAll(regexesOf(filter));
    return compileFilter(filter, now);
  } catch (error) {
    // A regular expression that is still being written, or too many of them.
    if (error instanceof InvalidRegex) return OPEN_FILTER;
    throw error;
  }
}

function groupOf({ kind, field }: Completion): CountedGroup | null {
  if (kind !== "value" || field?.kind !== "own") return null;
  const { name }: { name: OwnField } = field;
  return COUNTED_GROUPS.find((group) => group === name) ?? null;
}

interface CountedValues {
  values: SampledValue[];
  basis: SuggestionBasis;
}

/** Counts a member's values by the counts that are stored with batches and segments. @returns `null` if there are too many */
async function count(
  source: StatsSource,
  { filter, projectId, groupBy }: { filter: LogFilter; projectId: string | null; groupBy: CountedGroup },
  memory: ReadMemory,
): Promise<CountedValues | null> {
  const query = { projectId, filter, intervalMs: INTERVALS["1d"], groupBy };
  const result = await runStats(source, query, SAMPLE_BUDGET, memory);
  if (!result.ok) return null;
  const { buckets, total, complete } = result.answer;
  const counts = new Map<string, number>();
  for (const { groups = {} } of buckets) {
    for (const [text, each] of Object.entries(groups)) counts.set(text, (counts.get(text) ?? 0) + each);
  }
  const values = [...counts].map(([text, each]): SampledValue => ({ text, count: each }));
  return {
    values: values.sort((a, b) => b.count - a.count),
    basis: { kind: "counts", entries: total, complete },
  };
}

async function newest(
  source: StatsSource,
  range: Pick<SuggestQuery, "from" | "to">,
  projectId: string | null,
  memory: ReadMemory,
) {
  const { entries, basis } = await sample(source, { ...OPEN_FILTER, ...range }, projectId, memory, NEWEST_ENTRIES);
  return { entries, basis: { ...basis, kind: "newest" as const, complete: false } };
}

async function sample(
  source: StatsSource,
  filter: LogFilter,
  projectId: string | null,
  memory: ReadMemory,
  limit = SAMPLE_ENTRIES,
): Promise<{ entries: Entry[]; basis: SuggestionBasis; work: number }> {
  const query = {
    projectId,
    filter,
    order: "desc",
    offset: 0,
    limit,
    cursor: null,
    includeTotal: false,
    asOf: null,
  } as const;
  const result = await runQuery(source, query, Date.now, SAMPLE_BUDGET, memory);
  // Without cursor and snapshot no query is refused.
  if (!result.ok) throw new Error(`A sample was refused: ${result.reason}`);
  const { rows, pagination } = result.page;
  const { entries, read, work } = await entriesOf(rows);
  const [newest, oldest] = [rows[0], rows[read - 1]];
  const range =
    newest === undefined || oldest === undefined
      ? {}
      : { from: new Date(oldest.timestamp).toISOString(), to: new Date(newest.timestamp).toISOString() };
  const basis: SuggestionBasis = {
    kind: "sample",
    entries: entries.length,
    complete: !pagination.hasMore && read === rows.length,
    ...range,
  };
  return { entries, basis, work: result.work + work };
}

/** Values of the entries of a sample, unless the first one has more: about 30 ms to count. 40 of each of 500 entries. */
const SAMPLE_VALUES = 20_000;
/** Work units of parsing a row, each byte of it, and counting a value. */
const ROW_WORK = 1000;
const BYTE_WORK = 6;
const VALUE_WORK = 50;

/** Parses rows in steps, as many as have few values together. */
async function entriesOf(rows: readonly Row[]): Promise<{ entries: Entry[]; read: number; work: number }> {
  const pacer = new ScanPacer();
  const objects = new ObjectWork();
  const entries: Entry[] = [];
  let values = 0;
  let read = 0;
  for (const { line } of rows) {
    const bytes = Buffer.from(line, "latin1");
    await pacer.pause(ROW_WORK + bytes.length * BYTE_WORK + objects.of(bytes, 0, bytes.length));
    const [entry] = entryOf(line);
    const own = valuesIn(entry?.data);
    pacer.meter.add(own * VALUE_WORK);
    values += own;
    if (values > SAMPLE_VALUES && read > 0) break;
    if (entry !== undefined) entries.push(entry);
    read++;
  }
  return { entries, read, work: pacer.meter.done };
}

/** @param line bytes of UTF-8, one character each */
function entryOf(line: string): Entry[] {
  try {
    // SAFETY: lines are stored entries.
    return [JSON.parse(Buffer.from(line, "latin1").toString("utf8")) as Entry];
  } catch {
    return [];
  }
}
