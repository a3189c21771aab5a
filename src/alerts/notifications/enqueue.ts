import { newId } from "../../ids.ts";
import { exists, maybe } from "../../platform/sql.ts";
import { bounded, type Notification } from "./notification.ts";
import { seriesOf } from "./series.ts";

/** Milliseconds for which a delivery is attempted: 3 days. */
export const DELIVERY_LIFETIME_MS = 3 * 24 * 60 * 60 * 1000;

/**
 * Stores a notification with one delivery per destination, in the caller's transaction: the decision and its deliveries
 * are on disk together or not at all. A repeated id changes nothing. The object starts deliveries after a change
 * (`WorkspaceCore.change`); a caller outside of one calls `Deliveries.start`.
 * @param now epoch milliseconds
 * @returns whether the notification is new
 */
export function enqueueNotification(sql: SqlStorage, notification: Notification, now: number): boolean {
  if (exists(sql, "SELECT 1 FROM notifications WHERE id = ?", notification.id)) return false;
  const { destinationIds, ...content } = bounded(notification);
  const project = projectOf(sql, content.projectId);
  // The project was deleted since the decision.
  if (project === undefined) return false;
  const series = seriesOf(notification);
  const inserted = maybe<{ num: number }>(
    sql,
    "INSERT INTO notifications (id, project, kind, series, created_at, content) VALUES (?, ?, ?, ?, ?, ?) RETURNING num",
    content.id,
    project,
    content.kind,
    series,
    now,
    JSON.stringify(content),
  );
  for (const id of destinationIds) insertDelivery(sql, { notification: inserted?.num ?? 0, id, series }, now);
  return true;
}

function insertDelivery(
  sql: SqlStorage,
  { notification, id, series }: { notification: number; id: string; series: string },
  now: number,
): void {
  if (!exists(sql, "SELECT 1 FROM destinations WHERE id = ?", id)) return;
  // A later notification of the series replaces what is sent again.
  sql.exec(
    "UPDATE deliveries SET state = 'delivered', next_at = NULL WHERE destination = ? AND series = ? AND state = 'repeating'",
    id,
    series,
  );
  const pending = "SELECT 1 FROM deliveries WHERE destination = ? AND series = ? AND state = 'pending'";
  sql.exec(
    `INSERT INTO deliveries (id, notification, destination, series, state, next_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?)`,
    newId("dlv"),
    notification,
    id,
    series,
    exists(sql, pending, id, series) ? null : now,
    now + DELIVERY_LIFETIME_MS,
  );
}

/** `num` of a project; `null` for none, `undefined` for one that the workspace does not have. */
function projectOf(sql: SqlStorage, id: string | null): number | null | undefined {
  if (id === null) return null;
  return maybe<{ num: number }>(sql, "SELECT num FROM projects WHERE id = ?", id)?.num;
}
