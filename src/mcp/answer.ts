import { type Cell, type CompactTable, compact, csvOf, delimited, type Table } from "./compact-table.ts";
import { cutVisible, shortened } from "./log-text.ts";

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
  /** Further words of the service, which follow `guide`. The last ones are left out where a row has no place beside them. */
  card?: readonly string[];
  rows: Table;
  /** A column of `rows` whose values take no place of a row: the last rows, or all, are without them if there is none left. */
  spare?: string | undefined;
  /** Whether rows follow the last one of `rows`. */
  hasMore: boolean;
  /** Whether `next` is there also if no row is missing. */
  alwaysHasNext?: boolean;
  /** Maximum characters of `next`, for the estimate before it is known; 120 if absent. */
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
/** Characters of `next`. */
const NEXT_CHARACTERS = 120;
/** Maximum characters of each text, in turn, where a row does not fit otherwise. */
const TEXT_CHARACTERS = [400, 160, 60, 20] as const;

/**
 * Cuts an answer to a number of tokens: whole rows, in their order, as many as fit. At least one: where it does not fit, lines
 * of the card are left out, then all texts are cut, and a note states so.
 */
export async function answerOf(given: Draft, maxTokens: number): Promise<Answer> {
  const draft = draftOfOneRow(given, maxTokens);
  const partsOf = partsWithin(draft, maxTokens);
  const rows = Math.min(draft.rows.rows.length, MAX_ROWS);
  const fits = (count: number, whole: number): boolean => tokensOfParts(partsOf(count, whole)) <= maxTokens;
  const count = mostThat(rows, (some) => fits(some, 0));
  const whole = draft.spare === undefined ? 0 : mostThat(count, (some) => fits(count, some), 0);
  const parts = partsOf(count, whole);
  const head = headOf(draft, count, isCutAfter(draft, count) ? await draft.nextAfter(count) : null);
  const final = { ...parts, head };
  return { text: textOf(final), structured: structuredOf(final), head };
}

/** Returns what makes the parts of an answer with some rows, of which the first ones keep the spare column. `next` is a placeholder. */
function partsWithin(draft: Draft, maxTokens: number): (count: number, whole: number) => Parts {
  const { guide = [], card = [], notes } = draft;
  const first = draft.first && { ...cutFirst(draft.first, maxTokens * FIRST_SHARE), name: draft.first.name };
  return (count, whole) => {
    const next = isCutAfter(draft, count) ? "none".padEnd(draft.nextCharacters ?? NEXT_CHARACTERS, "x") : null;
    const table = { ...draft.rows, rows: draft.rows.rows.slice(0, count) };
    const rows = compact(spared(table, draft.spare, whole));
    return { head: headOf(draft, count, next), guide: [...guide, ...card], notes, first, rows };
  };
}

function isCutAfter({ rows, hasMore, alwaysHasNext }: Draft, count: number): boolean {
  return count < rows.rows.length || hasMore || alwaysHasNext === true;
}

/** Returns a draft of which one row fits, or the shortest one. */
function draftOfOneRow(given: Draft, maxTokens: number): Draft {
  const notes = given.notes.slice(0, NOTES).map((note) => shortened(note, NOTE_CHARACTERS));
  const { card = [] } = given;
  let draft: Draft = { ...given, notes };
  const fits = () => {
    const one = Math.min(1, draft.rows.rows.length);
    return tokensOfParts(partsWithin(draft, maxTokens)(one, 0)) <= maxTokens;
  };
  for (let lines = card.length; lines >= 0; lines--) {
    draft = { ...draft, card: card.slice(0, lines) };
    if (fits()) return draft;
  }
  for (const characters of TEXT_CHARACTERS) {
    draft = withCutTexts({ ...draft, notes }, characters);
    if (fits()) return draft;
  }
  return draft;
}

function withCutTexts(draft: Draft, characters: number): Draft {
  const cut = (cell: Cell) => (typeof cell === "string" ? cutVisible(cell, characters) : cell);
  const cutTable = <T extends Table>(table: T): T => ({ ...table, rows: table.rows.map((row) => row.map(cut)) });
  const note = `Texts are cut to ${characters} characters: a row does not fit into max_tokens otherwise.`;
  return {
    ...draft,
    first: draft.first && cutTable(draft.first),
    rows: cutTable(draft.rows),
    notes: [note, ...draft.notes.map((each) => cutVisible(each, characters))],
  };
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
  // Doubles first, so that no try takes much longer than what fits.
  for (let size = 32; size < high; size *= 2) {
    if (fits(size)) low = size;
    else high = size - 1;
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function tokensOfParts(parts: Parts): number {
  return Math.max(tokensOf(textOf(parts)), tokensOf(JSON.stringify(structuredOf(parts))));
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

/** Bytes of UTF-8 that count as one token. Tokenizers need 2.5 to 4 for ids, numbers and English words. */
const BYTES_PER_TOKEN = 3;

/** Estimates the tokens of a text: one for each 3 bytes of UTF-8, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / BYTES_PER_TOKEN);
}
