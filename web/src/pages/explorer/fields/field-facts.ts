import type { Scalar } from "../filters.ts";

/** Values of a field that are loaded with it. */
export const TOP_VALUES = 10;

export interface ValueCount {
  value: Scalar;
  /** Entries that have it. */
  count: number;
}

/** A field of the entries that a query finds. */
export interface FieldFacts {
  /** As queries name it. */
  name: string;
  type: string;
  /** Entries that have it. */
  entries: number;
  /** The most frequent values, at most `TOP_VALUES`. */
  values: readonly ValueCount[];
}

export interface Fields {
  fields: readonly FieldFacts[];
  /** Entries of the query. */
  matched: number;
  /** `false` if the service did not read all of them, so that counts are lower bounds. */
  complete: boolean;
}

/** The answer to a query that makes a table, as far as it is read. */
export interface TableAnswer {
  rows: unknown[][];
  matched: number;
  complete: boolean;
}

/** Reads the table of `facets`: a row for each value, those of a field together. */
export function fieldsOf({ rows, matched, complete }: TableAnswer): Fields {
  const fields = new Map<string, FieldFacts & { values: ValueCount[] }>();
  for (const [name, type, entries, value, count] of rows) {
    if (typeof name !== "string" || typeof type !== "string" || typeof entries !== "number") continue;
    const field = fields.get(name) ?? { name, type, entries, values: [] };
    fields.set(name, field);
    if (typeof count === "number" && isScalar(value) && value !== null) field.values.push({ value, count });
  }
  return { fields: [...fields.values()], matched, complete };
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
