import type { Hint } from "../../query-language/hints.ts";
import type { Query } from "../../query-language/syntax.ts";
import type { SeqSource } from "../../tail/context.ts";
import type { TableColumn } from "../aggregate/table.ts";
import { type Cursor, encodeAsOf } from "../query/cursor.ts";
import type { LogFilter } from "../query/filter.ts";
import { type QueryFailure, rowText } from "../query/run-query.ts";
import { type Row, rowBytes } from "../query/top-rows.ts";
import type { StatsSource } from "../stats/count-entries.ts";
import type { TableReading } from "../stats/run-table.ts";
import { SUMMARY_BUCKET_MS } from "../summary.ts";
import type { ComparedMembers } from "./data-values.ts";
import { jsonBytes } from "./value-table.ts";

/** A query of the query language as the router runs it. */
export interface SearchQuery {
  query: Query;
  /** The time from which relative times count, epoch milliseconds: that of the snapshot or of the cursor, if there is one. */
  now: number;
  projectId: string | null;
  /** Epoch milliseconds: `from <= timestamp < to`, besides what the query states. */
  from: number | null;
  to: number | null;
  /** Commit number of the snapshot; that of the cursor, if there is one. `null`: the newest one. */
  asOf: number | null;
  /** Whether this request itself chose `asOf`: the newest commit at its start. */
  isNewest?: boolean;
  /** Entries of a page. Tables have `MAX_ROWS` rows, whatever this is. */
  limit: number;
  cursor: Cursor | null;
  /**
   * Whether rows of `patterns` also have `first` and `last`, the times of the first and the last entry, and `example`, the
   * beginning of the message of the last one. With `vs` those of the period before for patterns that it alone has.
   */
  describesPatterns?: boolean;
  /** On the text of the query. */
  hints?: readonly Hint[];
}

interface Answered {
  /** Entries that pass the filter. Without a table as far as they were read, with those of the pages before. */
  matched: number;
  /** Entries whose lines, columns or stored counts were examined. */
  scanned: number;
  /** `false` if a bound of work or memory ended the scan. */
  complete: boolean;
  /**
   * Whether `matched` counts all entries that pass the filter, all values of a table are exact for the entries that were
   * counted, and a table of `fields` has all of them.
   */
  exact: boolean;
  /** The snapshot, and the time from which relative times counted. */
  asOf: string;
  notes: string[];
  tookMs: number;
}

/** `matches`: places in `rows` of the entries that matched, if the others are their neighbours. */
export type EntriesAnswer = Answered & { kind: "entries"; rows: Row[]; nextCursor: string | null; matches?: number[] };
/** `rows`: JSON arrays, bytes of UTF-8, one character each. */
export type TableAnswer = Answered & { kind: "table"; columns: TableColumn[]; rows: string[] };
export type SearchAnswer = EntriesAnswer | TableAnswer;

export type SearchFailure =
  | { ok: false; reason: QueryFailure }
  /** The query cannot be run: `message` states why. */
  | { ok: false; reason: "invalid_query"; message: string };

/** The times that a query searches, ISO 8601: `from <= timestamp < to`. `null`: from the oldest entry, or to the newest. */
export interface SearchedRange {
  from: string | null;
  to: string | null;
}

/** `work`: work units used. */
export type SearchResult = { ok: true; answer: SearchAnswer & { range: SearchedRange }; work: number } | SearchFailure;

/** The result of a part of a search. */
export type Found<Answer> = { ok: true; answer: Answer } | SearchFailure;

/** What a search reads. */
export interface SearchSource extends StatsSource {
  /** Reads a project by `seq`, as a part of a request that is counted already. */
  bySeq(projectId: string): SeqSource;
}

/** A search that runs. */
export interface SearchRun {
  reading: TableReading;
  source: SearchSource;
  wanted: SearchQuery;
  filter: LogFilter;
  /** Epoch milliseconds. */
  startedAt: number;
  /** What comparisons of entries meet in place of numbers. */
  compared: ComparedMembers;
}

/** Returns the times that a filter leaves to be searched. */
export function rangeOf({ from, to }: LogFilter): SearchedRange {
  const text = (time: number | null) =>
    time === null || Math.abs(time) > LAST_INSTANT ? null : new Date(time).toISOString();
  return { from: text(from), to: text(to) };
}

/** The last time that a `Date` has, epoch milliseconds. */
const LAST_INSTANT = 8_640_000_000_000_000;

/** Returns the members of an answer that name the snapshot, with a note on what it no longer has. */
export function snapshotOf(
  { wanted, filter, startedAt }: SearchRun,
  { commit, oldest }: { commit: number; oldest: number },
) {
  const isRepeated = wanted.asOf !== null && wanted.isNewest !== true && wanted.cursor === null;
  // The cutoff rises at full minutes. As long as it has not, the answer is the one of before.
  const hasRisen = Math.floor(startedAt / SUMMARY_BUCKET_MS) > Math.floor(wanted.now / SUMMARY_BUCKET_MS);
  const isLess = isRepeated && hasRisen && oldest > 0 && (filter.from === null || filter.from < oldest);
  return { asOf: encodeAsOf(commit, wanted.now), notes: isLess ? [expiredNote(oldest)] : [] };
}

/** States only the end: the retention may have been shortened, so when the cutoff was where is not known. */
function expiredNote(before: number): string {
  return `Entries before ${new Date(before).toISOString()} have expired, some of them possibly since \`asOf\`.`;
}

/** Yields the JSON of an answer in parts: bytes of UTF-8, one character each. */
export function* searchTexts(answer: SearchAnswer): Generator<string> {
  if (answer.kind === "entries") {
    const { kind, rows, nextCursor, ...rest } = answer;
    yield `{"kind":"${kind}","logs":[`;
    for (const [index, row] of rows.entries()) yield index === 0 ? rowText(row) : `,${rowText(row)}`;
    yield `],${jsonBytes({ nextCursor, ...rest }).slice(1)}`;
    return;
  }
  const { kind, columns, rows, ...rest } = answer;
  yield `{"kind":"${kind}","columns":${jsonBytes(columns)},"rows":[`;
  for (const [index, row] of rows.entries()) yield index === 0 ? row : `,${row}`;
  yield `],${jsonBytes(rest).slice(1)}`;
}

/** Returns the bytes that an answer holds until it is sent. */
export function searchBytes(answer: SearchAnswer): number {
  if (answer.kind === "entries") return answer.rows.reduce((sum, row) => sum + rowBytes(row), 0);
  return answer.rows.reduce((sum, row) => sum + row.length, 0);
}
