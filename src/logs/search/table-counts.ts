import type { Aggregate, AggregateFunction, Field } from "../../query-language/syntax.ts";
import { columnsAfter, type TableColumn as LanguageColumn } from "../../query-language/table-columns.ts";
import { HeldBytes } from "../aggregate/by-group.ts";
import { MAX_GROUPS_OF_ENTRY } from "../aggregate/entry-aggregator.ts";
import { ExactSums } from "../aggregate/exact-sum.ts";
import { PERMILLES } from "../aggregate/plan.ts";
import { sortInSteps } from "../aggregate/sorting.ts";
import type { ColumnType } from "../aggregate/table.ts";
import { LISTED_VALUES } from "../aggregate/values.ts";
import type { CountingPipe } from "./search-plan.ts";
import {
  columnIndex,
  compareOrdered,
  jsonBytes,
  orderTexts,
  typeOfValues,
  type ValueColumn,
  type ValueTable,
} from "./value-table.ts";

/** Counts and aggregations of the rows of a table. They mean what they mean of entries. */

const ROWS_AT_ONCE = 128;
const ROW_WORK = 3000;
const VALUE_WORK = 600;
const WORK_AT_ONCE = 500_000;
/** Groups of one table. Only arrays make more groups than a table has rows. */
const MAX_GROUPS = 20_000;

interface Group {
  keys: readonly unknown[];
  rows: (readonly unknown[])[];
}

/** Yields work units between two pieces of work. @returns rows in the order of their keys */
export function* countRows(table: ValueTable, pipe: CountingPipe): Generator<number, ValueTable> {
  const { columns: before } = table;
  const keyColumns = pipe.by.map((key): ValueColumn & { index: number; binMs: number } => {
    if (key.kind === "field") return { ...columnOf(before, key.field), binMs: 0 };
    return { ...timeColumn(before), binMs: key.ms };
  });
  const { groups, isCut } = yield* groupsOf(table, keyColumns);
  const ordered = yield* inOrder(groups, keyColumns);
  const wanted: readonly Aggregate[] =
    pipe.kind === "stats" ? pipe.aggregates : [{ fn: "count", field: null, as: "count" }];
  const bin = pipe.by.find((key) => key.kind === "bin");
  const seconds = bin === undefined ? 1 : bin.ms / 1000;
  const rows: unknown[][] = [];
  let work = 0;
  for (const { keys, rows: own } of ordered) {
    const row = [...keys];
    for (const each of wanted) {
      row.push(aggregated(each, own, before, seconds));
      work += ROW_WORK + own.length * VALUE_WORK;
      if (work < WORK_AT_ONCE) continue;
      yield work;
      work = 0;
    }
    rows.push(row);
  }
  const language: readonly LanguageColumn[] = before.map(({ name, type, isLevel }) => ({
    name,
    type: isLevel ? "level" : type === "time" ? "time" : "any",
  }));
  const names = columnsAfter(pipe, language)?.map(({ name }) => name) ?? [];
  const columns = names.map((name, at): ValueColumn => {
    const key = keyColumns[at];
    const values = rows.map((row) => row[at]);
    if (key !== undefined) {
      return { name, isLevel: key.isLevel, type: key.type === "time" ? "time" : typeOfValues(values) };
    }
    const aggregate = wanted[at - keyColumns.length];
    const read = aggregate?.field ? columnOf(before, aggregate.field) : null;
    return {
      name,
      isLevel: keepsOrder(aggregate?.fn) && read?.isLevel === true,
      type: typeOf(aggregate, read, values),
    };
  });
  const cut = isCut
    ? [`Arrays make more than ${MAX_GROUPS.toLocaleString("en-US")} groups; the others are left out.`]
    : [];
  return {
    ...table,
    sortedBy: undefined,
    isResorted: false,
    columns,
    rows,
    notes: [...table.notes, ...cut, ...notesOf(wanted, before, rows, columns)],
  };
}

function columnOf(columns: readonly ValueColumn[], field: Field): ValueColumn & { index: number } {
  const index = columnIndex(columns, field.kind === "column" ? field.name : "");
  const column = columns[index];
  if (column === undefined) throw new RangeError("The column exists.");
  return { ...column, index };
}

/** Returns the column that `bin` reads. The parser knows `bin` only if there is one. */
function timeColumn(columns: readonly ValueColumn[]): ValueColumn & { index: number } {
  const times = columns.flatMap((column, index) => (column.type === "time" ? [{ ...column, index }] : []));
  const found = times.find(({ name }) => name === "time") ?? times[0];
  if (found === undefined) throw new RangeError("The table has a column of times.");
  return found;
}

/** @returns the groups, and whether values were left out because there are too many */
function* groupsOf(
  { rows }: ValueTable,
  keys: readonly { index: number; binMs: number }[],
): Generator<number, { groups: Group[]; isCut: boolean }> {
  let isCut = false;
  const groups = new Map<string, Group>();
  // Without keys all rows are one group, also if there are none.
  if (keys.length === 0) groups.set("[]", { keys: [], rows: [] });
  let work = 0;
  for (const [at, row] of rows.entries()) {
    for (const values of combinations(keys.map((key) => keyValues(row[key.index] ?? null, key.binMs)))) {
      const name = JSON.stringify(values);
      const group = groups.get(name);
      if (group !== undefined) group.rows.push(row);
      else if (groups.size < MAX_GROUPS) groups.set(name, { keys: values, rows: [row] });
      else isCut = true;
      work += ROW_WORK;
    }
    if (at % ROWS_AT_ONCE !== 0) continue;
    yield work;
    work = 0;
  }
  yield work;
  return { groups: [...groups.values()], isCut };
}

