import { HOUR_MS, LEDGER_REASONS, type LedgerReason } from "./ledger.ts";
import type { GapReason } from "./stream-state.ts";
import { listGaps, type StreamGap } from "./streams.ts";

/** Why entries are in the ledger. */
export type LostReason = LedgerReason | GapReason;
/** All of them: those of counts first, then the one of gaps alone. */
export const LOST_REASONS = [...LEDGER_REASONS, "too-large"] as const satisfies LostReason[];

/** A row of the ledger: entries of one hour and reason, or a gap in the stream of a client. */
export interface LedgerItem {
  /** Beginning of the hour, or when the gap was noticed; epoch milliseconds. */
  at: number;
  reason: LostReason;
  entries: number;
  /** `key_...` */
  keyId: string;
  /** Requests that were counted; `null` for a gap. */
  requests: number | null;
  gap: { stream: string; first: number; beforeSeq: number; isOpen: boolean } | null;
}

export interface LedgerPage {
  items: LedgerItem[];
  /** Start of the next page; `null` at the end. */
  next: string | null;
}

/** Times of a ledger, epoch milliseconds: `from <= at < to`. Counts belong to an hour, which is listed if it overlaps. */
export interface LedgerSpan {
  from: number;
  to: number;
  /** Only rows of this kind. */
  kind?: LedgerKind | undefined;
}

export const LEDGER_KINDS = ["count", "gap"] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

interface Position {
  counts: { hour: number; key: string; reason: string };
  gaps: { at: number; stream: string; first: number } | null;
}

const OF_COUNT = /^c\.(\d{1,9})\.(key_[0-9A-Za-z]{12})\.([a-z-]{1,20})$/;
const OF_GAP = /^g\.(\d{1,15})\.([\w-]{8,64})\.(\d{1,16})$/;
/** After every key. */
const LAST_KEY = "\uffff";

/**
 * Returns a page, newest first; counts of an hour come before gaps of the same time.
 * @param cursor `next` of the previous page; `null` for the first
 * @returns `null` for a cursor that no page gave
 */
export function readLedger(
  sql: SqlStorage,
  project: number,
  span: LedgerSpan,
  cursor: string | null,
  limit: number,
): LedgerPage | null {
  const position = positionOf(cursor, span);
  if (position === null) return null;
  const { hour, key, reason } = position.counts;
  const counts = sql
    .exec<{ hour: number; key: string; reason: string; entries: number; requests: number }>(
      `SELECT hour, key, reason, entries, requests FROM ledger WHERE project = ?1 AND hour >= ?2 AND hour <= ?3
         AND (hour < ?3 OR (key, reason) > (?4, ?5)) ORDER BY hour DESC, key, reason LIMIT ?6`,
      project,
      Math.floor(span.from / HOUR_MS),
      hour,
      key,
      reason,
      limit + 1,
    )
    .toArray();
  const items = [
    ...(span.kind === "gap" ? [] : counts).map((row): LedgerItem => {
      const { key: keyId, entries, requests } = row;
      // SAFETY: `LedgerCounts` is the only writer.
      return { at: row.hour * HOUR_MS, reason: row.reason as LedgerReason, entries, keyId, requests, gap: null };
    }),
    ...(span.kind === "count" ? [] : listGaps(sql, project, span, position.gaps, limit + 1)).map(itemOf),
  ].sort((a, b) => b.at - a.at || Number(a.gap !== null) - Number(b.gap !== null));
  const page = items.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next: items.length > limit && last !== undefined ? cursorOf(last) : null };
}

function itemOf({ at, reason, count, key, stream, first, beforeSeq, isOpen }: StreamGap): LedgerItem {
  return { at, reason, entries: count, keyId: key, requests: null, gap: { stream, first, beforeSeq, isOpen } };
}

function cursorOf({ at, keyId, reason, gap }: LedgerItem): string {
  return gap === null ? `c.${at / HOUR_MS}.${keyId}.${reason}` : `g.${at}.${gap.stream}.${gap.first}`;
}

function positionOf(cursor: string | null, { to }: LedgerSpan): Position | null {
  if (cursor === null) return { counts: { hour: Math.ceil(to / HOUR_MS), key: LAST_KEY, reason: "" }, gaps: null };
  const [, hour, key = "", reason = ""] = OF_COUNT.exec(cursor) ?? [];
  if (hour !== undefined) {
    const at = Number(hour) * HOUR_MS;
    return { counts: { hour: Number(hour), key, reason }, gaps: { at, stream: "", first: -1 } };
  }
  const [, at, stream = "", first] = OF_GAP.exec(cursor) ?? [];
  if (at === undefined) return null;
  // Counts of the hour that begins at the time of the gap have been listed before it.
  const next = Math.ceil(Number(at) / HOUR_MS);
  return { counts: { hour: next, key: LAST_KEY, reason: "" }, gaps: { at: Number(at), stream, first: Number(first) } };
}
