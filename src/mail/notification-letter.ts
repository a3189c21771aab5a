import { MAILS_AN_HOUR } from "../alerts/notifications/mail-limit.ts";
import { titleBesideKind } from "../alerts/notifications/notification.ts";
import type { NotificationContent } from "../alerts/notifications/request.ts";
import { shownGroup } from "../alerts/template.ts";
import { type Layout, renderHtml, renderText } from "./layout.ts";
import type { Letter } from "./mail.ts";

/** Characters of a title in a subject. */
const SUBJECT = 120;

const STATES = { firing: "Firing", resolved: "Resolved", test: "Test", canary: "Canary" } as const;

/**
 * Composes the mail of a notification. Unlike other mails it contains texts of users and of log entries, so it goes to
 * members of the workspace and to confirmed addresses only.
 * @param id the same for every attempt
 * @param site the service's host
 * @param more `leftOut`: notifications that were not mailed since the last mail; `stop`: the link that ends these mails, for
 *   an address without a member
 */
export function notificationLetter(
  id: string,
  to: string,
  notification: NotificationContent,
  site: string,
  { leftOut, stop }: { leftOut: number; stop: string | null },
): Letter {
  const { kind, message, value, window, link, ruleVersion } = notification;
  const subject = `[${STATES[kind]}] ${titleBesideKind(notification)}`;
  const facts = Object.entries(shownGroup(notification)).map(([name, text]) => `${name}: ${text}`);
  if (value !== null) facts.push(`Value: ${value}`);
  const isRule = kind === "firing" || kind === "resolved";
  const href = /^https?:/.test(link) ? link : null;
  const layout: Layout = {
    title: subject,
    paragraphs: [message, ...facts].filter((text) => text !== ""),
    action: href === null ? null : { label: "Show entries", href },
    after: [
      ...(isRule ? [`Window: ${window.from} to ${window.to}. Version ${ruleVersion} of the rule decided.`] : []),
      ...(leftOut > 0 ? [leftOutWords(leftOut)] : []),
      ...(stop === null ? [] : [`This address was confirmed for these mails. To stop them: ${stop}`]),
    ],
    site,
  };
  return {
    id,
    to,
    kind: "alert",
    subject: [...subject].slice(0, SUBJECT).join(""),
    text: renderText(layout),
    html: renderHtml(layout),
    links: [href, stop].filter((each) => each !== null),
  };
}

function leftOutWords(count: number): string {
  const what = count === 1 ? "1 notification was" : `${count} notifications were`;
  return `${what} not mailed before this one: a destination gets at most ${MAILS_AN_HOUR} mails in an hour.`;
}