/** An array stands for each of its items. */
function keyValues(value: unknown, binMs: number): unknown[] {
  if (binMs > 0) {
    const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
    return [Number.isNaN(time) ? null : new Date(Math.floor(time / binMs) * binMs).toISOString()];
  }
  if (!Array.isArray(value)) return [value];
  const items = new Map<string, unknown>();
  for (const item of value) items.set(JSON.stringify(item), item);
  return items.size === 0 ? [null] : [...items.values()];
}

function combinations(lists: readonly (readonly unknown[])[]): unknown[][] {
  let found: unknown[][] = [[]];
  for (const list of lists) {
    const taken = list.slice(0, Math.max(1, Math.floor(MAX_GROUPS_OF_ENTRY / found.length)));
    found = found.flatMap((before) => taken.map((value) => [...before, value]));
  }
  return found;
}

function* inOrder(groups: readonly Group[], columns: readonly ValueColumn[]): Generator<number, readonly Group[]> {
  const texts = columns.map((column, key) =>
    orderTexts(
      groups.map(({ keys }) => keys[key]),
      column,
    ),
  );
  yield groups.length * ROW_WORK;
  const places = Int32Array.from(groups, (_, at) => at);
  yield* sortInSteps(places, (a, b) => {
    for (const own of texts) {
      const difference = compareOrdered(own[a] ?? null, own[b] ?? null, 1);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return Array.from(places).flatMap((at) => groups[at] ?? []);
}

/** Whether the values of a function are those of its column. */
function keepsOrder(fn: AggregateFunction | undefined): boolean {
  return fn === "min" || fn === "max" || fn === "first" || fn === "last";
}

function aggregated(
  { fn, field }: Aggregate,
  rows: readonly (readonly unknown[])[],
  columns: readonly ValueColumn[],
  seconds: number,
): unknown {
  if (fn === "rate") return rows.length / seconds;
  if (field === null) return rows.length;
  const column = columnOf(columns, field);
  const whole = rows.map((row) => row[column.index] ?? null).filter((value) => value !== null);
  if (fn === "count") return whole.length;
  if (fn === "first") return whole[0] ?? null;
  if (fn === "last") return whole.at(-1) ?? null;
  const values = whole.flatMap((value) => (Array.isArray(value) ? value : [value])).filter((value) => value !== null);
  if (fn === "count_distinct") return new Set(values.map((value) => JSON.stringify(value))).size;
  if (fn === "values") return listed(values).slice(0, LISTED_VALUES);
  if ((fn === "min" || fn === "max") && (column.isLevel || column.type === "time")) {
    const [first] = orderedBy(values, column, fn === "min" ? 1 : -1);
    return first ?? null;
  }
  const numbers = values.filter((value) => typeof value === "number");
  return numbers.length === 0 ? null : ofNumbers(fn, Float64Array.from(numbers).sort());
}

function ofNumbers(fn: AggregateFunction, sorted: Float64Array): number | null {
  switch (fn) {
    case "min":
      return sorted[0] ?? null;
    case "max":
      return sorted.at(-1) ?? null;
    case "sum":
    case "avg": {
      const sums = new ExactSums(new HeldBytes());
      for (const number of sorted) sums.add(0, number + 0);
      return fn === "sum" ? sums.sum(0) : sums.average(0);
    }
    default: {
      const permille = new Map<string, number>(Object.entries(PERMILLES)).get(fn) ?? 0;
      return sorted[Math.ceil((sorted.length * permille) / 1000) - 1] ?? null;
    }
  }
}

/** Returns the different values in order. */
function listed(values: readonly unknown[]): unknown[] {
  const different = new Map(values.map((value) => [jsonBytes(value), value]));
  return [...different].sort(([a], [b]) => compareOrdered(a, b, 1)).map(([, value]) => value);
}

function orderedBy(values: readonly unknown[], column: ValueColumn, sign: number): unknown[] {
  const texts = orderTexts(values, column);
  const places = values.map((_, at) => at);
  places.sort((a, b) => compareOrdered(texts[a] ?? null, texts[b] ?? null, sign));
  return places.map((at) => values[at]);
}

function typeOf(aggregate: Aggregate | undefined, read: ValueColumn | null, values: readonly unknown[]): ColumnType {
  if (aggregate?.fn === "values") return "json";
  if (keepsOrder(aggregate?.fn)) return read?.type === "time" ? "time" : typeOfValues(values);
  return "number";
}

const NUMERIC: ReadonlySet<AggregateFunction> = new Set(["sum", "avg", "p50", "p75", "p90", "p95", "p99", "p999"]);

function notesOf(
  aggregates: readonly Aggregate[],
  before: readonly ValueColumn[],
  rows: readonly (readonly unknown[])[],
  columns: readonly ValueColumn[],
): string[] {
  const notes = new Set<string>();
  for (const [at, { fn, field }] of aggregates.entries()) {
    const column = columns.length - aggregates.length + at;
    const name = columns[column]?.name ?? "";
    if (fn === "values" && rows.some((row) => listLength(row[column]) === LISTED_VALUES))
      notes.add(`\`${name}\`: at most the first ${LISTED_VALUES} different values of each group.`);
    const read = field === null ? null : columnOf(before, field);
    if (read === null || !NUMERIC.has(fn) || read.type !== "mixed") continue;
    notes.add(`\`${read.name}\` has mixed types; only its numbers are added up.`);
  }
  return [...notes];
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
