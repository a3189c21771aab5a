import { TEMPLATE_NAMES } from "../../../../src/alerts/template.ts";
import type { AlertDefinition, Condition, Deciding, Mute } from "../../model/alerts.ts";
import { groupFields } from "./alert-query.ts";

/** Kinds of conditions as the editor offers them: a threshold from above and one from below are two. */
export type DraftKind = Condition["kind"] | "below";

/** A rule as the editor has it: numbers are texts while they are typed. */
export interface Draft {
  name: string;
  query: string;
  kind: DraftKind;
  value: string;
  direction: "rise" | "fall";
  percent: string;
  min: string;
  window: string;
  /** Empty: windows by time of receipt. */
  delay: string;
  for: string;
  recovery: string;
  labels: readonly (readonly [name: string, value: string])[];
  message: string;
  destinations: readonly string[];
  mutes: readonly Mute[];
}

const NEW: Draft = {
  name: "",
  query: "",
  kind: "threshold",
  value: "10",
  direction: "rise",
  percent: "100",
  min: "10",
  window: "5m",
  delay: "",
  for: "0s",
  recovery: "",
  labels: [],
  message: "",
  destinations: [],
  mutes: [],
};

/** Returns the draft of a new rule. */
export function newDraft(query: string, destinations: readonly string[]): Draft {
  return { ...NEW, query, destinations };
}

/** Returns the draft that changes a rule to a definition, its own or one of its versions. */
export function draftOf({ condition, recovery, labels, ...alert }: AlertDefinition): Draft {
  const { name, query, window, message, destinations, mutes } = alert;
  return {
    ...NEW,
    ...{ name, query, window, delay: alert.delay ?? "", for: alert.for, message, destinations, mutes },
    ...conditionInputs(condition),
    recovery: recovery === null ? "" : String(recovery),
    labels: Object.entries(labels),
  };
}

function conditionInputs(condition: Condition): Partial<Draft> {
  switch (condition.kind) {
    case "change":
      return {
        ...{ kind: condition.kind, direction: condition.direction },
        ...{ percent: String(condition.percent), min: String(condition.min) },
      };
    case "new-pattern":
      return { kind: condition.kind };
    case "threshold":
      return { kind: condition.direction === "below" ? "below" : "threshold", value: String(condition.value) };
    default:
      return { kind: condition.kind, value: String(condition.value) };
  }
}

/** What is wrong with a draft, by its inputs. */
export type DraftErrors = Partial<
  Record<"name" | "query" | "value" | "percent" | "min" | "recovery" | "labels", string>
>;

export type ReadDraft = { ok: true; definition: AlertDefinition } | { ok: false; errors: DraftErrors };

/** Returns the number that a text writes; not a number for any other text. */
function numberOf(text: string): number {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : Number.NaN;
}

/** Returns the rule that a draft describes, or what is wrong. The service checks the rest. */
export function readDraft(draft: Draft): ReadDraft {
  const errors: DraftErrors = { ...decidingErrors(draft) };
  if (draft.name.trim() === "") errors.name = "Name the alert.";
  const names = draft.labels.map(([name]) => name.trim());
  if (names.includes("") || new Set(names).size < names.length) errors.labels = "Each label needs a name of its own.";
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const { name, message, destinations, mutes, labels } = draft;
  const own = { name: name.trim(), message, destinations, mutes };
  return {
    ok: true,
    definition: {
      ...own,
      ...decidingOf(draft),
      labels: Object.fromEntries(labels.map(([key, value]) => [key.trim(), value])),
    },
  };
}

/** Returns the part of a draft on which decisions depend; `null` while it is not complete. */
export function readDeciding(draft: Draft): Deciding | null {
  return Object.keys(decidingErrors(draft)).length > 0 ? null : decidingOf(draft);
}

function decidingErrors({ query, kind, value, percent, min, recovery }: Draft): DraftErrors {
  const errors: DraftErrors = {};
  if (query.trim() === "") errors.query = "Write a query. * finds every entry.";
  if (kind === "change") {
    if (!(numberOf(percent) > 0)) errors.percent = "A number above 0.";
    if (!Number.isInteger(numberOf(min)) || numberOf(min) < 0) errors.min = "A whole number from 0.";
  } else if (kind === "rate" || kind === "absence") {
    if (!(numberOf(value) > 0)) errors.value = "A number above 0.";
  } else if (kind !== "new-pattern" && Number.isNaN(numberOf(value))) errors.value = "A number.";
  if (recovery.trim() !== "" && Number.isNaN(numberOf(recovery))) errors.recovery = "A number, or nothing.";
  return errors;
}

function decidingOf(draft: Draft): Deciding {
  const { query, window, delay, recovery, kind } = draft;
  return {
    query: query.trim(),
    condition: conditionOf(draft),
    window,
    delay: delay === "" ? null : delay,
    for: draft.for,
    recovery: recovery.trim() === "" || kind === "new-pattern" ? null : numberOf(recovery),
  };
}

function conditionOf({ kind, value, direction, percent, min }: Draft): Condition {
  switch (kind) {
    case "change":
      return { kind, direction, percent: numberOf(percent), min: numberOf(min) };
    case "new-pattern":
      return { kind };
    case "threshold":
      return { kind, value: numberOf(value), direction: "above" };
    case "below":
      return { kind: "threshold", value: numberOf(value), direction: "below" };
    default:
      return { kind, value: numberOf(value) };
  }
}

/** Names that a message may have between double braces. */
export function messageNames({ query, kind }: Pick<Draft, "query" | "kind">): string[] {
  const fields = kind === "new-pattern" ? ["pattern"] : groupFields(query);
  return [...TEMPLATE_NAMES, ...fields.map((field) => `group.${field}`)];
}
