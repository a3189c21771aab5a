import { type CompactTable, compact, csvOf, delimited, type Table } from "./compact-table.ts";
import { shortened } from "./log-text.ts";
import { tokensOf } from "./tokens.ts";

/** What every answer begins with. */
export interface Head {
  /** Entries that pass the filter, as far as they are known. */
  matched: number;
  /** Times that were searched, ISO 8601: `from..to`, without an end that is open; `all`. Absent if no times are searched. */
  range?: string;
  /** Rows in the answer. */
  returned: number;
  /** Whether rows are missing for which `next` or more `max_tokens` asks. */
  truncated: boolean;
  /** Whether `matched` and all values are exact. */
  exact: boolean;
  /** Repeats the question on the same entries. */
  as_of: string | null;
  /** Entries that clients numbered and that never arrived, noticed within the times that were searched. */
  gaps: number;
  /** Asks for the rows that follow. */
  next: string | null;
}

/** A table with the name that it has in an answer. */
export interface NamedTable extends Table {
  name: string;
}

/** An answer before it is cut. */
export interface Draft {
  head: Omit<Head, "returned" | "truncated" | "next">;
  /** A short table before the rows, such as the most frequent patterns. */
  first?: NamedTable | undefined;
  /** Words of the service: never of entries. */
  guide?: readonly string[];
  rows: Table;
  /** A column of `rows` whose values take no place of a row: the last rows, or all, are without them if there is none left. */
  spare?: string | undefined;
  /** Whether rows follow the last one of `rows`. */
  hasMore: boolean;
  /** Whether `next` is there also if no row is missing. */
  alwaysHasNext?: boolean;
  /** Characters of `next`, for the estimate before it is known; 120 if absent. */
  nextCharacters?: number;
  /** Returns `next` after some of the rows; `null` if nothing can follow them. */
  nextAfter: (rows: number) => string | null | Promise<string | null>;
  notes: readonly string[];
}

/** An answer as text and as structured content: each alone has at most the wanted tokens, and both have the same rows. */
export interface Answer {
  text: string;
  structured: Record<string, unknown>;
  head: Head;
}

/** Characters of a note. Notes may name members of entries. */
const NOTE_CHARACTERS = 400;
/** Notes of an answer. */
const NOTES = 8;
/** Rows that are considered; a token budget holds fewer. */
const MAX_ROWS = 2_000;
/** The part of the tokens that the first table may take. */
const FIRST_SHARE = 0.4;
/** Usual characters of `next`. */
const NEXT_CHARACTERS = 120;

/** Cuts an answer to a number of tokens: whole rows, in their order, as many as fit. At least one, whatever its size. */
export async function answerOf(draft: Draft, maxTokens: number): Promise<Answer> {
  const notes = draft.notes.slice(0, NOTES).map((note) => shortened(note, NOTE_CHARACTERS));
  const { guide = [] } = draft;
  const first = draft.first && { ...cutFirst(draft.first, maxTokens * FIRST_SHARE), name: draft.first.name };
  const all = { ...draft.rows, rows: draft.rows.rows.slice(0, MAX_ROWS) };
  const rowsOf = (count: number, whole: number): CompactTable =>
    compact(spared({ ...all, rows: all.rows.slice(0, count) }, draft.spare, whole));
  const fits = (count: number, whole: number): boolean => {
    const head = headOf(draft, count, "x".repeat(draft.nextCharacters ?? NEXT_CHARACTERS));
    const parts = { head, guide, notes, first, rows: rowsOf(count, whole) };
    return Math.max(tokensOf(textOf(parts)), tokensOf(JSON.stringify(structuredOf(parts)))) <= maxTokens;
  };
  const count = mostThat(all.rows.length, (rows) => fits(rows, 0));
  const whole = draft.spare === undefined ? 0 : mostThat(count, (rows) => fits(count, rows), 0);
  const isCut = count < draft.rows.rows.length || draft.hasMore || draft.alwaysHasNext === true;
  const head = headOf(draft, count, isCut ? await draft.nextAfter(count) : null);
  const parts = { head, guide, notes, first, rows: rowsOf(count, whole) };
  return { text: textOf(parts), structured: structuredOf(parts), head };
}

/** Leaves the values of a column out of the rows after the first `whole` ones; the column, too, if no row keeps its value. */
function spared(table: Table, name: string | undefined, whole: number): Table {
  const column = name === undefined ? -1 : table.columns.indexOf(name);
  if (column < 0) return table;
  if (table.rows.slice(0, whole).some((row) => (row[column] ?? null) !== null)) {
    const rows = table.rows.map((row, at) => (at < whole ? row : row.with(column, null)));
    return { ...table, rows };
  }
  const columns = table.columns.toSpliced(column, 1);
  return { ...table, columns, rows: table.rows.map((row) => row.toSpliced(column, 1)) };
}

interface Parts {
  head: Head;
  guide: readonly string[];
  notes: readonly string[];
  first: (CompactTable & { name: string }) | undefined;
  rows: CompactTable;
}

function headOf({ head, rows, hasMore }: Draft, returned: number, next: string | null): Head {
  const { matched, range, exact, as_of, gaps } = head;
  const truncated = hasMore || returned < rows.rows.length;
  return { matched, ...(range === undefined ? {} : { range }), returned, truncated, exact, as_of, gaps, next };
}

function cutFirst(table: Table, maxTokens: number): CompactTable {
  const cut = (count: number): CompactTable => compact({ ...table, rows: table.rows.slice(0, count) });
  return cut(mostThat(table.rows.length, (count) => tokensOf(JSON.stringify(cut(count))) <= maxTokens));
}

/** Returns the largest number up to `max` that fits, or `least`: 1 if there is one. Larger numbers never fit better. */
function mostThat(max: number, fits: (count: number) => boolean, least = Math.min(1, max)): number {
  let [low, high] = [least, max];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function textOf({ head, guide, notes, first, rows }: Parts): string {
  const log = [
    ...notes.map((note) => `note: ${note}`),
    ...(first ? [`${first.name}:`, ...csvOf(first), "rows:"] : []),
    ...csvOf(rows),
  ];
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value ?? "none"}`);
  return [...lines, ...guide, ...delimited(log)].join("\n");
}

function structuredOf({ head, guide, notes, first, rows }: Parts): Record<string, unknown> {
  const { name = "", ...table } = first ?? {};
  return {
    ...head,
    ...(guide.length > 0 ? { guide } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    ...(first ? { [name]: table } : {}),
    ...rows,
  };
}
