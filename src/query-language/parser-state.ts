import type { QueryReader } from "./reader.ts";
import type { TableColumn } from "./table-columns.ts";

/** Limits of a query. */
export const QUERY_LIMITS = {
  /** Bytes of UTF-8. */
  bytes: 8192,
  /** Parentheses and negations within each other. */
  depth: 64,
  /** Tests of fields and texts; each value of a list counts. */
  atoms: 200,
} as const;

/** What the parts of a parser share. */
export interface ParserState {
  readonly reader: QueryReader;
  /** Columns of the table that the pipes before make; `null`: entries. */
  columns: readonly TableColumn[] | null;
  atoms: number;
  /** Names before this position are no field: the path that they belong to has no value behind it. */
  textUntil: number;
}
