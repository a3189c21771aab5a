import { unitOf } from "../../lib/time-units.ts";
import type { Condition, ReplayedDecision } from "../../model/alerts.ts";
import { number } from "../explorer/view/format.ts";

/** A condition as a phrase: `at least 10`. */
export function conditionPhrase(condition: Condition): string {
  switch (condition.kind) {
    case "threshold":
      return `${condition.direction === "below" ? "less than" : "at least"} ${number(condition.value)}`;
    case "rate":
      return `at least ${number(condition.value)} a second`;
    case "absence":
      return `fewer than ${number(condition.value)}`;
    case "change":
      return `${condition.direction === "rise" ? "rise" : "fall"} by ${number(condition.percent)} %`;
    case "new-pattern":
      return "a new pattern";
  }
}

/** The value of a decision; `~` before an estimate. A change without one is a rise from nothing. */
export function valueText(
  { value, exact }: Pick<ReplayedDecision, "value" | "exact">,
  { kind }: Pick<Condition, "kind">,
): string {
  if (value === null) return kind === "change" ? "new" : "no value";
  return `${exact ? "" : "~"}${number(Math.round(value * 100) / 100)}`;
}

/** Milliseconds of a duration of the API, such as `5m`; 0 for any other text. */
export function durationMs(text: string): number {
  const [, count, letter] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return Number(count ?? 0) * (unitOf(letter)?.ms ?? 0);
}

/** `5m` as `5 minutes`. */
export function durationText(text: string): string {
  const [, count, letter] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const unit = unitOf(letter);
  return unit === undefined ? text : `${count} ${unit.name}${count === "1" ? "" : "s"}`;
}

const HOUR_MS = 3_600_000;

/** A length of time of an hour or more in whole hours, or in days from two days on. */
export function lengthText(ms: number): string {
  const hours = Math.round(ms / HOUR_MS);
  return hours < 48 ? durationText(`${hours}h`) : durationText(`${Math.round(hours / 24)}d`);
}
