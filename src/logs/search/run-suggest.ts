import type { OwnField } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import { QUERY_BUDGET, type QueryBudget } from "../query/budget.ts";
import { isOpenInRange, type LogFilter, needsContent, OPEN_FILTER } from "../query/filter.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { runQuery } from "../query/run-query.ts";
import { recentSelection } from "../query/tiers.ts";
import type { StatsSource } from "../stats/count-entries.ts";
import { GROUPS, type GroupBy, INTERVALS } from "../stats/histogram.ts";
import { runStats } from "../stats/run-stats.ts";
import { andFilters, compileFilter } from "./compile-filter.ts";
import type { Completion } from "./completion.ts";
import { namesMembers, type SampledValue, unknownFields } from "./field-sample.ts";
import { regexesOf } from "./query-text.ts";
import type { SearchAnswer, SearchQuery } from "./search-query.ts";
import { needsEntries, type Suggestion, suggestionsAt } from "./suggest.ts";
import { compileAll, InvalidRegex } from "./text-tests.ts";

/** Entries of a sample. */
export const SAMPLE_ENTRIES = 500;

/** The sample is read with a fortieth of the work of a query, about 30 ms, and held while its fields are counted. */
const SAMPLE_BUDGET: QueryBudget = {
  ...QUERY_BUDGET,
  work: QUERY_BUDGET.work / 40,
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
 * Returns notes on members that a query names and that the newest entries lack: why nothing matched. Reads the sample that
 * suggestions read, within the times of the request. A question that is repeated on a snapshot gets no notes on entries
 * that came later.
 * @param answer to the query
 */
export async function unknownMembers(
  source: StatsSource,
  { query, projectId, from, to, asOf }: SearchQuery,
  { matched, complete }: SearchAnswer,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<{ notes: string[]; work: number }> {
  if (matched > 0 || !complete || asOf !== null || !namesMembers(query)) return { notes: [], work: 0 };
  const { entries, work } = await sample(source, { ...OPEN_FILTER, from, to }, projectId, memory);
  return { notes: unknownFields(entries, query), work };
}

/** Admits and counts the request, and reads no entry. */
async function admit(source: StatsSource): Promise<void> {
  const scan = { asOf: null, from: null, to: null, order: "desc" } as const;
  await source.recent({ ...recentSelection(OPEN_FILTER, scan), levelMask: 0, position: null, maxBytes: 1 });
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

function groupOf({ kind, field }: Completion): GroupBy | null {
  if (kind !== "value" || field?.kind !== "own") return null;
  const { name }: { name: OwnField } = field;
  return GROUPS.find((group) => group === name) ?? null;
}

interface CountedValues {
  values: SampledValue[];
  basis: SuggestionBasis;
}

/** Counts a member's values by the counts that are stored with batches and segments. @returns `null` if there are too many */
async function count(
  source: StatsSource,
  { filter, projectId, groupBy }: { filter: LogFilter; projectId: string | null; groupBy: GroupBy },
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
  const { entries, basis } = await sample(source, { ...OPEN_FILTER, ...range }, projectId, memory);
  return { entries, basis: { ...basis, kind: "newest" as const, complete: false } };
}

async function sample(
  source: StatsSource,
  filter: LogFilter,
  projectId: string | null,
  memory: ReadMemory,
): Promise<{ entries: Entry[]; basis: SuggestionBasis; work: number }> {
  const query = {
    projectId,
    filter,
    order: "desc",
    offset: 0,
    limit: SAMPLE_ENTRIES,
    cursor: null,
    includeTotal: false,
    asOf: null,
  } as const;
  const result = await runQuery(source, query, Date.now, SAMPLE_BUDGET, memory);
  // Without cursor and snapshot no query is refused.
  if (!result.ok) throw new Error(`A sample was refused: ${result.reason}`);
  const { rows, pagination } = result.page;
  const entries = rows.flatMap(({ line }) => entryOf(line));
  const [newest, oldest] = [rows[0], rows.at(-1)];
  const range =
    newest === undefined || oldest === undefined
      ? {}
      : { from: new Date(oldest.timestamp).toISOString(), to: new Date(newest.timestamp).toISOString() };
  const basis: SuggestionBasis = { kind: "sample", entries: entries.length, complete: !pagination.hasMore, ...range };
  return { entries, basis, work: result.work };
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
