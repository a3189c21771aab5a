import { groupText } from "../template.ts";
import type { OutgoingRequest } from "./attempt.ts";
import { cut, type Notification, titleInOneLine } from "./notification.ts";
import { seriesOf } from "./series.ts";

const SEVERITIES: readonly string[] = ["critical", "error", "warning", "info"];
/** Characters of a summary. */
const SUMMARY = 1024;

/**
 * The request of an event of PagerDuty's Events API v2. Rule and group make the deduplication key, so that a repeated
 * attempt changes nothing and the recovery resolves the incident of its alert.
 * @param source the service's host
 */
export function pagerdutyRequest(
  url: string,
  routingKey: string,
  notification: Omit<Notification, "destinationIds">,
  source: string,
): OutgoingRequest {
  const { kind, title, message, group, groupValues = null, value, window, seqRange, labels, link } = notification;
  const { decidedAt, ruleId, ended = false, reason = null } = notification;
  const { severity = "error" } = labels;
  // The title names the group, unless it was too long.
  const inOneLine = groupText(notification);
  const isNamed = title.includes(inOneLine);
  const event = {
    routing_key: routingKey,
    dedup_key: `taffrail.${seriesOf(notification)}`,
    event_action: kind === "resolved" ? "resolve" : "trigger",
    client: "Taffrail",
    ...(link === "" ? {} : { client_url: link, links: [{ href: link, text: "Show entries" }] }),
    payload: {
      summary: cut(titleInOneLine({ title: isNamed ? title : `${title} (${inOneLine})` }), SUMMARY),
      source,
      severity: SEVERITIES.includes(severity) ? severity : "error",
      timestamp: decidedAt,
      class: ruleId,
      custom_details: {
        ...{ message, group, groupValues, value, window, seqRange, labels, ended, reason },
        notification: notification.id,
      },
    },
  };
  return { url, headers: {}, body: JSON.stringify(event) };
}
