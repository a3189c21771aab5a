import { columnsAfter } from "../../query-language/table-columns.ts";
import { Aggregator } from "../aggregate/aggregator.ts";
import type { AggregatePlan } from "../aggregate/plan.ts";
import { MAX_ROWS, type NullKey } from "../aggregate/table.ts";
import { endNotes, finishTable } from "../stats/run-table.ts";
import { TableSink } from "../stats/table-sink.ts";
import { patternCounter } from "./count-patterns.ts";
import { type Counter, countInto, type MadeTable } from "./counter.ts";
import { ENDED, type EntryRows, MOST_WORK, pipeRows, readInTime, readRows } from "./entry-rows.ts";
import { facetCounter } from "./facets.ts";
import { FieldsTable } from "./fields-table.ts";
import { RowLines } from "./row-lines.ts";
import {
  type CountingPipe,
  countedTable,
  InvalidQuery,
  isByTime,
  type PipeOf,
  type SearchPlan,
  type TableMaker,
  type TablePipe,
} from "./search-plan.ts";
import { type Found, type SearchRun, snapshotOf, type TableAnswer } from "./search-query.ts";
import { pipeTable, tieNote } from "./table-pipes.ts";
import { jsonBytes, type ValueTable } from "./value-table.ts";

/** Pipes that make a table of entries that are counted. */
type CountedMaker = Exclude<TableMaker, PipeOf<"fields">>;

/** Makes a table of all entries that pass the filter. */
export async function tableOfScan(
  search: SearchRun,
  plan: SearchPlan,
  pipe: CountedMaker,
): Promise<Found<TableAnswer>> {
  const counter = counterOf(search, pipe, plan.tablePipes);
  const { sink, tablePipes } = counter;
  const read = await counter.scan();
  if (read === null) return { ok: false, reason: "future_snapshot" };
  const { asOf, notes } = snapshotOf(search, { commit: read.asOf, oldest: read.oldest });
  const found = {
    ...{ matched: sink.matched, scanned: sink.examined, complete: read.complete, exact: true, asOf },
    notes: [...endNotes(read, sink), ...notes],
  };
  return { ok: true, answer: await piped(search, found, await counter.finish(), tablePipes) };
}

/** Makes a table of entries in memory. */
export async function tableOfRows(
  search: SearchRun,
  plan: SearchPlan,
  pipe: CountedMaker,
  found: EntryRows,
): Promise<Found<TableAnswer>> {
  if (pipe.kind === "patterns" && pipe.versus !== null)
    throw new InvalidQuery("`patterns vs` compares all entries of two periods: it cannot follow `limit` or `context`.");
  const { sink, finish, tablePipes } = counterOf(search, pipe, plan.tablePipes);
  const lines = new RowLines();
  for (const row of found.rows) {
    lines.read(row, (match, source) => sink.addLine(match, source, lines.matcher));
    search.reading.memory.renew();
    await search.reading.pacer.pause(row.line.length);
  }
  const isFull = sink.full !== null;
  const notes = [...(isFull ? endNotes({ complete: false }, sink) : []), ...found.notes];
  const counted = { ...found, complete: found.complete && !isFull, notes };
  return { ok: true, answer: await piped(search, counted, await finish(), tablePipes) };
}

function counterOf(search: SearchRun, pipe: CountedMaker, tablePipes: readonly TablePipe[]): Counter {
  if (pipe.kind === "patterns") return patternCounter(search, pipe, tablePipes);
  if (pipe.kind === "facets") return facetCounter(search, pipe, tablePipes);
  const { reading, filter, wanted } = search;
  const to = filter.to ?? wanted.now;
  const seconds = filter.from === null ? null : (to - filter.from) / 1000;
  const { plan, sort, limit, isTop, tablePipes: later } = countedTable(pipe, tablePipes, seconds);
  const aggregator = new Aggregator(plan);
  const sink = new TableSink(aggregator, reading.memory, reading.pacer);
  return {
    sink,
    scan: () => countInto(search, filter, sink),
    finish: async () => ({
      ...(await finishTable(reading, aggregator, { sort, limit, isTop })),
      levels: levelsOf(pipe, plan),
    }),
    tablePipes: later,
  };
}

/** Functions whose values are those of their field. */
const KEEPING: ReadonlySet<string> = new Set(["min", "max", "first", "last"]);

function levelsOf(pipe: CountingPipe, { columns, fields, measures }: AggregatePlan): boolean[] {
  const keys = columnsAfter(pipe, null) ?? [];
  return columns.map((column, at) => {
    if (column.from !== "measure") return keys[at]?.type === "level";
    return KEEPING.has(column.fn) && fields[measures[column.measure]?.field ?? -1]?.own === "level";
  });
}

/** Work units of reading the fields of a row. */
const ROW_WORK = 2000;

