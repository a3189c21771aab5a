import { maybe } from "../../platform/sql.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import type { AuditNote } from "../../workspace/audit.ts";
import type { Answer } from "./destination.ts";
import { DELIVERY_LIFETIME_MS } from "./enqueue.ts";
import type { NotificationContent } from "./request.ts";

/** Milliseconds for which a notification is listed: 30 days. */
export const NOTIFICATION_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** Rows that one page reads, whatever its filters. */
const SCAN_ROWS = 1000;
/** Characters of content after which a page ends. */
const PAGE_CHARACTERS = 256 * 1024;
/** Notifications that one step deletes, each with up to 20 deliveries. */
const SWEEP_ROWS = 100;

export const DELIVERY_STATES = ["pending", "delivered", "dead"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery {
  id: string;
  destinationId: string;
  state: DeliveryState;
  attempts: number;
  /** Epoch milliseconds. `null`: settled, or waiting for an earlier notification of the rule and group. */
  nextAttemptAt: number | null;
  attemptedAt: number | null;
  expiresAt: number;
  answer: Answer | null;
}

export interface StoredNotification {
  content: NotificationContent;
  deliveries: Delivery[];
}

export interface HistoryFilter {
  destinationId?: string | undefined;
  state?: DeliveryState | undefined;
  projectId?: string | undefined;
}

export interface HistoryPage {
  items: StoredNotification[];
  /** Start of the next page; `null` at the end. A page may have fewer items than requested, or none, before the end. */
  next: number | null;
}

type DeliveryRow = {
  id: string;
  destination: string;
  state: DeliveryState | "repeating";
  attempts: number;
  next_at: number | null;
  attempted_at: number | null;
  expires_at: number;
  answer: string | null;
};

/** Returns a page of notifications, newest first. @param before the `next` of the previous page, or `null` */
export function listNotifications(
  sql: SqlStorage,
  filter: HistoryFilter,
  before: number | null,
  limit: number,
): HistoryPage {
  const rows = sql.exec<{ num: number; projectId: string | null; content: string }>(
    `SELECT n.num, p.id AS projectId, n.content FROM notifications n LEFT JOIN projects p ON p.num = n.project
     WHERE n.num < ? AND (n.project IS NULL OR p.num IS NOT NULL) ORDER BY n.num DESC LIMIT ?`,
    before ?? Number.MAX_SAFE_INTEGER,
    SCAN_ROWS + 1,
  );
  const items: StoredNotification[] = [];
  let characters = 0;
  let scanned = 0;
  let last = 0;
  for (const { num, projectId, content } of rows) {
    if (scanned === SCAN_ROWS || items.length === limit || characters > PAGE_CHARACTERS) return { items, next: last };
    scanned++;
    last = num;
    if (filter.projectId !== undefined && filter.projectId !== projectId) continue;
    const deliveries = deliveriesOf(sql, num);
    if (!deliveries.some((delivery) => matches(delivery, filter)) && isFiltered(filter)) continue;
    characters += content.length;
    // SAFETY: `enqueueNotification` is the only writer.
    items.push({ content: JSON.parse(content) as NotificationContent, deliveries });
  }
  return { items, next: null };
}

function isFiltered({ destinationId, state }: HistoryFilter): boolean {
  return destinationId !== undefined || state !== undefined;
}

function matches(delivery: Delivery, { destinationId, state }: HistoryFilter): boolean {
  if (destinationId !== undefined && delivery.destinationId !== destinationId) return false;
  return state === undefined || delivery.state === state;
}

const COLUMNS = "d.id, d.destination, d.state, d.attempts, d.next_at, d.attempted_at, d.expires_at, d.answer";

function deliveriesOf(sql: SqlStorage, num: number): Delivery[] {
  const query = `SELECT ${COLUMNS} FROM deliveries d JOIN destinations t ON t.id = d.destination WHERE d.notification = ?`;
  return sql.exec<DeliveryRow>(query, num).toArray().map(fromRow);
}

function fromRow(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    destinationId: row.destination,
    state: row.state === "repeating" ? "delivered" : row.state,
    attempts: row.attempts,
    nextAttemptAt: row.next_at,
    attemptedAt: row.attempted_at,
    expiresAt: row.expires_at,
    // SAFETY: `settle` is the only writer.
    answer: row.answer === null ? null : (JSON.parse(row.answer) as Answer),
  };
}

