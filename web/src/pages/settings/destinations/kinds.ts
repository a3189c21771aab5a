import type { Destination } from "../../../model/types.ts";

export type Kind = Destination["kind"];

/** One input of the form of a destination. */
export interface Input {
  /** Member of the request. */
  name: "url" | "email" | "routingKey" | "authorization";
  label: string;
  hint?: string;
  type: "url" | "email" | "text";
  isOptional?: boolean;
  /** Whether the service never returns it. */
  isSecret?: boolean;
}

/** What was typed, by input. */
export type InputValues = Readonly<Partial<Record<Input["name"], string>>>;

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
    inputs: [
      {
        name: "email",
        label: "Address",
        hint: "Of a member, or another one, whose holder confirms it by a mailed link.",
        type: "email",
      },
    ],
    hasCanary: true,
  },
  slack: {
    label: "Slack",
    inputs: [
      {
        name: "url",
        label: "Webhook URL",
        hint: "Of an incoming webhook. Not shown again.",
        type: "url",
        isSecret: true,
      },
    ],
    hasCanary: true,
  },
  pagerduty: {
    label: "PagerDuty",
    inputs: [
      {
        name: "routingKey",
        label: "Integration key",
        hint: "32 characters. Not shown again.",
        type: "text",
        isSecret: true,
      },
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
        isSecret: true,
      },
    ],
    hasCanary: true,
  },
};

/**
 * Returns the inputs of the form of a destination.
 * @param destination that is changed: its address is not, and its secrets stay unless new ones are given; `null` for a new one
 */
export function inputsOf(kind: Kind, destination: Destination | null): readonly Input[] {
  const { inputs } = KINDS[kind];
  if (destination === null) return inputs;
  return inputs.flatMap((input) => {
    if (input.name === "email") return [];
    if (!input.isSecret) {
      const { hint, ...rest } = input;
      // No request removes a URL, so one that is set stays required.
      return [
        { ...rest, ...(input.isOptional && hint ? { hint } : {}), isOptional: shownValue(input, destination) === "" },
      ];
    }
    const isSet = destination.hasSecret;
    return [{ ...input, hint: isSet ? "Empty: stays as it is." : (input.hint ?? ""), isOptional: true }];
  });
}

/** Returns what the form has for an input before anything is typed. */
export function shownValue({ name, isSecret }: Input, destination: Destination | null): string {
  return name === "url" && !isSecret ? (destination?.url ?? "") : "";
}

/** Returns the members of a destination that the typed values change. */
export function changeOf(destination: Destination, values: InputValues): InputValues {
  const changed = inputsOf(destination.kind, destination).flatMap((input) => {
    const value = (values[input.name] ?? "").trim();
    return value === "" || value === shownValue(input, destination) ? [] : [[input.name, value] as const];
  });
  return Object.fromEntries(changed);
}

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
