import type { StreamReport } from "../logs/ingest/stream-header.ts";
import { type LedgerCounts, MAX_COUNT } from "./ledger.ts";
import {
  advance,
  close,
  type ExplainedGap,
  explain,
  type GapReason,
  newStream,
  STREAM_IDLE_MS,
  type StreamState,
} from "./stream-state.ts";

/** The streams of clients, and the entries of them that never arrived. */
export const STREAM_SCHEMA = [
  `CREATE TABLE streams (
     -- Row: the stream of one process of a client, until it has sent nothing for 24 hours.
     project INTEGER NOT NULL,
     -- Random; made by the client.
     stream TEXT NOT NULL,
     -- \`key_...\` of its last request.
     key TEXT NOT NULL,
     -- The stream watermark: every number below has arrived or is in a gap.
     next INTEGER NOT NULL,
     -- Gaps that a late request can still fill, and what the client dropped: JSON; null without any.
     state TEXT,
     last_at INTEGER NOT NULL,
     PRIMARY KEY (project, stream)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE gaps (
     -- Row: consecutive numbers of a stream that never arrived, of one reason.
     project INTEGER NOT NULL,
     -- When a later number arrived.
     at INTEGER NOT NULL,
     stream TEXT NOT NULL,
     -- The first missing number.
     first INTEGER NOT NULL,
     count INTEGER NOT NULL,
     -- \`key_...\`
     key TEXT NOT NULL,
     -- \`retries\`, \`too-large\`, \`rejected\` or \`unknown\`.
     reason TEXT NOT NULL,
     -- \`seq\` of the first entry that was stored after the gap.
     before_seq INTEGER NOT NULL,
     PRIMARY KEY (project, at, stream, first)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Streams of a project. Further ones are not followed until others are idle. */
export const MAX_STREAMS = 1_000;
/** Milliseconds for which closed gaps are stored. */
export const GAP_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** Closed gaps of a project. The oldest of more are merged: one row of each key and reason has their sum. */
export const MAX_GAPS = 10_000;
/** Closed gaps that are merged at once. */
const MERGED_GAPS = 500;
/** Rows that one request deletes. */
const SWEEP_ROWS = 100;
/** Closed gaps of each project, at least. */
const gapCounts = new WeakMap<SqlStorage, Map<number, number>>();

type Row = { stream: string; key: string; next: number; state: string | null; last_at: number };

interface Touched {
  project: number;
  key: string;
  state: StreamState;
}

/** The reports of one transaction: a stream is read once, and written once at the end. */
export class StreamReports {
  readonly #sql: SqlStorage;
  readonly #now: number;
  readonly #counts: LedgerCounts;
  readonly #touched = new Map<string, Touched & { stream: string }>();

  /** @param counts takes what clients dropped before they sent it */
  constructor(sql: SqlStorage, now: number, counts: LedgerCounts) {
    this.#sql = sql;
    this.#now = now;
    this.#counts = counts;
  }

  /**
   * Adds the report of a request that was stored.
   * @param key id of its key
   * @param seq of its first entry
   */
  add(project: number, key: string, report: StreamReport, seq: number): void {
    const { stream } = report;
    const id = `${project} ${stream}`;
    const touched = this.#touched.get(id) ?? this.#open(project, key, report);
    if (touched === null) return;
    this.#touched.set(id, { ...touched, stream });
    const { counted, closed } = advance(touched.state, report, seq, this.#now);
    for (const [reason, entries] of counted) this.#counts.add(project, key, reason, entries);
    insertGaps(this.#sql, project, stream, key, closed);
    if (closed.length > 0) boundGaps(this.#sql, project, closed.length, this.#now);
  }

  write(): void {
    for (const { project, stream, key, state } of this.#touched.values()) {
      const { next, ...rest } = state;
      const isPlain = rest.gaps.length === 0 && Object.keys({ ...rest.drops, ...rest.explained }).length === 0;
      this.#sql.exec(
        `INSERT OR REPLACE INTO streams (project, stream, key, next, state, last_at) VALUES (?, ?, ?, ?, ?, ?)`,
        project,
        stream,
        key,
        next,
        isPlain ? null : JSON.stringify(rest),
        this.#now,
      );
    }
  }

  /** Returns the stream of a report; `null` if there are too many. */
  #open(project: number, key: string, report: StreamReport): Touched | null {
    const [row] = this.#sql.exec<Row>("SELECT * FROM streams WHERE project = ? AND stream = ?", project, report.stream);
    if (row !== undefined) return { project, key, state: stateOf(row) };
    this.#sweep(project);
    const [count] = this.#sql.exec<{ count: number }>(
      "SELECT COUNT(*) AS count FROM streams WHERE project = ?",
      project,
    );
    if ((count?.count ?? 0) >= MAX_STREAMS) return null;
    return { project, key, state: newStream(report, this.#now) };
  }

  /** Forgets some idle streams, whose gaps are closed then, and deletes some old gaps. */
  #sweep(project: number): void {
    const idle = this.#sql.exec<Row>(
      "SELECT * FROM streams WHERE project = ? AND last_at < ? LIMIT ?",
      project,
      this.#now - STREAM_IDLE_MS,
      SWEEP_ROWS,
    );
    let closed = 0;
    for (const row of [...idle]) {
      const state = stateOf(row);
      const gaps = close(state, state.gaps.length);
      insertGaps(this.#sql, project, row.stream, row.key, gaps);
      closed += gaps.length;
      this.#sql.exec("DELETE FROM streams WHERE project = ? AND stream = ?", project, row.stream);
    }
    boundGaps(this.#sql, project, closed, this.#now);
  }
}

/** Deletes some rows of a deleted project. @returns whether none is left */
export function deleteSomeStreams(sql: SqlStorage, project: number): boolean {
  let isDone = true;
  for (const [table, key] of [
    ["streams", "stream"],
    ["gaps", "at, stream, first"],
  ]) {
    const { rowsWritten } = sql.exec(
      `DELETE FROM ${table} WHERE project = ?1 AND (${key}) IN (SELECT ${key} FROM ${table} WHERE project = ?1 LIMIT 1000)`,
      project,
    );
    if (rowsWritten >= 1000) isDone = false;
  }
  return isDone;
}

/** A gap of a stream, as the ledger lists it. */
export interface StreamGap extends ExplainedGap {
  stream: string;
  /** `key_...` */
  key: string;
  /** Whether a late request can still fill it. */
  isOpen: boolean;
}

/**
 * Returns gaps of a project in the order of the ledger: the newest first, then by stream and number.
 * @param from,to epoch milliseconds: `from <= at < to`
 * @param after gaps up to this one are left out; its `at` is below `to`
 */
export function listGaps(
  sql: SqlStorage,
  project: number,
  { from, to }: { from: number; to: number },
  after: { at: number; stream: string; first: number } | null,
  limit: number,
): StreamGap[] {
  const start = after ?? { at: to, stream: "", first: -1 };
  const closed = sql
    .exec<GapRow>(
      `SELECT at, stream, first, count, key, reason, before_seq FROM gaps WHERE project = ?1 AND at >= ?2 AND at < ?3
         AND (at < ?4 OR (at = ?4 AND (stream, first) > (?5, ?6))) ORDER BY at DESC, stream, first LIMIT ?7`,
      project,
      from,
      to,
      start.at,
      start.stream,
      start.first,
      limit,
    )
    .toArray()
    .map(({ before_seq, reason, ...gap }): StreamGap => {
      // SAFETY: `insertGaps` is the only writer.
      return { ...gap, beforeSeq: before_seq, reason: reason as GapReason, isOpen: false };
    });
  const rows = sql.exec<Row>("SELECT * FROM streams WHERE project = ? AND state IS NOT NULL", project);
  const open = [...rows].flatMap((row): StreamGap[] =>
    explain(stateOf(row)).map((gap) => ({ ...gap, stream: row.stream, key: row.key, isOpen: true })),
  );
  return [...closed, ...open.filter(({ at }) => at >= from && at < to)]
    .sort(inOrder)
    .filter((gap) => after === null || inOrder(after, gap) < 0)
    .slice(0, limit);
}

function inOrder(
  a: { at: number; stream: string; first: number },
  b: { at: number; stream: string; first: number },
): number {
  return b.at - a.at || (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.first - b.first);
}

function insertGaps(
  sql: SqlStorage,
  project: number,
  stream: string,
  key: string,
  gaps: readonly ExplainedGap[],
): void {
  for (const { at, first, count, reason, beforeSeq } of gaps) {
    sql.exec(
      `INSERT OR REPLACE INTO gaps (project, at, stream, first, count, key, reason, before_seq)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      project,
      at,
      stream,
      first,
      count,
      key,
      reason,
      beforeSeq,
    );
  }
}

