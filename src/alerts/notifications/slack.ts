import { shownGroup } from "../template.ts";
import type { OutgoingRequest } from "./attempt.ts";
import { cut, type Notification, type NotificationKind, titleBesideKind } from "./notification.ts";

/** Slack's limits in characters: of a header, of the text of a section, and of a field. */
const HEADER = 150;
const SECTION = 3000;
const FIELD = 2000;
/** Fields of a section. */
const FIELDS = 10;

const MARKS: Readonly<Record<NotificationKind, string>> = {
  firing: "🔴 Firing",
  resolved: "🟢 Resolved",
  test: "⚪ Test",
  canary: "⚪ Canary",
};

/** The request of an incoming webhook of Slack. Slack has no ids: a repeated attempt is a second message. */
export function slackRequest(url: string, notification: Omit<Notification, "destinationIds">): OutgoingRequest {
  const { kind, message, link } = notification;
  const heading = `${MARKS[kind]}: ${titleBesideKind(notification)}`;
  const fields = Object.entries(shownGroup(notification))
    .slice(0, FIELDS)
    .map(([name, value]) => ({ type: "mrkdwn", text: cut(`*${escaped(name)}*\n${escaped(value)}`, FIELD) }));
  const blocks = [
    { type: "header", text: { type: "plain_text", text: cut(heading, HEADER) } },
    ...(message === "" ? [] : [{ type: "section", text: { type: "mrkdwn", text: cut(escaped(message), SECTION) } }]),
    ...(fields.length === 0 ? [] : [{ type: "section", fields }]),
    ...(/^https?:/.test(link) && link.length < SECTION - 100
      ? [{ type: "section", text: { type: "mrkdwn", text: `<${link.replaceAll("|", "%7C")}|Show entries>` } }]
      : []),
  ];
  return { url, headers: {}, body: JSON.stringify({ text: escaped(heading), blocks }) };
}

/** Slack's three control characters, so that no text becomes a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
