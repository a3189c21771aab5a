import { visible } from "../terminal.ts";
import { jsonLine, type StoredEntry } from "./pretty.ts";
import type { Table } from "./table.ts";

/** Members of an entry as columns of CSV. New ones come last. */
const MEMBERS = [
  "timestamp",
  "level",
  "category",
  "type",
  "message",
  "session",
  "traceId",
  "data",
  "service",
  "host",
] as const;

/** Formats an entry as a row of CSV; `null`: the header. */
export function entryCsv(entry: StoredEntry | null): string {
  return row(MEMBERS.map((name) => (entry === null ? name : entry[name])));
}

/** Formats a table as CSV (RFC 4180) with a header. Missing values are empty. */
export function csvLines({ columns, rows }: Table): string[] {
  return [columns.map(({ name }) => name), ...rows].map(row);
}

function row(values: readonly unknown[]): string {
  return values.map(cell).join(",");
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? visible(value) : jsonLine(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
