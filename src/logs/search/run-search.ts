import { type QueryBudget, ScanPacer, SEARCH_BUDGET } from "../query/budget.ts";
import { encodeCursor } from "../query/cursor.ts";
import type { LogFilter } from "../query/filter.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { runQuery } from "../query/run-query.ts";
import type { Row } from "../query/top-rows.ts";
import { compileFilter } from "./compile-filter.ts";
import { ComparedMembers } from "./data-values.ts";
import { pipeRows, readRows } from "./entry-rows.ts";
import { entryTestOf } from "./entry-test.ts";
import { MAX_CONTEXTS, NEIGHBOURS_MISSING, withNeighbours } from "./neighbours.ts";
import { notesOf } from "./query-text.ts";
import { InvalidQuery, isByTime, planSearch, type SearchPlan } from "./search-plan.ts";
import {
  type EntriesAnswer,
  type Found,
  rangeOf,
  type SearchAnswer,
  type SearchQuery,
  type SearchResult,
  type SearchRun,
  type SearchSource,
  snapshotOf,
} from "./search-query.ts";
import { tableOfFields, tableOfRows, tableOfScan } from "./search-tables.ts";
import { InvalidRegex } from "./text-tests.ts";
import { ofEntries } from "./value-table.ts";

/** Runs a query of the query language over both tiers. @param clock returns epoch milliseconds */
export async function runSearch(
  source: SearchSource,
  wanted: SearchQuery,
  budget: QueryBudget = SEARCH_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
  clock: () => number = Date.now,
): Promise<SearchResult> {
  const startedAt = clock();
  const pacer = new ScanPacer();
  try {
    const plan = planSearch(wanted.query);
    checkFilters(plan, wanted.now);
    const compared = new ComparedMembers();
    const filter = within(compileFilter(plan.filter, wanted.now, compared), wanted);
    const reading = { source, budget, memory, pacer };
    const found = await run({ reading, source, wanted, filter, startedAt, compared }, plan);
    if (!found.ok) return found;
    const { answer } = found;
    const notes = [...notesOf(wanted.hints ?? [], answer.matched), ...answer.notes, ...compared.notes(answer.notes)];
    const finished = { range: rangeOf(filter), notes, tookMs: clock() - startedAt };
    return { ok: true, answer: { ...answer, ...finished }, work: pacer.meter.done };
  } catch (error) {
    if (error instanceof InvalidQuery) return { ok: false, reason: "invalid_query", message: error.message };
    if (!(error instanceof InvalidRegex)) throw error;
    const message = `The regular expression \`${error.source.slice(0, SHOWN)}\` is not accepted. ${error.message}.`;
    return { ok: false, reason: "invalid_query", message };
  }
}

/** Characters of a regular expression in an error. */
const SHOWN = 100;

/** Refuses a query before anything is read for it. @throws InvalidRegex */
function checkFilters({ entryPipes, tablePipes }: SearchPlan, now: number): void {
  for (const pipe of [...entryPipes, ...tablePipes])
    if (pipe.kind === "where") entryTestOf(ofEntries(pipe.filter), now);
}

/** Narrows a filter to the time range of the request. */
function within(filter: LogFilter, { from, to }: SearchQuery): LogFilter {
  return {
    ...filter,
    from: from === null ? filter.from : Math.max(from, filter.from ?? from),
    to: to === null ? filter.to : Math.min(to, filter.to ?? to),
  };
}

