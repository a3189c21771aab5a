import { type Aggregator, type Measure, TYPE_BITS } from "./aggregator.ts";
import type { OwnField } from "./fields.ts";
import { NULL_ID } from "./groups.ts";
import { notesOf, type TableNotes } from "./notes.ts";
import { keyRanks, keySortValues, orderGroups, type SortValues, severityOf, type TableSort } from "./order.ts";
import { type AggregateFunction, type Column, isNumeric, orderedText, PERMILLES } from "./plan.ts";
import { compareTexts } from "./values.ts";

/** Rows that a table may have. */
export const MAX_ROWS = 10_000;

/** Work units of writing a row and of each of its columns. */
const ROW_WORK = 300;
const CELL_WORK = 300;
const GROUPS_AT_ONCE = 1024;

export type ColumnType = "string" | "number" | "boolean" | "time" | "json" | "mixed" | "null";

export interface TableColumn {
  name: string;
  type: ColumnType;
}

/** A finished table. */
export interface Table {
  columns: TableColumn[];
  /** JSON arrays, one for each row: bytes of UTF-8, one character each. */
  rows: string[];
  /** Whether all values are exact, of the entries that were added. */
  exact: boolean;
  /** Whether there are more rows. A request for so many rows has all of them. */
  isCut: boolean;
  notes: string[];
  /** Column by which the rows are sorted before their keys, if there is one. */
  sortedBy?: string;
  /** Whether the first row that a request for so many rows leaves out has the same value there as the last row. */
  isTied?: boolean;
  /** Fields among the keys that are null in a row and have values in others. */
  nullKeys?: NullKey[];
}

export interface NullKey {
  name: string;
  /** Whether entries may have the field with null or an empty array, so that a test of its existence does not leave them out. */
  isStored: boolean;
}

export interface TableBounds {
  sort: TableSort | null;
  /** Rows, at most `MAX_ROWS`. */
  limit: number;
  /** Bytes of all rows. */
  bytes: number;
  /** Whether the request asks for so many rows, so that no note states that there are more. */
  isTop?: boolean;
}

/**
 * Makes the table of all entries that were added. Nothing may be added afterwards. Yields work units between two pieces
 * of work.
 */
export function* tableOf(aggregator: Aggregator, bounds: TableBounds): Generator<number, Table> {
  const { sort, limit, bytes, isTop = false } = bounds;
  const { groups, plan } = aggregator;
  // Without keys all entries are one group, also if there are none.
  if (plan.keys.length === 0 && groups.count === 0) groups.groupOf([]);
  for (const { kind, state } of aggregator.measures) {
    if (kind === "percentiles" || kind === "distinct") yield* state.finish(groups.count);
  }
  const cells = plan.columns.map((column) => cellOf(aggregator, column));
  const sorted = sort === null ? undefined : plan.columns[sort.column];
  const values = sorted === undefined ? null : yield* sortValuesOf(aggregator, sorted, cells[sort?.column ?? 0]);
  // One more row shows whether the last one has equals that are left out.
  const ordered = yield* orderGroups(aggregator, values, sort?.order ?? "asc", isTop ? limit + 1 : limit);
  const rows: string[] = [];
  const shown: TableNotes = {
    groups: groups.count,
    rows: 0,
    inexact: new Set(),
    overflowed: new Set(),
    cut: new Set(),
  };
  // An approximate value may have moved any group to another place.
  if (sorted !== undefined) {
    for (let group = 0; group < groups.count; group++) noteExactness(aggregator, sorted, group, shown);
  }
  let held = 0;
  for (const group of ordered.subarray(0, limit)) {
    let work = ROW_WORK;
    const texts = cells.map(({ work: workOf, text }) => {
      work += CELL_WORK + workOf(group);
      return text(group);
    });
    const row = `[${texts.join(",")}]`;
    held += row.length;
    if (rows.length > 0 && held > bytes) break;
    rows.push(row);
    for (const column of plan.columns) noteExactness(aggregator, column, group, shown);
    yield work;
  }
  shown.rows = isTop && rows.length === limit ? groups.count : rows.length;
  const columns = plan.columns.map((column) => ({ name: column.name, type: typeOf(aggregator, column) }));
  const isCut = shown.rows < shown.groups;
  const [last, next] = [ordered[limit - 1], isTop && rows.length === limit ? ordered[limit] : undefined];
  const isTied = values !== null && last !== undefined && next !== undefined && Object.is(values(last), values(next));
  return {
    ...{ columns, rows, exact: shown.inexact.size === 0, isCut, notes: notesOf(aggregator, shown) },
    ...(sorted === undefined ? {} : { sortedBy: sorted.name }),
    ...(isTied ? { isTied } : {}),
    nullKeys: nullKeysOf(aggregator, ordered.subarray(0, rows.length)),
  };
}

