import { record } from "./api.ts";
import { jsonLine, paint, shown } from "./pretty.ts";

/** Maximum characters of a cell on a terminal. */
const CELL = 60;

interface Column {
  name: string;
  /** Whether values are aligned to the right. */
  isNumber: boolean;
}

/** Formats a table of aggregations: aligned columns, or with `json` one object for each row. */
export function tableLines(answer: unknown, json: boolean, colors: boolean): string[] {
  const data = record(answer);
  const columns = (Array.isArray(data?.columns) ? data.columns : []).map((value): Column => {
    const column = record(value);
    return { name: String(column?.name), isNumber: column?.type === "number" };
  });
  const rows = (Array.isArray(data?.rows) ? data.rows : []).filter((row) => Array.isArray(row));
  if (json) return rows.map((row) => jsonLine(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]))));
  const cells = rows.map((row) => columns.map((_, at) => cellOf(row[at])));
  const names = columns.map(({ name }) => shown(name));
  const widths = names.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (columns[at]?.isNumber ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  return [paint(line(names), "2", colors), ...cells.map(line)];
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "-";
  const text = shown(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > CELL ? `${text.slice(0, CELL - 1)}…` : text;
}
