import { columnsAfter } from "../../query-language/table-columns.ts";
import { Aggregator, TYPE_BITS } from "../aggregate/aggregator.ts";
import { LineFields } from "../aggregate/line-fields.ts";
import type { AggregatePlan } from "../aggregate/plan.ts";
import { typeOfField } from "../aggregate/table.ts";
import { endNotes, finishTable } from "../stats/run-table.ts";
import { TableSink } from "../stats/table-sink.ts";
import { patternCounter } from "./count-patterns.ts";
import { type Counter, countInto, type MadeTable } from "./counter.ts";
import type { EntryRows } from "./entry-rows.ts";
import { facetCounter } from "./facets.ts";
import { RowLines } from "./row-lines.ts";
import {
  aggregateField,
  type CountingPipe,
  countedTable,
  InvalidQuery,
  type PipeOf,
  type SearchPlan,
  type TableMaker,
  type TablePipe,
} from "./search-plan.ts";
import { type Found, type SearchRun, snapshotOf, type TableAnswer } from "./search-query.ts";
import { pipeTable } from "./table-pipes.ts";
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
  pipe: TableMaker,
  found: EntryRows,
): Promise<Found<TableAnswer>> {
  if (pipe.kind === "fields") {
    const table = await tableOfFields(search, pipe, found);
    return { ok: true, answer: await piped(search, found, table, plan.tablePipes) };
  }
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

/** Types of all that entries have at a field: an array is one value. */
function wholeBits(types: number): number {
  return types & TYPE_BITS.array ? types | TYPE_BITS.nested : types;
}

/** Work units of reading the fields of a row. */
const ROW_WORK = 2000;

/** Makes a table of fields of entries. */
async function tableOfFields(
  { reading }: SearchRun,
  { fields }: PipeOf<"fields">,
  { rows }: EntryRows,
): Promise<MadeTable> {
  const { memory, pacer, budget } = reading;
  const wanted = fields.map(aggregateField);
  const reader = new LineFields(wanted);
  const types = wanted.map(() => 0);
  const texts: string[] = [];
  const lines = new RowLines();
  let bytes = 0;
  for (const row of rows) {
    lines.read(row, (match, source) => {
      if (!reader.read(match, source)) return;
      const cells = reader.found.map((found, at) => {
        types[at] = (types[at] ?? 0) | found.types;
        return found.isThere ? found.whole() : "null";
      });
      texts.push(`[${cells.join(",")}]`);
    });
    bytes += texts.at(-1)?.length ?? 0;
    if (texts.length > 1 && bytes > budget.answerBytes) {
      texts.pop();
      break;
    }
    memory.renew();
    await pacer.pause(ROW_WORK + row.line.length);
  }
  const isCut = texts.length < rows.length;
  const notes = isCut ? [`The table has the first ${texts.length} of ${rows.length} rows.`] : [];
  const columns = wanted.map(({ name, own }, at) => ({ name, type: typeOfField(own, wholeBits(types[at] ?? 0)) }));
  return { columns, rows: texts, exact: true, notes, levels: wanted.map(({ own }) => own === "level") };
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
  const answer = { kind: "table" as const, matched, scanned, complete, exact: made.exact, asOf, tookMs: 0 };
  const notes = [...found.notes, ...made.notes];
  if (pipes.length === 0) return { ...answer, columns: made.columns, rows: made.rows, notes };
  const { pacer, memory } = search.reading;
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
  let table: ValueTable = { columns, rows: values, notes };
  for (const pipe of pipes) {
    const steps = pipeTable(table, pipe, search.wanted.now);
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
  return {
    ...answer,
    columns: table.columns.map(({ name, type }) => ({ name, type })),
    rows,
    notes: [...table.notes],
  };
}