/** Deletes some old gaps of a project, and merges the oldest ones if it has too many. @param added rows since the last call */
function boundGaps(sql: SqlStorage, project: number, added: number, now: number): void {
  const oldest =
    "SELECT at, stream, first FROM gaps WHERE project = ?1 AND at < ?2 ORDER BY at, stream, first LIMIT ?3";
  const deleteOldest = `DELETE FROM gaps WHERE project = ?1 AND (at, stream, first) IN (${oldest})`;
  sql.exec(deleteOldest, project, now - GAP_KEPT_MS, SWEEP_ROWS);
  const counts = gapCounts.get(sql) ?? new Map<number, number>();
  gapCounts.set(sql, counts);
  const counted = () => Number(sql.exec("SELECT COUNT(*) AS n FROM gaps WHERE project = ?", project).one().n);
  const known = counts.get(project);
  let count = known === undefined ? counted() : known + added;
  // The count is too high after deletions.
  if (count > MAX_GAPS) count = counted();
  for (; count > MAX_GAPS; count = Math.min(count - 1, counted())) {
    const end = Number.MAX_SAFE_INTEGER;
    // The other columns are those of the newest row.
    const sums = sql
      .exec<GapRow>(
        `SELECT MAX(at) AS at, stream, first, MIN(SUM(count), ${MAX_COUNT}) AS count, key, reason, before_seq
         FROM (SELECT * FROM gaps WHERE project = ?1 ORDER BY at, stream, first LIMIT ?2) GROUP BY key, reason`,
        project,
        MERGED_GAPS,
      )
      .toArray();
    sql.exec(deleteOldest, project, end, MERGED_GAPS);
    for (const { stream, key, before_seq, ...sum } of sums) {
      // SAFETY: `insertGaps` is the only writer.
      insertGaps(sql, project, stream, key, [{ ...sum, beforeSeq: before_seq, reason: sum.reason as GapReason }]);
    }
  }
  counts.set(project, count);
}

type GapRow = {
  at: number;
  stream: string;
  first: number;
  count: number;
  key: string;
  reason: string;
  before_seq: number;
};

function stateOf({ next, state }: Row): StreamState {
  if (state === null) return { next, gaps: [], drops: {}, explained: {} };
  // SAFETY: `StreamReports` is the only writer.
  return { next, ...(JSON.parse(state) as Omit<StreamState, "next">) };
}