function nullKeysOf({ groups, plan, types }: Aggregator, shown: Int32Array): NullKey[] {
  return plan.keys.flatMap((key, at): NullKey[] => {
    // The first text is null.
    const hasValues = (groups.keys[at]?.texts.length ?? 0) > 1;
    if ("binMs" in key || !hasValues || !shown.some((group) => groups.idAt(group, at) === NULL_ID)) return [];
    const isStored = ((types[key.field] ?? 0) & (TYPE_BITS.null | TYPE_BITS.array)) !== 0;
    const name = plan.columns.find((column) => column.from === "key" && column.key === at)?.name ?? "";
    return [{ name, isStored }];
  });
}

/** Writes the values of a column. */
interface Cell {
  /** Returns the work units of `text` for a group. */
  work(group: number): number;
  /** Returns the JSON text of a group's value. */
  text(group: number): string;
  /** Returns the number by which rows are sorted; `null` if the column has no numbers. */
  number: ((group: number) => number | null) | null;
}

function cellOf(aggregator: Aggregator, column: Column): Cell {
  const { groups, entries, plan } = aggregator;
  const work = () => 0;
  if (column.from === "key") {
    const key = plan.keys[column.key];
    const isBin = key !== undefined && "binMs" in key;
    const text = (group: number) => {
      const written = groups.textAt(group, column.key);
      return isBin ? orderedText("time", Number(written)) : written;
    };
    return { work, text, number: null };
  }
  if (column.from === "entries") return numberCell(work, (group) => entries.get(group));
  if (column.from === "rate") return numberCell(work, (group) => entries.get(group) / (plan.rateSeconds ?? 1));
  const measure = aggregator.measures[column.measure];
  if (!measure) throw new RangeError("A column reads a measure of its plan.");
  return measureCell(aggregator, measure, column);
}

function numberCell(work: Cell["work"], number: (group: number) => number | null): Cell {
  // JSON writes numbers as `String` does; a negative zero is 0 in both.
  return { work, number, text: (group) => String(number(group)) };
}

function measureCell(
  { plan }: Aggregator,
  measure: Measure,
  { fn, measure: index }: Extract<Column, { from: "measure" }>,
): Cell {
  const work = () => 0;
  const own = plan.fields[plan.measures[index]?.field ?? -1]?.own ?? null;
  switch (measure.kind) {
    case "present":
      return numberCell(work, (group) => measure.state.get(group));
    case "sum":
      return numberCell(work, (group) => (fn === "sum" ? measure.state.sum(group) : measure.state.average(group)));
    case "extremes": {
      const number = (group: number) => (fn === "min" ? measure.state.least(group) : measure.state.greatest(group));
      return { work, number, text: (group) => orderedText(own, number(group)) };
    }
    case "percentiles": {
      const permille = permilleOf(fn);
      return numberCell(
        (group) => measure.state.workOf(group),
        (group) => measure.state.valueAt(group, permille),
      );
    }
    case "distinct":
      return numberCell(
        (group) => measure.state.workOf(group),
        (group) => measure.state.valueAt(group),
      );
    case "first":
    case "last": {
      const text = (group: number) => measure.state.textOf(group) ?? "null";
      return { work, number: own === "level" ? (group) => severityOf(text(group)) : null, text };
    }
    case "values":
      return { work, number: null, text: (group) => `[${measure.state.textsOf(group).join(",")}]` };
  }
}