async function run(search: SearchRun, plan: SearchPlan): Promise<Found<SearchAnswer>> {
  const { table, entryPipes } = plan;
  if (table?.kind === "fields") return tableOfFields(search, plan, table);
  if (table !== null && entryPipes.length === 0) return tableOfScan(search, plan, table);
  if (table === null && isPaged(plan)) return page(search, plan);
  const found = await readRows(search, plan);
  if (!found.ok) return found;
  const piped = await pipeRows(search, found.answer, plan);
  if (table !== null) return tableOfRows(search, plan, table, piped);
  const { wanted, reading } = search;
  // Neighbours do not count.
  const limit = entryPipes.some(({ kind }) => kind === "context") ? piped.rows.length : wanted.limit;
  const { rows, isCut } = fitting(piped.rows, limit, reading.budget.answerBytes);
  const notes = [...piped.notes];
  if (isCut) notes.push(`The answer has the first ${rows.length} of ${piped.rows.length} entries.`);
  const { matched, scanned, complete, exact, asOf } = piped;
  const counted = { matched, scanned, complete, exact: exact && complete, asOf, notes, tookMs: 0 };
  const matches = piped.matches === undefined ? {} : { matches: placesOf(piped.matches, rows) };
  return { ok: true, answer: { kind: "entries", rows, nextCursor: null, ...matches, ...counted } };
}

/** Whether entries are answered in pages: in the order in which they are read, with nothing to do with all of them. */
function isPaged({ sort, entryPipes }: SearchPlan): boolean {
  return (
    isByTime(sort) &&
    entryPipes.every(({ kind }, at) => kind === "limit" || (kind === "context" && at === entryPipes.length - 1))
  );
}

function fitting<R extends { line: string }>(rows: readonly R[], limit: number, maxBytes: number) {
  let bytes = 0;
  let count = 0;
  for (; count < Math.min(rows.length, limit); count++) {
    bytes += rows[count]?.line.length ?? 0;
    if (count > 0 && bytes > maxBytes) break;
  }
  return { rows: rows.slice(0, count), isCut: count < rows.length };
}

async function page(search: SearchRun, { sort, entryPipes }: SearchPlan): Promise<Found<EntriesAnswer>> {
  const { wanted, filter, reading } = search;
  const { source, budget, memory, pacer } = reading;
  const { cursor, asOf, projectId } = wanted;
  if (cursor !== null && cursor.order !== sort.order) return { ok: false, reason: "foreign_cursor" };
  const taken = cursor?.search?.taken ?? 0;
  const most = Math.min(...entryPipes.map((pipe) => (pipe.kind === "limit" ? pipe.limit : Number.POSITIVE_INFINITY)));
  const context = entryPipes.find((pipe) => pipe.kind === "context");
  const shown = context === undefined ? wanted.limit : Math.min(wanted.limit, MAX_CONTEXTS);
  const limit = Math.max(1, Math.min(shown, most - taken));
  const query = { projectId, filter, order: sort.order, offset: 0, limit, cursor, includeTotal: false, asOf };
  const result = await runQuery(source, query, () => 0, budget, memory);
  if (!result.ok) return result;
  pacer.meter.add(result.work);
  const { rows, complete, stats } = result.page;
  const matched = taken + rows.length;
  const next = result.cursor && { ...result.cursor, search: { instant: wanted.now, taken: matched } };
  const answer: EntriesAnswer = {
    kind: "entries",
    rows,
    nextCursor: next === null || matched >= most ? null : encodeCursor(next),
    matched,
    scanned: stats.scanned,
    complete,
    exact: next === null,
    ...snapshotOf(search, result.snapshot),
    tookMs: 0,
  };
  if (matched < most && Number.isFinite(most) && next !== null) answer.notes.push(moreOf(matched, most));
  if (context === undefined) return { ok: true, answer };
  const { commit } = result.snapshot;
  const wide = await withNeighbours(search, rows, context.entries, sort.order, commit);
  if (!wide.complete) answer.notes.push(NEIGHBOURS_MISSING);
  const matches = placesOf(new Set(rows), wide.rows);
  return { ok: true, answer: { ...answer, rows: wide.rows, matches, complete: complete && wide.complete } };
}

function placesOf(matches: ReadonlySet<Row>, rows: readonly Row[]): number[] {
  return rows.flatMap((row, place) => (matches.has(row) ? [place] : []));
}

/** What a note states about a page that ends before the `limit` of its query. */
function moreOf(matched: number, most: number): string {
  const [read, asked] = [matched, most].map((count) => count.toLocaleString("en-US"));
  return `${read} of at most ${asked} entries: the next page continues at \`nextCursor\`.`;
}
