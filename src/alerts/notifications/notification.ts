import type { GroupValue, SaidGroup } from "../template.ts";

/** What a notification reports: a rule's transition, a request of a member to test a destination, or the daily canary. */
export const NOTIFICATION_KINDS = ["firing", "resolved", "test", "canary"] as const;

export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** Why a rule ended while a group fired. */
export const END_REASONS = ["changed", "deleted"] as const;

export type EndReason = (typeof END_REASONS)[number];

/** What members read of a group that recovers because its rule ended. */
export const END_TEXTS: Readonly<Record<EndReason, string>> = {
  changed: "The alert was changed and counts again: the group is no longer followed.",
  deleted: "The alert was deleted: the group is no longer followed.",
};

/** What destinations are told. Plain data: stored as JSON, and sent as `data` of a webhook. */
export interface Notification extends SaidGroup {
  /** Unique and deterministic: the same decision has the same id, and every attempt to deliver it carries it. */
  id: string;
  /** `null` for a test and a canary, which belong to no project. */
  projectId: string | null;
  ruleId: string;
  ruleVersion: number;
  kind: NotificationKind;
  /** Whether the group recovers because the rule was changed or deleted. Absent: of an earlier version. */
  ended?: boolean;
  /** Why it was ended; `null` if it was not. */
  reason?: EndReason | null;
  value: number | null;
  /** `false`: the value is an estimate. Absent: it is exact. */
  exact?: boolean;
  /** `from < receivedAt <= to`, ISO 8601. */
  window: { from: string; to: string };
  /** The entries that decided, both ends inclusive; `null` if no entry did. */
  seqRange: { from: number; to: number } | null;
  title: string;
  message: string;
  labels: Readonly<Record<string, string>>;
  /** The console's page that shows exactly these entries. */
  link: string;
  /** `dest_...`; ids that the workspace does not have are ignored. */
  destinationIds: readonly string[];
  /** ISO 8601. */
  decidedAt: string;
}

/** How a title of each kind begins. */
const OPENINGS: Readonly<Record<NotificationKind, string>> = {
  firing: "Firing: ",
  resolved: "Resolved: ",
  test: "Test of ",
  canary: "Canary of ",
};

/** Characters that break a line or turn the direction of the text behind them. Names have none, values of entries may. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;

/** Returns a title, which says the kind of its notification first. @param about what the notification is about */
export function titleOf(kind: NotificationKind, about: string): string {
  return `${OPENINGS[kind]}${about}`;
}

/** Returns a title in one line that reads in its own order. */
export function titleInOneLine({ title }: Pick<Notification, "title">): string {
  return title.replace(NOT_IN_A_LINE, " ").toWellFormed();
}

/** Returns a title without its opening, for receivers that show the kind beside it. */
export function titleBesideKind({ kind, title }: Pick<Notification, "kind" | "title">): string {
  const opening = OPENINGS[kind];
  return titleInOneLine({ title: title.startsWith(opening) ? title.slice(opening.length) : title });
}

/** Maximum sizes of a stored notification. Longer texts are cut, because a decision must not fail for its text. */
export const NOTIFICATION_LIMITS = {
  /** Characters. */
  title: 200,
  message: 4000,
  link: 4000,
  name: 100,
  value: 500,
  /** Labels, and fields of a group. */
  members: 20,
  destinations: 20,
} as const;

/** Returns a notification within `NOTIFICATION_LIMITS`. */
export function bounded(notification: Notification): Notification {
  const { title, message, link, destinations } = NOTIFICATION_LIMITS;
  const { group, groupValues } = notification;
  return {
    ...notification,
    group: group === null ? null : boundedMembers(group),
    ...(groupValues == null ? {} : { groupValues: boundedMembers(groupValues) }),
    title: cut(notification.title, title),
    message: cut(notification.message, message),
    labels: boundedMembers(notification.labels),
    link: notification.link.length > link ? "" : notification.link,
    destinationIds: [...new Set(notification.destinationIds)].slice(0, destinations),
  };
}

function boundedMembers<Value extends GroupValue>(
  members: Readonly<Record<string, Value>>,
): Record<string, Value | string> {
  const { name, value: length, members: most } = NOTIFICATION_LIMITS;
  const some = Object.entries(members).slice(0, most);
  return Object.fromEntries(
    some.map(([key, value]) => [cut(key, name), typeof value === "string" ? cut(value, length) : value]),
  );
}

/** Cuts a text to a number of UTF-16 units, not inside of a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = (text.charCodeAt(most - 2) & 0xfc00) === 0xd800 ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}
