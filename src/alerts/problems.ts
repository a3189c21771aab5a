import type { ErrorDetail } from "../http/errors.ts";
import { printField } from "../query-language/fields.ts";
import { type Condition, isLow } from "./condition.ts";
import { type CountedQuery, countedOf, countedQueryOf, type RuleDefinition } from "./definition.ts";
import { isTimeZone } from "./mutes.ts";
import { ALERT_LIMITS } from "./rule.ts";
import { TEMPLATE_NAMES, unknownNames } from "./template.ts";

/** Returns what is wrong with members of a definition together. */
export function problemsOf(definition: RuleDefinition): ErrorDetail[] {
  const query = countedQueryOf(definition);
  return [
    ...conditionProblems(definition, query),
    ...recoveryProblems(definition, query),
    ...timeProblems(definition),
    ...messageProblems(definition, countedOf(definition, query)),
  ].map(([path, message]) => ({ path, code: "custom", message }));
}

type Problem = [path: string, message: string];

function conditionProblems({ condition, forMs }: RuleDefinition, { measure, by }: CountedQuery): Problem[] {
  const name = measure?.fn ?? "count";
  const isCount = name === "count" || name === "count_distinct";
  switch (condition.kind) {
    case "new-pattern": {
      const problems: Problem[] = [];
      if (measure !== null || by.length > 0) problems.push(["query", "A rule for new patterns has a filter alone."]);
      if (forMs > 0) problems.push(["for", "A new pattern fires at once: must be 0s."]);
      return problems;
    }
    case "change": {
      if (condition.direction === "fall" && condition.percent > 100 && isCount)
        return [["condition.percent", "A fall is at most 100 percent."]];
      return [];
    }
    case "rate":
      if (name === "count" || name === "sum") return [];
      return [["condition.kind", `A rate is of entries or of a \`sum\`, not of \`${name}\`.`]];
    case "absence":
      if (isCount) return wholeProblems(condition.value);
      if (name === "sum") return [];
      return [["condition.kind", `\`${name}\` has no value without entries: use \`threshold\` with \`below\`.`]];
    case "threshold":
      if (measure === null && condition.direction === "below")
        return [["condition.direction", "Fewer entries are an `absence`."]];
      return isCount ? wholeProblems(condition.value) : [];
  }
}

function wholeProblems(value: number): Problem[] {
  if (Number.isInteger(value) && value >= 1) return [];
  return [["condition.value", "Must be a whole number from 1 on."]];
}

function recoveryProblems({ condition, recovery }: RuleDefinition, { measure }: CountedQuery): Problem[] {
  if (recovery === null) return [];
  const limit = limitOf(condition);
  if (limit === null) return [["recovery", "A new pattern recovers a window later: must be null."]];
  if (recovery < 0 && (measure === null || condition.kind === "change")) return [["recovery", "Must be at least 0."]];
  if (isLow(condition) ? recovery >= limit : recovery <= limit) return [];
  const side = isLow(condition) ? "at least" : "at most";
  const what = condition.kind === "change" ? "percentage" : "value";
  return [["recovery", `Must be ${side} the ${what} of the condition.`]];
}

function limitOf(condition: Condition): number | null {
  if (condition.kind === "new-pattern") return null;
  return condition.kind === "change" ? condition.percent : condition.value;
}

function timeProblems({ condition, windowMs, delayMs = null, mutes }: RuleDefinition): Problem[] {
  const problems: Problem[] = [];
  if (delayMs !== null) {
    if (condition.kind === "new-pattern") problems.push(["delay", "New patterns are found by time of receipt."]);
    if (delayMs > ALERT_LIMITS.delayWindows * windowMs)
      problems.push(["delay", `Must be at most ${ALERT_LIMITS.delayWindows} windows.`]);
  }
  for (const [index, mute] of mutes.entries()) {
    if ("from" in mute) {
      if (mute.to <= mute.from) problems.push([`mutes.${index}.to`, "Must be after `from`."]);
    } else if (!isTimeZone(mute.timeZone)) {
      problems.push([`mutes.${index}.timeZone`, 'Must be a time zone, such as "Europe/Berlin" or "UTC".']);
    }
  }
  return problems;
}

function messageProblems({ message }: RuleDefinition, { by }: Pick<CountedQuery, "by">): Problem[] {
  const fields = by.map(printField);
  const [unknown] = unknownNames(message, fields);
  if (unknown === undefined) return [];
  const known = [...TEMPLATE_NAMES, ...fields.map((field) => `group.${field}`)].join(", ");
  return [["message", `{{${unknown}}} has no value. The names are ${known}.`]];
}
