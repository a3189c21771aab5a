import { z } from "zod";
import { DELIVERY_STATES, type Delivery, type StoredNotification } from "../../alerts/notifications/history.ts";
import { END_REASONS, NOTIFICATION_KINDS } from "../../alerts/notifications/notification.ts";
import { success } from "../../http/envelope.ts";
import { numberCursor, optionalParameter, pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { groupShape } from "./alert-shapes.ts";
import { answerShape, isoOrNull, NOTIFICATIONS_TAG } from "./destination-shapes.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const notificationsQuery = pageQuery.extend({
  destinationId: optionalParameter(
    z
      .string()
      .regex(/^dest_[0-9A-Za-z]{12}$/)
      .optional(),
    "Only notifications to this destination.",
  ),
  projectId: optionalParameter(
    z
      .string()
      .regex(/^proj_[0-9A-Za-z]{12}$/)
      .optional(),
    "Only notifications of this project.",
  ),
  state: optionalParameter(
    z.enum(DELIVERY_STATES).optional(),
    "Only notifications with a delivery in this state. `dead`: given up.",
  ),
});

const deliveryShape = z.object({
  id: z.string(),
  destinationId: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int(),
  nextAttemptAt: z.iso
    .datetime()
    .nullable()
    .describe("`null` if the delivery has ended, or waits for an earlier notification of the rule and group."),
  attemptedAt: z.iso.datetime().nullable().describe("End of the last attempt."),
  expiresAt: z.iso.datetime().describe("End of the attempts."),
  answer: answerShape.nullable(),
});

const notificationShape = z.object({
  id: z.string().describe("The same in every attempt: `webhook-id`."),
  projectId: z.string().nullable().describe("`null` for a canary."),
  ruleId: z.string(),
  ruleVersion: z.int(),
  kind: z.enum(NOTIFICATION_KINDS),
  ...groupShape,
  ended: z.boolean().describe("Whether the group recovers because the rule was changed or deleted."),
  reason: z.enum(END_REASONS).nullable().describe("Why it `ended`; `null` if it did not."),
  value: z.number().nullable(),
  window: z.object({ from: z.string(), to: z.string() }),
  seqRange: z.object({ from: z.int(), to: z.int() }).nullable(),
  title: z.string(),
  message: z.string(),
  labels: z.record(z.string(), z.string()),
  link: z.string(),
  decidedAt: z.iso.datetime(),
  deliveries: z.array(deliveryShape),
});

function deliveryData({
  nextAttemptAt,
  attemptedAt,
  expiresAt,
  ...delivery
}: Delivery): z.output<typeof deliveryShape> {
  return {
    ...delivery,
    nextAttemptAt: isoOrNull(nextAttemptAt),
    attemptedAt: isoOrNull(attemptedAt),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

function notificationData({ content, deliveries }: StoredNotification): z.output<typeof notificationShape> {
  const { group, groupValues = null, ended = false, reason = null, labels, window, seqRange, ...more } = content;
  return {
    ...more,
    group: group === null ? null : { ...group },
    groupValues: groupValues === null ? null : { ...groupValues },
    ...{ ended, reason },
    labels: { ...labels },
    window,
    seqRange,
    deliveries: deliveries.map(deliveryData),
  };
}

export const notifications = resource();

notifications.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/notifications",
    operation: "notification.list",
    tag: NOTIFICATIONS_TAG,
    summary: "List notifications and their deliveries",
    description: [
      "Newest first, for 30 days. A delivery is attempted for three days; then it is `dead`. A page may have fewer items than `limit`, even none, before the",
      "end: `nextCursor` is null there.",
    ].join("\n"),
    security: "accessToken",
    query: notificationsQuery,
    status: 200,
    response: pageOf(notificationShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "notification.list", from: "path" })],
  async (c, { query: { cursor, limit, ...filter } }) => {
    const { items, next } = await manage(c, "listNotifications", filter, numberCursor(cursor), limit);
    const nextCursor = next === null ? null : String(next);
    return success({ items: items.map(notificationData), nextCursor }, c.get("requestId"));
  },
);

notifications.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/deliveries/:deliveryId/redeliver",
    operation: "delivery.redeliver",
    tag: NOTIFICATIONS_TAG,
    summary: "Deliver a notification again",
    description: [
      "Starts the attempts again, for three days, with the same `webhook-id`. Refused (409) after a later notification of the same rule and group has been",
      "delivered: the receiver would take an alert that is over for one that fires.",
    ].join("\n"),
    security: "accessToken",
    status: 200,
    response: deliveryShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "delivery.redeliver", from: "path" })],
  async (c) => {
    const delivery = await manage(c, "redeliver", c.req.param("deliveryId") ?? "");
    return success(deliveryData(delivery), c.get("requestId"));
  },
);
