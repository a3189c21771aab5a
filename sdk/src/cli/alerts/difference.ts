import { paint, shown } from "../pretty.ts";
import type { NamedDestination, Plan, PlannedChange, Rule } from "./rule.ts";
import { fileMembers } from "./rules-text.ts";

/** Members whose change begins the count of a rule again. */
const COUNTING = ["query", "condition", "window", "delay", "for", "recovery"];
const COLORS = { "+": "32", "-": "31", "~": "33" } as const;

/**
 * Formats what a file changes: a block for each alert, with the lines that differ.
 * @param isDryRun whether the changes are still to be made
 */
export function planLines(
  plan: Omit<Plan, "revision">,
  destinations: readonly NamedDestination[],
  isDryRun: boolean,
  colors: boolean,
): string[] {
  const { changes, unchanged, others } = plan;
  const count = (kind: PlannedChange["kind"]) => changes.filter((change) => change.kind === kind).length;
  const sums = (["create", "change", "delete"] as const).map((kind) =>
    isDryRun ? `${count(kind)} to ${kind}` : `${count(kind)} ${kind}d`,
  );
  const line = (sign: keyof typeof COLORS, text: string) => paint(`${sign} ${text}`, COLORS[sign], colors);
  const blocks = changes.flatMap(({ kind, name, before, after }) => {
    const [sign, what] =
      kind === "create"
        ? (["+", "create"] as const)
        : kind === "delete"
          ? (["-", "delete"] as const)
          : (["~", "change"] as const);
    const members = memberLines(before, after, destinations);
    return [
      line(sign, `${what} ${shown(name)}${countsAgain({ before, after }) ? " (counts again from the beginning)" : ""}`),
      ...members.map(([own, text]) => `  ${line(own, shown(text))}`),
    ];
  });
  const kept = others.length === 0 ? "" : ` Not in the file: ${others.map(shown).join(", ")}.`;
  return [...blocks, `${sums.join(", ")}, ${unchanged} unchanged.${kept}`];
}

/** Whether a change of a rule begins its count again. */
export function countsAgain({ before, after }: Pick<PlannedChange, "before" | "after">): boolean {
  if (before === null || after === null) return false;
  return COUNTING.some((member) => textOf(before[member]) !== textOf(after[member]));
}

/** Returns the members of which an alert has other values, or all of a new or deleted one. */
export function memberLines(
  before: Rule | null,
  after: Rule | null,
  destinations: readonly NamedDestination[],
): ["+" | "-", string][] {
  const [old, next] = [before, after].map((rule) => new Map(fullMembers(rule, destinations)));
  const names = [...new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])])].filter((name) => name !== "name");
  return names.flatMap((name): ["+" | "-", string][] => {
    const [was, is] = [old?.get(name), next?.get(name)];
    if (textOf(was) === textOf(is)) return [];
    return [
      ...(was === undefined ? [] : [["-", `${name}: ${textOf(was)}`] as ["-", string]]),
      ...(is === undefined ? [] : [["+", `${name}: ${textOf(is)}`] as ["+", string]]),
    ];
  });
}

/** Members of a file, with all mutes. */
function fullMembers(rule: Rule | null, destinations: readonly NamedDestination[]): [string, unknown][] {
  if (rule === null) return [];
  const members = fileMembers(rule, destinations).filter(([name]) => name !== "mutes");
  const { mutes } = rule;
  return Array.isArray(mutes) && mutes.length > 0 ? [...members, ["mutes", mutes]] : members;
}

/** A value in one line, with the members of objects in one order. */
function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, (_, member: unknown) => sorted(member));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
