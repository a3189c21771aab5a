/**
 * The abstract syntax of a query: plain data that JSON can carry. `parse` produces it, `print` writes it as text.
 */

export const LEVEL_NAMES = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
export type LevelName = (typeof LEVEL_NAMES)[number];

/** Members of an entry that have a name of their own in queries. All other names are members of `data`. */
export const OWN_FIELDS = [
  "level",
  "category",
  "type",
  "message",
  "time",
  "received",
  "seq",
  "session",
  "trace",
  "span",
  "service",
  "host",
  "project",
  "id",
  "pattern",
] as const;
export type OwnField = (typeof OWN_FIELDS)[number];

/** A field of an entry, or after a pipe that makes a table, a column. */
export type Field =
  | { kind: "own"; name: OwnField }
  /** A member of `data`: names, and numbers for the elements of arrays. */
  | { kind: "data"; path: (string | number)[] }
  | { kind: "column"; name: string };

export type Comparison = "<" | "<=" | ">" | ">=";

/** A point in time, or a period such as a day. */
export type TimeValue =
  /** So many milliseconds before the query. */
  | { kind: "ago"; ms: number }
  /** Epoch milliseconds from `from` to `to`, which is excluded. */
  | { kind: "period"; from: number; to: number };

/** A value that has an order. */
export type Scalar =
  | { kind: "number"; value: number }
  | { kind: "level"; level: LevelName }
  | { kind: "time"; time: TimeValue };

export interface Regex {
  kind: "regex";
  source: string;
  ignoreCase: boolean;
}

/** `*` stands for any characters, also none. */
export interface Wildcard {
  kind: "wildcard";
  pattern: string;
}

/** A test of a field's value. */
export type ValueTest =
  /** The value is this text, whatever the case, or the number or boolean of this spelling. */
  | { kind: "is"; text: string }
  /** The value is exactly this string. */
  | { kind: "exact"; text: string }
  | { kind: "exists" }
  | { kind: "compare"; operator: Comparison; value: Scalar }
  /** Both ends are included, except the end of a time. */
  | { kind: "range"; from: Scalar; to: Scalar }
  /** Of the field `time` or `received`: within the period, or since so many milliseconds before the query. */
  | { kind: "during"; time: TimeValue }
  | { kind: "anyOf"; tests: ValueTest[] }
  | Wildcard
  | Regex;

/** A test of the message and of all strings, numbers and booleans in `data`. */
export type TextTest = { kind: "contains"; text: string } | Wildcard | Regex;

export type Filter =
  | { kind: "all" }
  | { kind: "text"; test: TextTest }
  | { kind: "field"; field: Field; test: ValueTest }
  | { kind: "not"; filter: Filter }
  | { kind: "and" | "or"; filters: Filter[] };

export const AGGREGATE_FUNCTIONS = [
  "count",
  "count_distinct",
  "sum",
  "avg",
  "min",
  "max",
  "p50",
  "p75",
  "p90",
  "p95",
  "p99",
  "p999",
  "first",
  "last",
  "values",
  "rate",
] as const;
export type AggregateFunction = (typeof AGGREGATE_FUNCTIONS)[number];

export interface Aggregate {
  fn: AggregateFunction;
  /** `null` only for `count` and `rate`. */
  field: Field | null;
  /** Name of the column; `null`: as written, `p99(ms)`. */
  as: string | null;
}

/** What rows are grouped by. */
export type Key = { kind: "field"; field: Field } | { kind: "bin"; ms: number };

export type Pipe =
  | { kind: "where"; filter: Filter }
  | { kind: "count"; by: Key[] }
  | { kind: "stats"; aggregates: Aggregate[]; by: Key[] }
  | { kind: "top" | "rare"; limit: number | null; by: Key[] }
  /** `versus`: milliseconds between the two compared periods. */
  | { kind: "patterns"; limit: number | null; versus: number | null }
  | { kind: "facets"; limit: number | null }
  | { kind: "fields"; fields: Field[] }
  | { kind: "sort"; by: Field; order: "asc" | "desc" }
  | { kind: "limit"; limit: number }
  /** Entries before and after each match. */
  | { kind: "context"; entries: number };

export interface Query {
  filter: Filter;
  pipes: Pipe[];
}

export function joined(kind: "and" | "or", filters: readonly Filter[]): Filter {
  const flat = filters.flatMap((filter) => (filter.kind === kind ? filter.filters : [filter]));
  const [only] = flat;
  return flat.length === 1 && only ? only : { kind, filters: flat };
}
