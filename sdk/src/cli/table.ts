import { jsonLine, paint, shown } from "./pretty.ts";
import { record } from "./record.ts";
import { formatTime, timeZone } from "./time.ts";

/** Maximum characters of a cell on a terminal. */
const CELL = 60;

export interface Table {
  columns: readonly { name: string; type: string }[];
  rows: readonly (readonly unknown[])[];
}

/** Reads a table of an answer. */
export function readTable(answer: unknown): Table {
  const data = record(answer);
  const columns = (Array.isArray(data?.columns) ? data.columns : []).map((value) => {
    const column = record(value);
    return { name: String(column?.name), type: String(column?.type) };
  });
  return { columns, rows: (Array.isArray(data?.rows) ? data.rows : []).filter((row) => Array.isArray(row)) };
}

/**
 * Formats a table: aligned columns with times in the zone of this machine, as entries have them, or with `json` one object
 * for each row.
 */
export function tableLines({ columns, rows }: Table, json: boolean, colors: boolean): string[] {
  if (json) return rows.map((row) => jsonLine(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]))));
  const cells = rows.map((row) => columns.map(({ type }, at) => cellOf(row[at], type)));
  const names = columns.map(({ name, type }) => shown(type === "time" ? `${name} (${timeZone()})` : name));
  const widths = names.map((name, at) => cells.reduce((most, row) => Math.max(most, widthOf(row[at])), widthOf(name)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => {
        const padding = " ".repeat((widths[at] ?? 0) - widthOf(cell));
        return columns[at]?.type === "number" ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  return [paint(line(names), "2", colors), ...cells.map(line)];
}

/** Columns of a terminal that a text takes: letters of East Asia and pictures take two. */
export function widthOf(text = ""): number {
  let width = 0;
  for (const char of text) width += WIDE.test(char) ? 2 : /\p{Mn}/u.test(char) ? 0 : 1;
  return width;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

function cellOf(value: unknown, type: string): string {
  if (value === null || value === undefined) return "-";
  if (type === "time" && typeof value === "string") return shown(formatTime(value));
  const text = shown(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > CELL ? `${text.slice(0, CELL - 1)}…` : text;
}
