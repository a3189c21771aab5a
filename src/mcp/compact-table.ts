import { LOG_TEXT, shortened } from "./log-text.ts";

/** A value of a row. Strings are log text whose hidden characters are visible: `cellOf` makes them. */
export type Cell = string | number | boolean | null;

/** Rows for an agent. */
export interface Table {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Whether all columns stay where they are: those that a question names, whatever their values. */
  keepsColumns?: boolean;
}

/** A table without the columns that have one value: `common` has these. */
export interface CompactTable {
  common: Record<string, Cell>;
  columns: string[];
  rows: Cell[][];
}

/** Maximum characters of a text in a row, escapes included, so that one entry does not take the place of all others. */
const CELL_CHARACTERS = 1_000;
/** Maximum characters of the name of a column. */
const NAME_CHARACTERS = 100;

/** Moves columns with one value to `common`, and leaves out columns without any, unless the table keeps its columns. */
export function compact({ columns, rows, keepsColumns = false }: Table): CompactTable {
  const names = columns.map((name) => shortened(name, NAME_CHARACTERS));
  const common: Record<string, Cell> = {};
  const kept: number[] = [];
  for (const [index, name] of names.entries()) {
    const [first = null] = rows[0]?.slice(index, index + 1) ?? [];
    const isOne = !keepsColumns && rows.every((row) => (row[index] ?? null) === first);
    if (!isOne || (rows.length === 1 && first !== null)) kept.push(index);
    else if (first !== null) common[name] = first;
  }
  return {
    common,
    columns: kept.map((index) => names[index] ?? ""),
    rows: rows.map((row) => kept.map((index) => row[index] ?? null)),
  };
}

/** Returns a value of an entry or of a table as a cell; objects and arrays as JSON. */
export function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "boolean") return value;
  return shortened(typeof value === "string" ? value : JSON.stringify(value), CELL_CHARACTERS);
}

/** Writes a table as lines of CSV: first what all rows have in common, then the names, then the rows. */
export function csvOf({ common, columns, rows }: CompactTable): string[] {
  const shared = Object.entries(common).map(([name, value]) => `${csvName(name)}=${csvCell(value)}`);
  return [
    ...(shared.length > 0 ? [`common: ${shared.join(", ")}`] : []),
    ...(columns.length > 0 ? [columns.map(csvName).join(",")] : []),
    ...(columns.length > 0 ? rows.map((row) => row.map(csvCell).join(",")) : []),
  ];
}

const PLAIN_NAME = /^[\p{L}\p{N}_.()@$-]+$/u;

function csvName(name: string): string {
  return PLAIN_NAME.test(name) ? name : csvCell(name);
}

/** Texts are always quoted, so no line of a table begins with what a client chose. */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  return typeof cell === "string" ? `"${cell.replaceAll('"', '""')}"` : String(cell);
}

/** Returns the lines of log text between the lines that delimit it; none without log text. */
export function delimited(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [LOG_TEXT.notice, LOG_TEXT.open, ...lines, LOG_TEXT.close];
}
