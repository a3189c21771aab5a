import { LEVELS } from "../entry.ts";
import type { Field, OwnField } from "./fields.ts";

/** Percentiles by name, as values of a thousand. */
export const PERMILLES = { p50: 500, p75: 750, p90: 900, p95: 950, p99: 990, p999: 999 } as const;
// SAFETY: `Object.keys` of a literal gives exactly its keys.
export const PERCENTILES = Object.keys(PERMILLES) as [keyof typeof PERMILLES];

/** Functions that need a field. */
export const FIELD_FUNCTIONS = [
  "count_distinct",
  "sum",
  "avg",
  "min",
  "max",
  ...PERCENTILES,
  "first",
  "last",
  "values",
] as const;

export type AggregateFunction = "count" | "rate" | (typeof FIELD_FUNCTIONS)[number];

export interface Aggregation {
  fn: AggregateFunction;
  /** `null` if the function is about entries. */
  field: Field | null;
  /** Column of the result. */
  name: string;
}

/** What entries are grouped by: the value of a field, or a span of time. */
export type GroupKey = { name: string; field: Field } | ({ name: string } & Bin);

/** Spans of time in milliseconds, of which one begins at `offsetMs` after the epoch; absent: at the epoch. */
export interface Bin {
  binMs: number;
  offsetMs?: number;
}

/** Returns the start of the bin that contains a time, epoch milliseconds. */
export function binStart(time: number, { binMs, offsetMs = 0 }: Bin): number {
  return Math.floor((time - offsetMs) / binMs) * binMs + offsetMs;
}

/** States that are kept by group. Several columns may read one of them. */
export type MeasureKind = "present" | "sum" | "extremes" | "percentiles" | "distinct" | "first" | "last" | "values";

export interface MeasureSpec {
  kind: MeasureKind;
  /** Index in `fields`. */
  field: number;
}

/** How a column gets its values: from a key, from the number of entries, or from a measure. */
export type Column = { name: string } & (
  | { from: "key"; key: number }
  | { from: "entries" }
  | { from: "rate" }
  | { from: "measure"; measure: number; fn: Exclude<AggregateFunction, "rate"> }
);

/** A table of aggregations, prepared. */
export interface AggregatePlan {
  /** All fields that keys and aggregations read, each once. */
  fields: readonly Field[];
  /** Keys with the index of their field. */
  keys: readonly ({ field: number } | Bin)[];
  measures: readonly MeasureSpec[];
  columns: readonly Column[];
  /**
   * Values of a key from which on further ones count as null, so that a scan does not end at too many groups. Absent: it
   * ends.
   */
  maxValues?: number;
  /** Characters that `first` and `last` keep of a text. Absent: all. */
  edgeCharacters?: number;
  /** Seconds by which `rate` divides; `null` if no column needs it. */
  rateSeconds: number | null;
}

/** @param rateSeconds length of the time range; a bin's length takes its place */
export function planOf(
  keys: readonly GroupKey[],
  aggregations: readonly Aggregation[],
  rateSeconds: number | null,
): AggregatePlan {
  const fields: Field[] = [];
  const measures: MeasureSpec[] = [];
  const indexOf = (field: Field): number => {
    // Two names of one field, such as `status` and `data.status`, have one state.
    const known = fields.findIndex((other) => isSame(other, field));
    return known >= 0 ? known : fields.push(field) - 1;
  };
  const measureOf = (kind: MeasureKind, field: Field): number => {
    const index = indexOf(field);
    const known = measures.findIndex((measure) => measure.kind === kind && measure.field === index);
    return known >= 0 ? known : measures.push({ kind, field: index }) - 1;
  };
  const keyColumns = keys.map(({ name }, key): Column => ({ name, from: "key", key }));
  const columns = aggregations.map(({ fn, field, name }): Column => {
    if (fn === "rate") return { name, from: "rate" };
    if (field === null) return { name, from: "entries" };
    return { name, from: "measure", fn, measure: measureOf(measureKind(fn), field) };
  });
  const bin = keys.find((key) => "binMs" in key);
  return {
    keys: keys.map((key) => ("binMs" in key ? binOf(key) : { field: indexOf(key.field) })),
    fields,
    measures,
    columns: [...keyColumns, ...columns],
    rateSeconds: bin && "binMs" in bin ? bin.binMs / 1000 : rateSeconds,
  };
}

function binOf({ binMs, offsetMs = 0 }: Bin): Bin {
  return offsetMs === 0 ? { binMs } : { binMs, offsetMs };
}

function isSame(a: Field, b: Field): boolean {
  return a.own === b.own && JSON.stringify(a.paths) === JSON.stringify(b.paths);
}

function measureKind(fn: Exclude<AggregateFunction, "rate">): MeasureKind {
  switch (fn) {
    case "count":
      return "present";
    case "count_distinct":
      return "distinct";
    case "sum":
    case "avg":
      return "sum";
    case "min":
    case "max":
      return "extremes";
    case "first":
    case "last":
    case "values":
      return fn;
    default:
      return "percentiles";
  }
}

/** Whether sums and percentiles of an own field have a meaning: its values are numbers. */
export function isNumeric({ own }: Field): boolean {
  return own === null || own === "seq";
}

/** Own fields whose values have a numeric order: times as epoch milliseconds, levels by severity. */
const ORDERED_FIELDS: ReadonlySet<OwnField> = new Set(["seq", "time", "received", "level"]);

/** Whether `min` and `max` of a field have a meaning. */
export function isOrderedField({ own }: Field): boolean {
  return own === null || ORDERED_FIELDS.has(own);
}

const NUMERIC: ReadonlySet<AggregateFunction> = new Set(["sum", "avg", ...PERCENTILES]);

/** Whether a function of a field has a meaning. */
export function takes(fn: AggregateFunction, field: Field): boolean {
  if (fn === "min" || fn === "max") return isOrderedField(field);
  return !NUMERIC.has(fn) || isNumeric(field);
}

/** Returns the JSON text of an ordered own field's number: a time, a level or a number. */
export function orderedText(own: OwnField | null, value: number | null): string {
  if (value === null) return "null";
  if (own === "time" || own === "received") return `"${new Date(value).toISOString()}"`;
  return own === "level" ? `"${LEVELS[value] ?? ""}"` : String(value);
}