function permilleOf(fn: AggregateFunction): number {
  return Object.hasOwn(PERMILLES, fn) ? PERMILLES[fn as keyof typeof PERMILLES] : 0;
}

function* sortValuesOf(
  aggregator: Aggregator,
  column: Column,
  cell: Cell | undefined,
): Generator<number, SortValues | null> {
  if (!cell) return null;
  const { count } = aggregator.groups;
  if (column.from === "key") return yield* keySortValues(aggregator, column.key);
  const { number } = cell;
  const values = new Float64Array(count);
  if (number !== null) {
    let work = 0;
    for (let group = 0; group < count; group++) {
      work += CELL_WORK + cell.work(group);
      values[group] = number(group) ?? Number.NaN;
      if (work > GROUPS_AT_ONCE * CELL_WORK) {
        yield work;
        work = 0;
      }
    }
  } else {
    const texts = Array.from({ length: count }, (_, group) => cell.text(group));
    const ranks = yield* keyRanks(texts, compareTexts);
    // Equal texts have consecutive ranks, which must be one.
    const ordered = new Int32Array(count);
    for (const [group, rank] of ranks.entries()) ordered[rank] = group;
    let value = 0;
    for (const [at, group] of ordered.entries()) {
      if (at > 0 && texts[group] !== texts[ordered[at - 1] ?? 0]) value++;
      values[group] = texts[group] === "null" ? Number.NaN : value;
    }
  }
  return (group) => values[group] ?? Number.NaN;
}

function noteExactness(aggregator: Aggregator, column: Column, group: number, shown: TableNotes): void {
  if (column.from !== "measure") return;
  const measure = aggregator.measures[column.measure];
  if (!measure) return;
  const { kind, state } = measure;
  if ((kind === "percentiles" || kind === "distinct") && !state.isExact(group)) shown.inexact.add(column);
  if (kind === "sum" && state.count(group) > 0 && column.fn === "sum" && state.sum(group) === null) {
    shown.overflowed.add(column);
  }
  if (kind === "values" && state.isCut(group)) shown.cut.add(column);
}

function typeOf(aggregator: Aggregator, column: Column): ColumnType {
  const { plan, types } = aggregator;
  if (column.from === "entries" || column.from === "rate") return "number";
  if (column.from === "key") {
    const key = plan.keys[column.key];
    return key && !("binMs" in key) ? fieldType(aggregator, key.field, types[key.field] ?? 0) : "time";
  }
  const field = plan.measures[column.measure]?.field ?? -1;
  switch (column.fn) {
    case "first":
    case "last": {
      const bits = types[field] ?? 0;
      return fieldType(aggregator, field, bits & TYPE_BITS.array ? bits | TYPE_BITS.nested : bits);
    }
    case "values":
      return "json";
    case "min":
    case "max": {
      const spec = plan.fields[field];
      return spec && !isNumeric(spec) ? fieldType(aggregator, field, 0) : "number";
    }
    default:
      return "number";
  }
}

function fieldType({ plan }: Aggregator, field: number, bits: number): ColumnType {
  return typeOfField(plan.fields[field]?.own ?? null, bits);
}

/** Returns the type of a column with the values of a field. @param bits types of the values; see `TYPE_BITS` */
export function typeOfField(own: OwnField | null, bits: number): ColumnType {
  if (own === "time" || own === "received") return "time";
  if (own === "seq") return "number";
  if (own !== null) return "string";
  switch (bits & ~TYPE_BITS.null & ~TYPE_BITS.array) {
    case 0:
      return "null";
    case TYPE_BITS.boolean:
      return "boolean";
    case TYPE_BITS.number:
      return "number";
    case TYPE_BITS.string:
      return "string";
    case TYPE_BITS.nested:
      return "json";
    default:
      return "mixed";
  }
}
