import { Document } from "yaml";
import { record } from "../record.ts";
import type { NamedDestination, Rule } from "./rule.ts";

/** Members of a rule in the order of a file. Others follow. */
const ORDER = [
  "name",
  "query",
  "condition",
  "window",
  "delay",
  "for",
  "recovery",
  "labels",
  "message",
  "destinations",
  "mutes",
];
/** Members that a rule has if a file leaves them out. */
const DEFAULTS: Readonly<Record<string, string>> = {
  delay: "null",
  for: '"0s"',
  recovery: "null",
  labels: "{}",
  message: '""',
  destinations: "[]",
  mutes: "[]",
};
/** Returns the members of a rule as a file has them: in order, without defaults, destinations by name. */
export function fileMembers(rule: Rule, destinations: readonly NamedDestination[]): [name: string, value: unknown][] {
  const names = [...ORDER, ...Object.keys(rule).sort()].filter((name, at, all) => all.indexOf(name) === at);
  return names.flatMap((name): [string, unknown][] => {
    const value = fileValue(name, rule[name], destinations);
    const isLeftOut = value === undefined || JSON.stringify(value) === DEFAULTS[name];
    return isLeftOut ? [] : [[name, value]];
  });
}

/** Returns a member as a file has it. Mutes until a time are left out: applying a file keeps them. */
function fileValue(name: string, value: unknown, destinations: readonly NamedDestination[]): unknown {
  if (name === "destinations") return namesOf(value, destinations);
  if (name === "mutes" && Array.isArray(value)) return value.filter((mute) => record(mute)?.to === undefined);
  const condition = name === "condition" ? record(value) : null;
  if (condition?.direction !== "above") return value;
  const { direction: _, ...rest } = condition;
  return rest;
}

/** Returns what an export says of destinations that do not exist any more. */
export function leftOutOf(rules: readonly Rule[], destinations: readonly NamedDestination[]): string[] {
  const known = new Set(destinations.map(({ id }) => id));
  return rules.flatMap(({ name, destinations: ids }) => {
    const gone = Array.isArray(ids) ? ids.filter((id: unknown) => !known.has(String(id))) : [];
    return gone.length === 0 ? [] : [`${name}: left out destinations that were deleted: ${gone.join(", ")}.`];
  });
}

function namesOf(ids: unknown, destinations: readonly NamedDestination[]): unknown {
  if (!Array.isArray(ids)) return ids;
  return ids.map((id: unknown) => destinations.find((each) => each.id === id)?.name ?? id);
}

/** Writes rules as a file, ordered by name, so that the same rules give the same file. */
export function rulesText(rules: readonly Rule[], destinations: readonly NamedDestination[]): string {
  const sorted = rules.toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  const known = new Set(destinations.map(({ id }) => id));
  const alerts = sorted.map((rule) => Object.fromEntries(fileMembers(withoutUnknown(rule, known), destinations)));
  const document = new Document({ alerts });
  for (const [at, rule] of alerts.entries()) {
    for (const name of ["condition", "destinations", "mutes"]) {
      if (rule[name] !== undefined) document.setIn(["alerts", at, name], flow(document, rule[name]));
    }
  }
  return document.toString({ lineWidth: 0 });
}

/** A rule without destinations that do not exist any more: no file with them can be applied. */
function withoutUnknown(rule: Rule, known: ReadonlySet<string>): Rule {
  const { destinations } = rule;
  if (!Array.isArray(destinations)) return rule;
  return { ...rule, destinations: destinations.filter((id: unknown) => known.has(String(id))) };
}

/** A value in one line. */
function flow(document: Document, value: unknown): unknown {
  return document.createNode(value, { flow: true });
}
