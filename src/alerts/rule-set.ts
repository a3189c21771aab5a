import type { Failure, Result } from "../rpc/result.ts";
import type { AuditNote } from "../workspace/audit.ts";
import type { RuleDefinition } from "./definition.ts";
import type { Mute } from "./mutes.ts";
import { type AlertRule, changeRule, createRule, deleteRule, listRules, type RuleScope } from "./rules.ts";

/** A rule of a set. For `mutes` see `mutesOf`. */
export type ListedRule = Omit<RuleDefinition, "mutes"> & Partial<Pick<RuleDefinition, "mutes">>;

/** Rules that a project is to have, identified by their names. A router has validated them. */
export interface RuleSet {
  rules: readonly ListedRule[];
  /** Whether rules that are not in the set are deleted. */
  prune: boolean;
}

/** What a set changes in one rule of a project. */
export type RuleChange =
  | { kind: "create"; after: RuleDefinition }
  | { kind: "change"; id: string; version: number; before: RuleDefinition; after: RuleDefinition }
  | { kind: "delete"; id: string; before: RuleDefinition };

export interface RulePlan {
  /** In the order of the set; deletions come first. */
  changes: RuleChange[];
  /** Rules that are as the set has them. */
  unchanged: number;
  /** Names of the rules that are not in the set and stay. */
  others: string[];
}

/** Compares the rules of a project with a set. */
export function planRules(existing: readonly AlertRule[], { rules, prune }: RuleSet): RulePlan {
  const byName = new Map(existing.map((rule) => [rule.definition.name, rule]));
  const names = new Set(rules.map(({ name }) => name));
  const others = existing.filter(({ definition }) => !names.has(definition.name));
  const written = rules.map((listed): RuleChange | null => {
    const rule = byName.get(listed.name);
    const after = { ...listed, mutes: mutesOf(listed.mutes, rule?.definition.mutes ?? []) };
    if (rule === undefined) return { kind: "create", after };
    const { id, version, definition: before } = rule;
    return isSame(before, after) ? null : { kind: "change", id, version, before, after };
  });
  const changes = written.filter((change) => change !== null);
  const deleted = others.map(({ id, definition: before }): RuleChange => ({ kind: "delete", id, before }));
  return {
    changes: prune ? [...deleted, ...changes] : changes,
    unchanged: written.length - changes.length,
    others: prune ? [] : others.map(({ definition }) => definition.name),
  };
}

/**
 * Returns the mutes of a rule. Without any in the set, it keeps its own. Mutes until a time, which begin during an incident, stay
 * unless the set has such ones itself.
 */
function mutesOf(listed: readonly Mute[] | undefined, own: readonly Mute[]): readonly Mute[] {
  if (listed === undefined) return own;
  const isSpan = (mute: Mute) => "from" in mute;
  return listed.some(isSpan) ? listed : [...listed, ...own.filter(isSpan)];
}

/** Ends a transaction that must not keep what it has written. */
export class Unapplied extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "Unapplied";
    this.failure = failure;
  }
}

/**
 * Makes the rules of a project those of a set, in the caller's transaction.
 * @param noteAs returns what records the changes of an action
 * @throws Unapplied if one change is refused: the caller rolls all of them back
 */
export function applyRules(
  sql: SqlStorage,
  scope: RuleScope,
  set: RuleSet,
  actor: string,
  noteAs: (action: "alert.create" | "alert.update" | "alert.delete") => AuditNote,
): RulePlan {
  const plan = planRules(listRules(sql, scope.project.num), set);
  for (const change of plan.changes) {
    const done = applyOne(sql, scope, change, actor, noteAs);
    if (!done.ok) throw new Unapplied(done);
  }
  return plan;
}

function applyOne(
  sql: SqlStorage,
  scope: RuleScope,
  change: RuleChange,
  actor: string,
  noteAs: Parameters<typeof applyRules>[4],
): Result<unknown> {
  switch (change.kind) {
    case "create":
      return createRule(sql, scope, change.after, actor, noteAs("alert.create"));
    case "change":
      return changeRule(sql, scope, change.id, change.after, change.version, actor, noteAs("alert.update"));
    case "delete":
      return deleteRule(sql, scope, change.id, noteAs("alert.delete"));
  }
}

function isSame(a: RuleDefinition, b: RuleDefinition): boolean {
  return stableText(a) === stableText(b);
}

/** JSON with the members of each object in one order, and with the members that rules of earlier versions lack. */
function stableText({ condition, delayMs = null, ...rest }: RuleDefinition): string {
  const { direction = null, ...own } = { direction: undefined, ...condition };
  const definition = { ...rest, delayMs, condition: { ...own, direction: direction === "above" ? null : direction } };
  return JSON.stringify(definition, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
