import type { Field, Filter, ValueTest } from "../../query-language/syntax.ts";
import type { ColumnType, TableColumn } from "../aggregate/table.ts";
import { compareTexts } from "../aggregate/values.ts";
import { LEVELS } from "../entry.ts";
import { toByteString } from "../query/case-folding.ts";
import { someItem } from "./data-values.ts";
import { valueTestOf } from "./entry-test.ts";

/** A table in memory. */
export interface ValueTable {
  columns: readonly ValueColumn[];
  /** JSON values. Null: the row has no value there. */
  rows: readonly (readonly unknown[])[];
  /** What to know about the values. */
  notes: readonly string[];
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

/** Returns whether a row of a table passes a filter. @throws InvalidRegex */
export function rowTest(
  filter: Filter,
  columns: readonly ValueColumn[],
  now: number,
): (row: readonly unknown[]) => boolean {
  switch (filter.kind) {
    case "all":
      return () => true;
    case "and": {
      const tests = filter.filters.map((each) => rowTest(each, columns, now));
      return (row) => tests.every((test) => test(row));
    }
    case "or": {
      const tests = filter.filters.map((each) => rowTest(each, columns, now));
      return (row) => tests.some((test) => test(row));
    }
    case "not": {
      const test = rowTest(filter.filter, columns, now);
      return (row) => !test(row);
    }
    case "text":
      throw new RangeError("A table has columns and no text.");
    case "field": {
      const index = columnIndex(columns, filter.field.kind === "column" ? filter.field.name : "");
      const test = cellTest(filter.field, filter.test, now);
      return (row) => {
        const value = row[index] ?? null;
        return value !== null && (test(value) || (Array.isArray(value) && someItem(value, test)));
      };
    }
  }
}

/** Tests of times read the times of a table, which are texts. */
function cellTest(field: Field, test: ValueTest, now: number): (value: unknown) => boolean {
  if (test.kind === "anyOf") {
    const tests = test.tests.map((each) => cellTest(field, each, now));
    return (value) => tests.some((each) => each(value));
  }
  const passes = valueTestOf(field, test, now);
  const isOfTime =
    test.kind === "during" ||
    (test.kind === "compare" && test.value.kind === "time") ||
    (test.kind === "range" && test.from.kind === "time");
  return isOfTime ? (value) => typeof value === "string" && passes(Date.parse(value)) : passes;
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
