import { sortInSteps } from "../aggregate/sorting.ts";
import { MAX_ROWS } from "../aggregate/table.ts";
import type { WorkMeter } from "../query/budget.ts";
import type { PipeOf, TablePipe } from "./search-plan.ts";
import { countRows } from "./table-counts.ts";
import { columnIndex, compareOrdered, orderTexts, rowStepsOf, type ValueTable } from "./value-table.ts";

/** Pipes that run on tables in memory. */

/** Work units of reading a row. */
const ROW_WORK = 500;

/** The work of a request, and how much of it there may be. */
export interface PipeWork {
  meter: WorkMeter;
  most: number;
}

/** Runs a pipe. Yields work units between two pieces of work. @throws InvalidRegex */
export function* pipeTable(
  table: ValueTable,
  pipe: TablePipe,
  now: number,
  work: PipeWork,
): Generator<number, ValueTable> {
  switch (pipe.kind) {
    case "where":
      return yield* filtered(table, pipe, now, work);
    case "sort":
      return { ...(yield* sorted(table, pipe)), isResorted: true };
    case "limit":
      return limited(withTie(table, pipe.limit), pipe.limit);
    case "fields": {
      const indexes = pipe.fields.map((field) => columnIndex(table.columns, field.kind === "column" ? field.name : ""));
      const columns = indexes.flatMap((index) => table.columns[index] ?? []);
      yield table.rows.length * ROW_WORK;
      return { ...table, columns, rows: table.rows.map((row) => indexes.map((index) => row[index] ?? null)) };
    }
    default: {
      const counted = yield* countRows(table, pipe);
      if (pipe.kind !== "top" && pipe.kind !== "rare") return bounded(counted);
      const order = pipe.kind === "top" ? "desc" : "asc";
      const by = { kind: "column", name: "count" } as const;
      const limit = pipe.limit ?? TOP;
      const ordered = withTie(yield* sorted(counted, { kind: "sort", by, order }), limit);
      return { ...ordered, rows: ordered.rows.slice(0, limit) };
    }
  }
}

function limited(table: ValueTable, limit: number): ValueTable {
  const hasMore = table.hasMore === true && limit > table.rows.length;
  return { ...table, rows: table.rows.slice(0, limit), hasMore };
}

/** Notes that the rows after the first ones have the value of the last of these, if they have. */
function withTie(table: ValueTable, limit: number): ValueTable {
  const { columns, rows, notes, sortedBy, isResorted = false } = table;
  const at = columns.findIndex(({ name }) => name === sortedBy);
  const [last, next] = [rows[limit - 1], rows[limit]];
  if (sortedBy === undefined || at < 0 || next === undefined) return table;
  const note = isResorted ? tied(sortedBy) : tieNote(sortedBy);
  const isTied = JSON.stringify(last?.[at]) === JSON.stringify(next[at]);
  return isTied && !notes.includes(note) ? { ...table, notes: [...notes, note] } : table;
}

/** What a note states about rows that are left out and have the value of the last row. */
export function tieNote(column: string): string {
  return `${tied(column)} Rows with equal values are in the order of their keys.`;
}

function tied(column: string): string {
  return `Rows that are left out have the same \`${column}\` as the last one.`;
}

/** Rows of `top` and `rare` without a number. */
const TOP = 10;

function bounded(table: ValueTable): ValueTable {
  const { rows } = table;
  if (rows.length <= MAX_ROWS) return table;
  const [kept, all] = [MAX_ROWS, rows.length].map((count) => count.toLocaleString("en-US"));
  const notes = [...table.notes, `The table has the first ${kept} of ${all} rows.`];
  return { ...table, rows: rows.slice(0, MAX_ROWS), notes, hasMore: true };
}

/** Tests the rows as far as the work allows. */
function* filtered(
  table: ValueTable,
  { filter }: PipeOf<"where">,
  now: number,
  { meter, most }: PipeWork,
): Generator<number, ValueTable> {
  const steps = rowStepsOf(filter, table.columns, now);
  const rows: (readonly unknown[])[] = [];
  for (const row of table.rows) {
    const test = steps(row, meter);
    let step = test.next();
    for (; step.done !== true; step = test.next()) {
      yield 0;
      if (meter.done > most) return { ...table, rows, isCut: true };
    }
    if (step.value) rows.push(row);
    yield ROW_WORK;
  }
  return { ...table, rows };
}

/** Sorts stably: rows with equal values keep their order. */
function* sorted(table: ValueTable, { by, order }: PipeOf<"sort">): Generator<number, ValueTable> {
  const index = columnIndex(table.columns, by.kind === "column" ? by.name : "");
  const column = table.columns[index];
  if (column === undefined) return table;
  const sign = order === "asc" ? 1 : -1;
  const values = table.rows.map((row) => row[index]);
  const texts = orderTexts(values, column);
  yield values.length * ROW_WORK;
  const places = Int32Array.from(values, (_, at) => at);
  yield* sortInSteps(places, (a, b) => compareOrdered(texts[a] ?? null, texts[b] ?? null, sign));
  return { ...table, rows: Array.from(places, (at) => table.rows[at] ?? []), sortedBy: column.name };
}
