import type { Filter } from "../../query-language/syntax.ts";
import type { ColumnType, TableColumn } from "../aggregate/table.ts";
import { compareTexts } from "../aggregate/values.ts";
import { type Entry, LEVELS } from "../entry.ts";
import type { WorkMeter } from "../query/budget.ts";
import { toByteString } from "../query/case-folding.ts";
import { entryStepsOf } from "./entry-steps.ts";
import type { EntryPlace } from "./entry-test.ts";

/** A table in memory. */
export interface ValueTable {
  columns: readonly ValueColumn[];
  /** JSON values. Null: the row has no value there. */
  rows: readonly (readonly unknown[])[];
  /** What to know about the values. */
  notes: readonly string[];
  /** Whether the request's work has ended before all rows were tested. */
  isCut?: boolean;
  /** Whether it had more rows than a table may have. */
  hasMore?: boolean;
  /** Column by which the rows are sorted, if there is one. */
  sortedBy?: string | undefined;
  /** Whether `sort` ordered them, so that rows with equal values are in the order that they had, not in that of keys. */
  isResorted?: boolean;
}

export interface ValueColumn extends TableColumn {
  /** Whether the values are levels, which have an order. */
  isLevel: boolean;
}

/** Returns the index of a column. The parser accepts only names of columns. */
export function columnIndex(columns: readonly ValueColumn[], name: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw new RangeError(`The table has no column ${name}.`);
  return index;
}

/** Before the name of a column: its times as epoch milliseconds. */
const TIME_OF = "time of ";

/** Whether a row of a table passes a filter, in steps that the meter ends. */
export type RowSteps = (row: readonly unknown[], meter: WorkMeter) => Generator<void, boolean>;

/** Tests the rows of a table like entries with a member for each column. @throws InvalidRegex */
export function rowStepsOf(filter: Filter, columns: readonly ValueColumn[], now: number): RowSteps {
  const steps = entryStepsOf(ofEntries(filter), now);
  return (row, meter) => {
    const members = columns.flatMap(({ name, type }, at): [string, unknown][] => {
      const value = row[at] ?? null;
      if (value === null) return [];
      if (type !== "time") return [[name, value]];
      const times = Array.isArray(value) ? value.map((each) => Date.parse(String(each))) : Date.parse(String(value));
      return [
        [name, value],
        [`${TIME_OF}${name}`, times],
      ];
    });
    return steps({ ...NO_ENTRY, data: Object.fromEntries(members) }, NO_PLACE, meter);
  };
}

const NO_ENTRY: Entry = { timestamp: "", level: "info", category: "", type: "", message: "" };
const NO_PLACE: EntryPlace = { timestamp: 0, receivedAt: 0, seq: 0, projectId: "", id: "" };

/** Returns a filter of columns as one of members of `data`. */
export function ofEntries(filter: Filter): Filter {
  switch (filter.kind) {
    case "field": {
      const { field, test } = filter;
      if (field.kind !== "column") return filter;
      if (test.kind === "anyOf") {
        const filters = test.tests.map((each) => ofEntries({ kind: "field", field, test: each }));
        return { kind: "or", filters };
      }
      const isOfTime =
        test.kind === "during" ||
        (test.kind === "compare" && test.value.kind === "time") ||
        (test.kind === "range" && test.from.kind === "time");
      return { kind: "field", field: { kind: "data", path: [`${isOfTime ? TIME_OF : ""}${field.name}`] }, test };
    }
    case "not":
      return { kind: "not", filter: ofEntries(filter.filter) };
    case "and":
    case "or":
      return { kind: filter.kind, filters: filter.filters.map(ofEntries) };
    default:
      return filter;
  }
}

const SEVERITY: ReadonlyMap<unknown, number> = new Map(LEVELS.map((level, severity) => [level, severity]));

/** Returns a value as rows are ordered by it: a number of its own for levels, else its JSON, as bytes. */
export function orderTexts(values: readonly unknown[], { isLevel }: ValueColumn): (number | string | null)[] {
  return values.map((value) => {
    if (value === null || value === undefined) return null;
    const severity = isLevel ? SEVERITY.get(value) : undefined;
    return severity ?? jsonBytes(value);
  });
}

/** Compares what `orderTexts` returns. Rows without a value come last, whatever the order. */
export function compareOrdered(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * compareTexts(String(a), String(b));
}

export function jsonBytes(value: unknown): string {
  return toByteString(JSON.stringify(value));
}

/** Returns the type of values. */
export function typeOfValues(values: Iterable<unknown>): ColumnType {
  let type: ColumnType = "null";
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const own = typeof value;
    const is = own === "string" || own === "number" || own === "boolean" ? own : "json";
    if (type !== "null" && type !== is) return "mixed";
    type = is;
  }
  return type;
}
