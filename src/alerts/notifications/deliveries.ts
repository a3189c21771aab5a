import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { maybe } from "../../platform/sql.ts";
import { REPEAT_MS } from "./alertmanager.ts";
import type { Attempt, DestinationKind, Target } from "./destination.ts";
import type { NotificationKind } from "./notification.ts";
import type { NotificationContent } from "./request.ts";
import { disableDestination, recordAnswer, targetOf } from "./targets.ts";

/** Delay between attempts: about 20 attempts in three days. */
const RETRY: Backoff = { firstMs: 10_000, maxMs: 6 * 60 * 60 * 1000 };
/** Milliseconds after which an attempt without an outcome is repeated: the object ended. Longer than any attempt. */
export const LEASE_MS = 15_000;

/** Attempts at the same time, of a workspace and to one destination. The platform allows 6 connections. */
export const AT_ONCE = { workspace: 6, destination: 3 } as const;

/** Deliveries that have expired, or whose project was deleted, that one call passes over: of one destination, and of all. */
const MOST_SKIPPED = { destination: 20, all: 100 } as const;

/** A delivery to attempt now. */
export interface DueDelivery {
  id: string;
  round: number;
  attempts: number;
  target: Target;
  notification: NotificationContent;
  /** Of a recovery: the notification that it ends; `null` if it is not stored any more. */
  alert: NotificationContent | null;
}

/** Destinations of the attempts in progress. */
export type InFlight = ReadonlyMap<string, string>;

type Row = {
  id: string;
  num: number;
  series: string;
  state: string;
  attempts: number;
  round: number;
  expires_at: number;
  kind: NotificationKind;
  content: string;
  is_deleted: number;
};

const NEXT = `SELECT d.id, d.notification AS num, d.series, d.state, d.attempts, d.round, d.expires_at, n.kind, n.content,
    n.project IS NOT NULL AND p.num IS NULL AS is_deleted
  FROM deliveries d JOIN notifications n ON n.num = d.notification LEFT JOIN projects p ON p.num = n.project
  WHERE d.destination = ? AND d.next_at <= ? ORDER BY d.next_at LIMIT 1`;

/** Destinations that may get deliveries, the longest waiting one first, and whether the last attempt of each failed. */
const WAITING = `SELECT id, last_failed_at IS NOT NULL AND last_failed_at >= IFNULL(last_delivered_at, 0) AS is_failing
  FROM destinations WHERE disabled IS NULL AND confirm_until IS NULL
  ORDER BY MAX(IFNULL(last_delivered_at, 0), IFNULL(last_failed_at, 0)), id`;

/**
 * Returns deliveries to attempt now, and postpones each, so that a crash repeats the attempt. A free place goes to a
 * destination with the fewest attempts in progress, so that one with many deliveries, or a slow one, does not hold the others;
 * of several, to one whose last attempt did not fail. A failing destination keeps its turns, because only an attempt shows
 * that it answers again.
 */
export function takeDeliveries(sql: SqlStorage, inFlight: InFlight, now: number): DueDelivery[] {
  const due: DueDelivery[] = [];
  const attempts = new Map<string, number>();
  for (const id of inFlight.values()) attempts.set(id, (attempts.get(id) ?? 0) + 1);
  const waiting = sql.exec<{ id: string; is_failing: number }>(WAITING).toArray();
  const places = waiting.map(({ id, is_failing }) => ({ id, isFailing: is_failing, busy: attempts.get(id) ?? 0 }));
  const skips = { left: MOST_SKIPPED.all };
  while (inFlight.size + due.length < AT_ONCE.workspace) {
    const [place] = places
      .filter(({ busy }) => busy < AT_ONCE.destination)
      .sort((a, b) => a.busy - b.busy || a.isFailing - b.isFailing);
    if (place === undefined) break;
    const next = takeOne(sql, place.id, skips, now);
    if (next !== null) due.push(next);
    // Also without one: what was passed over may be followed by one that is due.
    place.busy++;
  }
  return due;
}

function takeOne(sql: SqlStorage, destination: string, skips: { left: number }, now: number): DueDelivery | null {
  for (let skipped = 0; skipped < MOST_SKIPPED.destination && skips.left > 0; skipped++) {
    const row = maybe<Row>(sql, NEXT, destination, now);
    if (row === null) return null;
    if (row.is_deleted === 1) sql.exec("DELETE FROM deliveries WHERE id = ?", row.id);
    else if (row.expires_at <= now) end(sql, row.id, row.state === "repeating" ? "delivered" : "dead");
    else return begun(sql, destination, row, now);
    skips.left--;
    release(sql, destination, row.series, now);
  }
  return null;
}

function begun(sql: SqlStorage, destination: string, row: Row, now: number): DueDelivery | null {
  const target = targetOf(sql, destination, now);
  if (target === null) return null;
  sql.exec("UPDATE deliveries SET next_at = ?, attempts = attempts + 1 WHERE id = ?", now + LEASE_MS, row.id);
  const alert = row.kind === "resolved" ? alertOf(sql, destination, row) : null;
  const { id, round, attempts } = row;
  // SAFETY: `enqueueNotification` is the only writer.
  return { id, round, attempts, target, notification: JSON.parse(row.content) as NotificationContent, alert };
}