/** Makes a table of fields of entries. Reads them in pages, and keeps only the table, if no other pipe needs the entries. */
export async function tableOfFields(
  search: SearchRun,
  plan: SearchPlan,
  { fields }: PipeOf<"fields">,
): Promise<Found<TableAnswer>> {
  const { entryPipes, sort } = plan;
  const { memory, pacer, budget } = search.reading;
  const table = new FieldsTable(fields, budget.answerBytes, pacer.meter);
  const limits = entryPipes.map((pipe) => (pipe.kind === "limit" ? pipe.limit : 0));
  if (isByTime(sort) && !limits.includes(0)) {
    const count = Math.min(MAX_ROWS, ...limits);
    const read = await readInTime(search, sort, count, (row) => (table.isFull ? 0 : table.add(row)));
    if (!read.ok) return read;
    const hasMore = limits.length === 0 && !read.answer.exact && read.answer.complete;
    return { ok: true, answer: await piped(search, read.answer, table.finish(hasMore), plan.tablePipes) };
  }
  const read = await readRows(search, plan);
  if (!read.ok) return read;
  const { rows, ...found } = await pipeRows(search, read.answer, plan);
  for (const row of rows) {
    if (table.isFull) break;
    table.add(row);
    memory.renew();
    await pacer.pause(ROW_WORK + row.line.length);
  }
  const hasMore = entryPipes.length === 0 && found.matched > rows.length;
  return { ok: true, answer: await piped(search, found, table.finish(hasMore), plan.tablePipes) };
}

/** Work units of reading or writing a row of a table, and each of its characters. */
const TEXT_WORK = 1000;
const TEXT_CHARACTER_WORK = 8;

/** Runs the pipes of tables, and writes the answer. */
async function piped(
  search: SearchRun,
  found: Omit<EntryRows, "rows" | "commit">,
  made: MadeTable,
  pipes: readonly TablePipe[],
): Promise<TableAnswer> {
  const { matched, scanned, complete, asOf } = found;
  const answer = {
    kind: "table" as const,
    matched,
    scanned,
    complete,
    exact: complete && found.exact && made.exact,
    asOf,
    tookMs: 0,
  };
  const ties = made.isTied === true && made.sortedBy !== undefined ? [tieNote(made.sortedBy)] : [];
  const notes = [...found.notes, ...made.notes, ...ties];
  const { nullKeys = [] } = made;
  if (pipes.length === 0)
    return { ...answer, columns: made.columns, rows: made.rows, notes: [...notes, ...nullNotes(nullKeys)] };
  const { pacer, memory, budget } = search.reading;
  const pause = (work: number) => {
    memory.renew();
    return pacer.pause(work);
  };
  const values: unknown[][] = [];
  for (const row of made.rows) {
    values.push(JSON.parse(Buffer.from(row, "latin1").toString("utf8")));
    await pause(TEXT_WORK + row.length * TEXT_CHARACTER_WORK);
  }
  const columns = made.columns.map((column, at) => ({ ...column, isLevel: made.levels[at] === true }));
  let table: ValueTable = { columns, rows: values, notes, hasMore: made.isCut, sortedBy: made.sortedBy };
  let { exact } = answer;
  for (const pipe of pipes) {
    // The rows that are missing might have passed, been counted, or come first.
    if (table.hasMore === true && pipe.kind !== "limit" && pipe.kind !== "fields") exact = false;
    const steps = pipeTable(table, pipe, search.wanted.now, { meter: pacer.meter, most: MOST_WORK * budget.work });
    let step = steps.next();
    for (; !step.done; step = steps.next()) await pause(step.value);
    table = step.value;
  }
  const rows: string[] = [];
  for (const row of table.rows) {
    const text = jsonBytes(row);
    rows.push(text);
    await pause(TEXT_WORK + text.length * TEXT_CHARACTER_WORK);
  }
  const isComplete = complete && table.isCut !== true;
  const shown = nullKeys.filter(({ name }) => {
    const column = table.columns.findIndex((each) => each.name === name);
    return column >= 0 && table.rows.some((row) => row[column] === null);
  });
  return {
    ...answer,
    exact: exact && isComplete,
    complete: isComplete,
    columns: table.columns.map(({ name, type }) => ({ name, type })),
    rows,
    notes: [...(table.isCut === true ? [ENDED] : []), ...table.notes, ...nullNotes(shown)],
  };
}

/** What notes state about the rows of entries that have no value of a key. */
function nullNotes(keys: readonly NullKey[]): string[] {
  const stored = keys.filter(({ isStored }) => isStored);
  const missing = keys.filter(({ isStored }) => !isStored);
  return [
    ...(missing.length === 0
      ? []
      : [
          `${namesOf(missing)}: null for entries without a value. \`${testsOf(missing)}\` in the filter leaves them out.`,
        ]),
    ...(stored.length === 0
      ? []
      : [
          `${namesOf(stored)}: null for entries without a value. \`| where ${testsOf(stored)}\` behind the table leaves them out.`,
        ]),
  ];
}

function namesOf(keys: readonly NullKey[]): string {
  return keys.map(({ name }) => `\`${name}\``).join(", ");
}

function testsOf(keys: readonly NullKey[]): string {
  return keys.map(({ name }) => `${name}:*`).join(" ");
}
