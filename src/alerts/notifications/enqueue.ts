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
  const said = asItFired(sql, notification);
  const { destinationIds, ...content } = bounded(said);
  const project = projectOf(sql, content.projectId);
  // The project was deleted since the decision.
  if (project === undefined) return false;
  const series = seriesOf(said);
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

/**
 * Returns a recovery without the types of its values if the firing that it ends has none, because an earlier version
 * stored it: both have one series then, which receivers identify the alert by.
 */
function asItFired(sql: SqlStorage, notification: Notification): Notification {
  if (notification.kind !== "resolved") return notification;
  const untyped = { ...notification, groupValues: null };
  const series = seriesOf(untyped);
  if (series === seriesOf(notification)) return notification;
  const isOpen = notification.destinationIds.some(
    (id) =>
      maybe<{ isUntypedFiring: number }>(
        sql,
        `SELECT n.kind = 'firing' AND json_extract(n.content, '$.groupValues') IS NULL AS isUntypedFiring
         FROM deliveries d JOIN notifications n ON n.num = d.notification
         WHERE d.destination = ? AND d.series = ? ORDER BY d.notification DESC LIMIT 1`,
        id,
        series,
      )?.isUntypedFiring === 1,
  );
  return isOpen ? untyped : notification;
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