/** The last firing notification of the series before a recovery, to the same destination. */
function alertOf(sql: SqlStorage, destination: string, { series, num }: Row): NotificationContent | null {
  const found = maybe<{ content: string }>(
    sql,
    `SELECT n.content FROM deliveries d JOIN notifications n ON n.num = d.notification
     WHERE d.destination = ? AND d.series = ? AND d.notification < ? AND n.kind = 'firing'
     ORDER BY d.notification DESC LIMIT 1`,
    destination,
    series,
    num,
  );
  // SAFETY: as above.
  return found && (JSON.parse(found.content) as NotificationContent);
}

/** Records the outcome of an attempt. A delivery or a destination that was deleted in the meantime is ignored. */
export function settle(sql: SqlStorage, { id, round, target }: DueDelivery, result: Attempt, now: number): void {
  const row = maybe<{
    state: string;
    round: number;
    attempts: number;
    series: string;
    expires_at: number;
    num: number;
  }>(sql, `SELECT state, round, attempts, series, expires_at, notification AS num FROM deliveries WHERE id = ?`, id);
  recordAnswer(sql, target.id, result.answer, now);
  if (result.outcome === "gone" || result.outcome === "left") disableDestination(sql, target.id, result.outcome, now);
  if (row === null) return;
  sql.exec("UPDATE deliveries SET attempted_at = ?, answer = ? WHERE id = ?", now, JSON.stringify(result.answer), id);
  // A member has asked to deliver again, or a recovery has ended the repeats.
  if (row.round !== round || (row.state !== "pending" && row.state !== "repeating")) return;
  switch (result.outcome) {
    case "delivered":
      if (isRepeated(sql, target, row)) sql.exec(REPEAT, now + REPEAT_MS, now + REPEATED_MS, id);
      else end(sql, id, "delivered");
      break;
    case "refused":
    case "gone":
      end(sql, id, "dead");
      break;
    case "failed":
    case "left": {
      const delay = Math.max(delayOf(RETRY, row.attempts - 1), result.retryAfter ?? 0);
      const nextAt = now + (row.state === "repeating" ? Math.min(delay, REPEAT_MS) : delay);
      if (nextAt >= row.expires_at) end(sql, id, row.state === "repeating" ? "delivered" : "dead");
      else sql.exec("UPDATE deliveries SET next_at = ? WHERE id = ?", nextAt, id);
      // What is not settled holds the later ones of its series.
      if (nextAt < row.expires_at) return;
    }
  }
  release(sql, target.id, row.series, now);
}

/** Milliseconds for which an alert is repeated without a recovery. */
const REPEATED_MS = 30 * 24 * 60 * 60 * 1000;

const REPEAT = "UPDATE deliveries SET state = 'repeating', next_at = ?, expires_at = ?, attempts = 1 WHERE id = ?";

/** Whether a delivered notification is sent again and again: a firing alert, to Alertmanager, without a later one. */
function isRepeated(sql: SqlStorage, { id, kind }: Target, { series, num }: { series: string; num: number }): boolean {
  const repeats: DestinationKind = "alertmanager";
  if (kind !== repeats) return false;
  return (
    maybe(
      sql,
      `SELECT 1 FROM notifications n WHERE n.num = ?1 AND n.kind = 'firing' AND NOT EXISTS
         (SELECT 1 FROM deliveries d WHERE d.destination = ?2 AND d.series = ?3 AND d.notification > ?1)`,
      num,
      id,
      series,
    ) !== null
  );
}

function end(sql: SqlStorage, id: string, state: "delivered" | "dead"): void {
  sql.exec("UPDATE deliveries SET state = ?, next_at = NULL WHERE id = ?", state, id);
}

/** Makes the next pending delivery of a series due. */
function release(sql: SqlStorage, destination: string, series: string, now: number): void {
  sql.exec(
    `UPDATE deliveries SET next_at = ?1 WHERE next_at IS NULL AND id = (SELECT id FROM deliveries
       WHERE destination = ?2 AND series = ?3 AND state = 'pending' ORDER BY notification LIMIT 1)`,
    now,
    destination,
    series,
  );
}

/**
 * Returns when `takeDeliveries` must be called next, or a canary is due, epoch milliseconds; `null` without either.
 * Destinations without a free place are left out: the end of an attempt calls it.
 */
export function nextDeliveryAt(sql: SqlStorage, inFlight: InFlight): number | null {
  const busy = [...inFlight.values()];
  const rows = sql.exec<{ id: string; canary_at: number | null; due_at: number | null }>(
    `SELECT id, canary_at, (SELECT MIN(next_at) FROM deliveries d WHERE d.destination = t.id AND next_at IS NOT NULL)
       AS due_at FROM destinations t WHERE disabled IS NULL AND confirm_until IS NULL`,
  );
  let next = Number.POSITIVE_INFINITY;
  for (const { id, canary_at, due_at } of rows) {
    const isFree = busy.length < AT_ONCE.workspace && busy.filter((each) => each === id).length < AT_ONCE.destination;
    next = Math.min(next, canary_at ?? next, (isFree ? due_at : null) ?? next);
  }
  return next === Number.POSITIVE_INFINITY ? null : next;
}
