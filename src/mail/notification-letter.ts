import type { NotificationContent } from "../alerts/notifications/request.ts";
import { type Layout, renderHtml, renderText } from "./layout.ts";
import type { Letter } from "./mail.ts";

/** Characters of a title in a subject. */
const SUBJECT = 120;

const STATES = { firing: "Firing", resolved: "Resolved", test: "Test", canary: "Canary" } as const;

/**
 * Composes the mail of a notification. Unlike other mails it contains texts of users and of log entries, so it goes to
 * members of the workspace only.
 * @param id the same for every attempt
 * @param site the service's host
 */
export function notificationLetter(id: string, to: string, notification: NotificationContent, site: string): Letter {
  const { kind, title, message, group, value, window, link, ruleVersion } = notification;
  const subject = `[${STATES[kind]}] ${title}`.replace(/\p{Cc}/gu, " ");
  const facts = Object.entries(group ?? {}).map(([name, text]) => `${name}: ${text}`);
  if (value !== null) facts.push(`Value: ${value}`);
  const isRule = kind === "firing" || kind === "resolved";
  const href = /^https?:/.test(link) ? link : null;
  const layout: Layout = {
    title: subject,
    paragraphs: [message, ...facts].filter((text) => text !== ""),
    action: href === null ? null : { label: "Show entries", href },
    after: isRule ? [`Window: ${window.from} to ${window.to}. Version ${ruleVersion} of the rule decided.`] : [],
    site,
  };
  return {
    id,
    to,
    kind: "alert",
    subject: [...subject].slice(0, SUBJECT).join(""),
    text: renderText(layout),
    html: renderHtml(layout),
    links: href === null ? [] : [href],
  };
}
