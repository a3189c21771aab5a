import type { Destination } from "../../../model/types.ts";

export type Kind = Destination["kind"];

/** One input of the form that creates a destination. */
export interface Input {
  /** Member of the request. */
  name: "url" | "email" | "routingKey" | "authorization";
  label: string;
  hint?: string;
  type: "url" | "email" | "text";
  isOptional?: boolean;
}

/** Kinds of destinations with what each needs, in the order of the form. */
export const KINDS: Readonly<Record<Kind, { label: string; inputs: readonly Input[]; hasCanary: boolean }>> = {
  webhook: {
    label: "Webhook",
    inputs: [
      { name: "url", label: "URL", hint: "Requests are signed. The signing secret is shown next.", type: "url" },
    ],
    hasCanary: true,
  },
  email: {
    label: "E-mail",
    inputs: [{ name: "email", label: "Member", hint: "E-mail address of a member.", type: "email" }],
    hasCanary: true,
  },
  slack: {
    label: "Slack",
    inputs: [{ name: "url", label: "Webhook URL", hint: "Of an incoming webhook. Not shown again.", type: "url" }],
    hasCanary: true,
  },
  pagerduty: {
    label: "PagerDuty",
    inputs: [
      { name: "routingKey", label: "Integration key", hint: "32 characters. Not shown again.", type: "text" },
      { name: "url", label: "Events URL", hint: "Only for the European service.", type: "url", isOptional: true },
    ],
    hasCanary: false,
  },
  alertmanager: {
    label: "Alertmanager",
    inputs: [
      { name: "url", label: "URL", hint: "Without /api/v2/alerts.", type: "url" },
      {
        name: "authorization",
        label: "Authorization",
        hint: "Value of the header. Not shown again.",
        type: "text",
        isOptional: true,
      },
    ],
    hasCanary: true,
  },
};

/** Why deliveries to a destination wait, in words; `null` if they do not. */
export function pausedBecause({ disabledReason }: Pick<Destination, "disabledReason">): string | null {
  switch (disabledReason) {
    case "paused":
      return "Paused";
    case "gone":
      return "Receiver gone";
    case "unconfirmed":
      return "Not confirmed";
    case "left":
      return "Recipient left";
    case null:
      return null;
  }
}

/** The receiver's answer in a line. */
export function answerInWords({
  status,
  error,
  ms,
}: {
  status: number | null;
  error: string | null;
  ms: number;
}): string {
  return `${error ?? (status === null ? "Delivered." : `The receiver answered ${status}.`)} ${Math.round(ms)} ms`;
}
