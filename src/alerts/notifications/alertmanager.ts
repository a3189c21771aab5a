import { isAmbiguousText } from "../template.ts";
import type { OutgoingRequest } from "./attempt.ts";
import type { Notification } from "./notification.ts";

/** Milliseconds after which a firing alert is sent again: Alertmanager keeps alerts in memory, and they end by time. */
export const REPEAT_MS = 5 * 60_000;
/** Milliseconds from an attempt to the end of a firing alert that is not sent again: four repeats, as Prometheus does. */
const LASTS_MS = 4 * REPEAT_MS;

type Content = Omit<Notification, "destinationIds">;

/**
 * The request of Alertmanager's API v2. An alert is identified by its labels, so a recovery has those of its alert, even
 * if the rule has changed in between.
 * @param base of the Alertmanager, without `/api/v2/alerts`
 * @param alert the notification that a recovery ends; `null` if it is not stored any more
 */
export function alertmanagerRequest(
  base: string,
  authorization: string | null,
  notification: Content,
  alert: Content | null,
  now: number,
): OutgoingRequest {
  const first = alert ?? notification;
  const { kind, message, value, link, decidedAt, title } = notification;
  const startsAt = kind === "resolved" && alert === null ? notification.window.from : first.decidedAt;
  const body = [
    {
      labels: labelsOf(first),
      annotations: present({ summary: title, description: message, value: value === null ? "" : String(value) }),
      startsAt,
      endsAt: kind === "firing" ? new Date(now + LASTS_MS).toISOString() : later(decidedAt, startsAt),
      ...(/^https?:/.test(link) ? { generatorURL: link } : {}),
    },
  ];
  return {
    url: `${base.replace(/\/+$/, "")}/api/v2/alerts`,
    headers: authorization === null ? {} : { authorization },
    body: JSON.stringify(body),
  };
}

/**
 * Labels of the rule, then fields of the group, then the service's own, which no other replaces. Values of the group are
 * plain texts, which matchers compare; `group_texts` is what differs between the groups of `null` and of the text `null`.
 */
function labelsOf({ title, ruleId, projectId, labels, group, groupValues }: Content): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of [...Object.entries(labels), ...Object.entries(group ?? {})]) all[labelName(name)] = value;
  const texts = Object.entries(groupValues ?? {}).flatMap(([name, value]) => (isAmbiguousText(value) ? [name] : []));
  const own = { alertname: title, rule_id: ruleId, project_id: projectId ?? "" };
  return present({ ...all, ...(texts.length === 0 ? {} : { group_texts: texts.join(",") }), ...own });
}

/** A name as Alertmanager accepts it in every version: `http.route` is `http_route`. */
function labelName(name: string): string {
  const plain = name.replace(/\W/g, "_");
  return /^\d/.test(plain) || plain === "" ? `_${plain}` : plain;
}

/** Alertmanager refuses empty label values. */
function present(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
}

/** Alertmanager refuses an alert that ends before it starts. */
function later(a: string, b: string): string {
  return a > b ? a : b;
}
