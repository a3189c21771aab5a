import { z } from "zod";
import { rowText } from "../logs/query/run-query.ts";
import type { SearchAnswer } from "../logs/search/search-query.ts";
import { type Cell, cellOf, type Table } from "./compact-table.ts";

/** Members of an entry by the names of the query language, in the order of the columns. */
const MEMBERS = [
  ["seq", "seq"],
  ["timestamp", "time"],
  ["level", "level"],
  ["service", "service"],
  ["host", "host"],
  ["category", "category"],
  ["type", "type"],
  ["session", "session"],
  ["traceId", "trace"],
  ["spanId", "span"],
  ["projectId", "project"],
  ["message", "message"],
  ["data", "data"],
] as const;

const entryShape = z.record(z.string(), z.unknown());
const rowShape = z.array(z.unknown());

/** Makes a table of the rows of an answer. */
export function tableOf(answer: SearchAnswer): Table {
  if (answer.kind === "entries") return entryTable(answer.rows.map((row) => textOfBytes(rowText(row))));
  const rows = answer.rows.map((row) => rowShape.parse(JSON.parse(textOfBytes(row))).map(cellOf));
  return { columns: answer.columns.map(({ name }) => name), rows, keepsColumns: true };
}

/** @param texts JSON of stored entries */
export function entryTable(texts: readonly string[]): Table {
  const rows = texts.map((text): Cell[] => {
    const entry = entryShape.parse(JSON.parse(text));
    return MEMBERS.map(([member]) => cellOf(entry[member]));
  });
  return { columns: MEMBERS.map(([, name]) => name), rows };
}

/** Rows of an answer are bytes of UTF-8, one character each. */
function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