/**
 * Starts the attempts of a delivery again, for three days. Refused after a later notification of the same rule and group
 * has been delivered: the receiver would take an alert that is over for one that fires.
 */
export function redeliver(sql: SqlStorage, id: string, note: AuditNote, now: number): Result<Delivery> {
  const row = maybe<{
    notification: number;
    destination: string;
    series: string;
    project: number | null;
    live: number;
  }>(
    sql,
    `SELECT d.notification, d.destination, d.series, n.project, n.project IS NULL OR p.num IS NOT NULL AS live
     FROM deliveries d JOIN destinations t ON t.id = d.destination JOIN notifications n ON n.num = d.notification
     LEFT JOIN projects p ON p.num = n.project WHERE d.id = ?`,
    id,
  );
  if (row === null || row.live !== 1) return fail("NOT_FOUND", "Delivery not found.");
  const { notification, destination, series } = row;
  const later = "FROM deliveries WHERE destination = ? AND series = ? AND notification > ?";
  const isOver = maybe(
    sql,
    `SELECT 1 ${later} AND state IN ('delivered', 'repeating') LIMIT 1`,
    destination,
    series,
    notification,
  );
  if (isOver) return fail("CONFLICT", "A later notification of the same rule and group has been delivered.");
  sql.exec(
    `UPDATE deliveries SET next_at = NULL WHERE id IN (SELECT id ${later} AND state = 'pending')`,
    destination,
    series,
    notification,
  );
  const isEarlierPending = maybe(
    sql,
    "SELECT 1 FROM deliveries WHERE destination = ? AND series = ? AND notification < ? AND state = 'pending' LIMIT 1",
    destination,
    series,
    notification,
  );
  sql.exec(
    `UPDATE deliveries SET state = 'pending', next_at = ?, expires_at = ?, attempts = 0, round = round + 1 WHERE id = ?`,
    isEarlierPending ? null : now,
    now + DELIVERY_LIFETIME_MS,
    id,
  );
  note(id, { after: { destination } });
  const changed = maybe<DeliveryRow>(sql, `SELECT ${COLUMNS} FROM deliveries d WHERE d.id = ?`, id);
  return changed ? ok(fromRow(changed)) : fail("NOT_FOUND", "Delivery not found.");
}

/**
 * Deletes some notifications of the end of their time, oldest first, with their deliveries.
 * @returns whether there may be more
 */
export function sweepNotifications(sql: SqlStorage, now: number): boolean {
  const oldest = sql.exec<{ num: number; created_at: number }>(
    "SELECT num, created_at FROM notifications ORDER BY num LIMIT ?",
    SWEEP_ROWS,
  );
  const nums = oldest
    .toArray()
    .filter(({ created_at }) => created_at <= now - NOTIFICATION_KEPT_MS)
    .map(({ num }) => num);
  for (const num of nums) deleteNotification(sql, num);
  return nums.length === SWEEP_ROWS;
}

/** Deletes some notifications of a deleted project. @returns whether none is left */
export function deleteSomeNotifications(sql: SqlStorage, project: number): boolean {
  const rows = sql.exec<{ num: number }>(
    "SELECT num FROM notifications WHERE project = ? LIMIT ?",
    project,
    SWEEP_ROWS,
  );
  const nums = rows.toArray().map(({ num }) => num);
  for (const num of nums) deleteNotification(sql, num);
  return nums.length < SWEEP_ROWS;
}

function deleteNotification(sql: SqlStorage, num: number): void {
  sql.exec("DELETE FROM deliveries WHERE notification = ?", num);
  sql.exec("DELETE FROM notifications WHERE num = ?", num);
}
