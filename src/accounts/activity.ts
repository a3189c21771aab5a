import type { Origin } from "../platform/origin.ts";
import { one } from "../platform/sql.ts";
import type { ActivityAction } from "./activity-actions.ts";

/** Milliseconds for which an item is listed: 365 days. */
export const ACTIVITY_KEPT_MS = 365 * 24 * 60 * 60 * 1000;

/** Maximum number of items of an account; the oldest are deleted. */
export const MAX_ACTIVITY_ITEMS = 1000;

/** Milliseconds within which a session's next action of a kind may change its item instead of adding one. */
export const ACTIVITY_JOINED_MS = 60 * 60 * 1000;

/** One row per action, written in its transaction. `num` is the order and the only index. */
export const ACTIVITY_SCHEMA = [
  `CREATE TABLE activity (
     -- Row: a sign-in or a change of the account.
     -- Written by: with the action; the newest 1,000 of 365 days.
     -- The order.
     num INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     action TEXT NOT NULL,
     -- The session of the request, or the one that began or ended.
     session TEXT,
     -- The client IP.
     address TEXT,
     -- Of a sign-in and of a reused token.
     user_agent TEXT,
     request_id TEXT NOT NULL,
     -- JSON: method, provider, number of ended sessions.
     details TEXT NOT NULL
   ) STRICT`,
] as const;

export interface ActivityEntry {
  action: ActivityAction;
  session?: string | null;
  userAgent?: string | null;
  /** Never a secret. */
  details?: Readonly<Record<string, string | number>>;
}

/** Records an action of the current transaction. Call once it is certain that the action takes effect. */
export type ActivityNote = (entry: ActivityEntry) => void;

export interface ActivityItem {
  /** Rises by one with each item of an account. */
  num: number;
  /** Epoch milliseconds. */
  at: number;
  action: ActivityAction;
  sessionId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string;
  details: Record<string, string | number>;
}

export interface ActivityPage {
  items: ActivityItem[];
  /** Position of the next page; `null` at the end. */
  next: number | null;
}

/** Records an action in its transaction. Also deletes items beyond the bounds of the list: one row, as a rule. */
export function recordActivity(
  sql: SqlStorage,
  { action, session = null, userAgent = null, details = {} }: ActivityEntry,
  { requestId, address }: Origin,
  now: number,
): void {
  const { num } = one<{ num: number }>(
    sql,
    `INSERT INTO activity (at, action, session, address, user_agent, request_id, details)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING num`,
    now,
    action,
    session,
    address,
    userAgent,
    requestId,
    JSON.stringify(details),
  );
  sql.exec("DELETE FROM activity WHERE num <= ? OR at <= ?", num - MAX_ACTIVITY_ITEMS, now - ACTIVITY_KEPT_MS);
}

/**
 * Writes an action into the item of the session's last action of this kind, which keeps its place and time. For actions that a
 * client can repeat at will: their items would push all others out of the list.
 * @returns whether there is such an item of the last hour
 */
export function joinActivity(
  sql: SqlStorage,
  { action, session, details }: { action: ActivityAction; session: string; details: ActivityItem["details"] },
  { requestId, address }: Origin,
  now: number,
): boolean {
  const { rowsWritten } = sql.exec(
    `UPDATE activity SET address = ?, request_id = ?, details = ?
     WHERE num = (SELECT MAX(num) FROM activity WHERE action = ? AND session = ?) AND at > ?`,
    address,
    requestId,
    JSON.stringify(details),
    action,
    session,
    now - ACTIVITY_JOINED_MS,
  );
  return rowsWritten > 0;
}

type Row = {
  num: number;
  at: number;
  action: ActivityAction;
  session: string | null;
  address: string | null;
  user_agent: string | null;
  request_id: string;
  details: string;
};

/**
 * Returns a page of items, newest first.
 * @param before the `next` of the previous page; `null` for the newest items
 * @param limit items, at least 1
 */
export function listActivity(sql: SqlStorage, before: number | null, limit: number, now: number): ActivityPage {
  const rows = sql
    .exec<Row>(
      "SELECT * FROM activity WHERE num < ? AND at > ? ORDER BY num DESC LIMIT ?",
      before ?? Number.MAX_SAFE_INTEGER,
      now - ACTIVITY_KEPT_MS,
      limit + 1,
    )
    .toArray();
  const items = rows.slice(0, limit).map(({ session, user_agent, request_id, details, ...row }) => ({
    ...row,
    sessionId: session,
    userAgent: user_agent,
    requestId: request_id,
    // SAFETY: `recordActivity` is the only writer.
    details: JSON.parse(details) as ActivityItem["details"],
  }));
  return { items, next: rows.length > limit ? (items.at(-1)?.num ?? null) : null };
}
