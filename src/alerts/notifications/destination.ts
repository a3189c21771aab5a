export const DESTINATION_KINDS = ["webhook", "email", "slack", "pagerduty", "alertmanager"] as const;

export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/**
 * Why deliveries to a destination wait: a member paused it, its receiver answered 410, its recipient left or has stopped the
 * mails, its address is not confirmed.
 */
export type DisabledReason = "paused" | "gone" | "left" | "unconfirmed";

/** Where deliveries go. Viewers may read it. */
export interface DestinationSettings {
  /** Of a webhook, PagerDuty's events or an Alertmanager. A Slack URL is a secret instead. */
  url?: string;
  /** A member, and the address that the member had when the destination was created; without a member a confirmed one. */
  userId?: string;
  email?: string;
}

/** A destination with its secrets, for a delivery. */
export interface Target {
  id: string;
  kind: DestinationKind;
  name: string;
  settings: DestinationSettings;
  /**
   * Signing secret of a webhook, URL of Slack, routing key of PagerDuty, `Authorization` of Alertmanager, seed of the link of
   * an address without a member.
   */
  secret: string | null;
  /** The signing secret before a rotation, during its overlap. */
  previousSecret: string | null;
}

/** What a receiver answered to one attempt. */
export interface Answer {
  /** HTTP status; `null` without a response, and for mails. */
  status: number | null;
  /** The start of the body. */
  text: string;
  ms: number;
  /** Why the attempt failed; `null` for a delivered one. */
  error: string | null;
}

/**
 * Result of one attempt. `failed`: a later attempt may succeed. `gone`: the receiver wants no further deliveries.
 * `refused`: this delivery will never succeed. `left`: the recipient is no longer a member.
 */
export interface Attempt {
  outcome: "delivered" | "failed" | "gone" | "refused" | "left";
  answer: Answer;
  /** Milliseconds that the receiver asks to wait for; `null` if it does not ask. */
  retryAfter: number | null;
}

/** PagerDuty's address for events; its European one is `https://events.eu.pagerduty.com/v2/enqueue`. */
export const PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue";
