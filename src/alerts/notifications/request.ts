import { alertmanagerRequest } from "./alertmanager.ts";
import type { OutgoingRequest } from "./attempt.ts";
import { PAGERDUTY_URL, type Target } from "./destination.ts";
import type { Notification } from "./notification.ts";
import { pagerdutyRequest } from "./pagerduty.ts";
import { slackRequest } from "./slack.ts";
import { webhookRequest } from "./webhook.ts";

/** A notification as it is stored. */
export type NotificationContent = Omit<Notification, "destinationIds">;

/**
 * Returns the request that delivers a notification; `null` for an e-mail destination.
 * @param alert of a recovery: the notification that it ends; `null` if it is not stored any more
 * @param source the service's host
 */
export function requestOf(
  { kind, settings, secret, previousSecret }: Target,
  notification: NotificationContent,
  alert: NotificationContent | null,
  source: string,
  now: number,
): OutgoingRequest | null {
  const url = settings.url ?? "";
  switch (kind) {
    case "webhook":
      return webhookRequest(
        url,
        [secret, previousSecret].filter((each) => each !== null),
        notification,
        now,
      );
    case "slack":
      return slackRequest(secret ?? "", notification);
    case "pagerduty":
      return pagerdutyRequest(settings.url ?? PAGERDUTY_URL, secret ?? "", notification, source);
    case "alertmanager":
      return alertmanagerRequest(url, secret, notification, alert, now);
    case "email":
      return null;
  }
}
