import { type SchemaColumn, TYPE } from "./parquet/metadata.ts";

/** The columns of a segment file. */

/** Members of a line between `timestamp` and `data`, in their order. The first four are in every line. */
export const TEXT_MEMBERS = ["level", "category", "type", "message", "session", "traceId", "spanId"] as const;

/** Type of a column of `data`. An integer is a safe integer; a column of numbers also takes integers. */
export type DataType = "text" | "integer" | "number" | "boolean";

/** A column that holds the values of one path in `data` that have its type. */
export interface DataColumn {
  /** Name in the file: `data.user.plan`; that of an own member is its own, see `isOwnColumn`. */
  name: string;
  /** Names from `data` inwards. */
  path: readonly string[];
  type: DataType;
}

const int64 = (name: string, meaning: "value" | "time"): SchemaColumn => ({
  name,
  type: TYPE.int64,
  meaning,
  isRequired: true,
});
const text = (name: string): SchemaColumn => ({ name, type: TYPE.bytes, meaning: "text", isRequired: false });

/** Columns of every file before those of `data`. */
export const LEADING_COLUMNS: readonly SchemaColumn[] = [
  int64("seq", "value"),
  int64("commit", "value"),
  int64("timestamp", "time"),
  int64("received_at", "time"),
  text("level"),
  text("category"),
  text("type"),
  text("message"),
  text("session"),
  text("trace_id"),
  text("span_id"),
  text("pattern"),
];

/** Columns of every file after those of `data`. */
const TRAILING_COLUMNS: readonly SchemaColumn[] = [text("shape"), text("rest")];

/** Index of the first column that holds a member of an entry: `level`. The others follow as in a line. */
export const FIRST_MEMBER_COLUMN = 4;

const PHYSICAL = { text: TYPE.bytes, integer: TYPE.int64, number: TYPE.double, boolean: TYPE.boolean } as const;

/** Returns the columns of a file in order. */
export function schemaOf(data: readonly DataColumn[]): SchemaColumn[] {
  const own = data.map(
    ({ name, type }): SchemaColumn => ({
      name,
      type: PHYSICAL[type],
      meaning: type === "text" ? "text" : "value",
      isRequired: false,
    }),
  );
  return [...LEADING_COLUMNS, ...own, ...TRAILING_COLUMNS];
}

/** Names of members that a column's name contains without quotes. */
const PLAIN_NAME = /^[^.[\]":\s]+$/;

/**
 * Returns the name of a column. Members are joined by dots; a member with a dot, a bracket, a colon, a quote or white
 * space is written `["http.status"]`, as in a query. No two paths have the same name.
 * @param type `null` for the column of the path's most frequent type; others are named `data.status:text`
 */
export function columnName(path: readonly string[], type: DataType | null): string {
  const names = path.map((name) => (PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`));
  return `data${names.join("")}${type === null ? "" : `:${type}`}`;
}

/**
 * Whether a column has the own member of its name. It has strings in the member of `data` of that name as well, of lines
 * without the own member.
 */
export function isOwnColumn({ name, path }: DataColumn): boolean {
  return name === path[0];
}

/** Returns a key that is equal for equal paths only. */
export function pathKey(path: readonly string[]): string {
  return JSON.stringify(path);
}
