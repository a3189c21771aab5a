import { createHash } from "node:crypto";
import { one } from "../platform/sql.ts";
import { type Failure, fail, ok, type Result } from "../rpc/result.ts";
import type { AuditNote } from "../workspace/audit.ts";
import type { RuleDefinition } from "./definition.ts";
import type { Mute } from "./mutes.ts";
import { deleteDestination, getDestination } from "./notifications/destinations.ts";
import {
  type AlertRule,
  changeRule,
  createRule,
  deleteRule,
  listAllRules,
  listRules,
  type RuleScope,
} from "./rules.ts";

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
  /** Of the rules of the project: after the changes, if they are made. Absent from an older object. */
  revision?: string;
}

/** Hexadecimal characters of a revision: 64 bits. */
const REVISION_LENGTH = 16;

/** Returns a text that is the same as long as a project has the same rules in the same versions. */
export function revisionOf(rules: readonly Pick<AlertRule, "id" | "version">[]): string {
  const versions = rules.map(({ id, version }) => `${id} ${version}`).sort();
  return createHash("sha256").update(versions.join()).digest("hex").slice(0, REVISION_LENGTH);
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
    revision: revisionOf(existing),
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

/** Returns what records the changes of an action. */
type NoteAs = (action: "alert.create" | "alert.update" | "alert.delete") => AuditNote;

/**
 * Makes the rules of a project those of a set, in the caller's transaction.
 * @param revision that the rules must have; `null`: any
 * @throws Unapplied if one change is refused: the caller rolls all of them back
 */
export function applyRules(
  sql: SqlStorage,
  scope: RuleScope,
  set: RuleSet,
  revision: string | null,
  actor: string,
  noteAs: NoteAs,
): RulePlan {
  const plan = planRules(listRules(sql, scope.project.num), set);
  if (revision !== null && revision !== plan.revision) {
    const message = `The alerts of the project have changed: their revision is ${plan.revision}. Compare again.`;
    throw new Unapplied(fail("CONFLICT", message));
  }
  for (const change of plan.changes) {
    const done = applyOne(sql, scope, change, actor, noteAs);
    if (!done.ok) throw new Unapplied(done);
  }
  return { ...plan, revision: revisionOf(listRules(sql, scope.project.num)) };
}

function applyOne(
  sql: SqlStorage,
  scope: RuleScope,
  change: RuleChange,
  actor: string,
  noteAs: NoteAs,
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

/** A rule that named a destination, as it is without it. */
export interface ReleasedRule {
  projectId: string;
  id: string;
  name: string;
  version: number;
}

/** Rules that a refusal names. */
const NAMED = 5;

/**
 * Deletes a destination, in the caller's transaction.
 * @param isForced whether the rules that name it are changed, so that they no longer do. Otherwise such rules are a failure
 * @returns the rules that were changed
 * @throws Unapplied if one of several changes is refused: the caller rolls all of them back
 */
export function deleteUsedDestination(
  sql: SqlStorage,
  id: string,
  { isForced, now }: { isForced: boolean; now: number },
  actor: string,
  note: AuditNote,
  noteAs: NoteAs,
): Result<{ alerts: ReleasedRule[] }> {
  const users = listAllRules(sql).filter(({ definition }) => definition.destinationIds.includes(id));
  // Unlike a rolled back one, a request that is refused before any change counts.
  const found = getDestination(sql, id);
  if (!found.ok) return found;
  if (users.length > 0 && !isForced) return fail("CONFLICT", usedBy(users));
  deleteDestination(sql, id, note);
  const alerts = users.map(({ id: rule, version, definition, projectId = "" }): ReleasedRule => {
    const next = { ...definition, destinationIds: definition.destinationIds.filter((each) => each !== id) };
    const select = "SELECT num, last_seq AS lastSeq FROM projects WHERE id = ?";
    const scope = { project: one<RuleScope["project"]>(sql, select, projectId), now };
    const changed = changeRule(sql, scope, rule, next, version, actor, noteAs("alert.update"));
    if (!changed.ok) throw new Unapplied(changed);
    return { projectId, id: rule, name: definition.name, version: changed.value.version };
  });
  return ok({ alerts });
}

function usedBy(rules: readonly AlertRule[]): string {
  const names = rules.slice(0, NAMED).map(({ definition }) => JSON.stringify(definition.name));
  const more = rules.length > NAMED ? ` and ${rules.length - NAMED} more` : "";
  const who = rules.length === 1 ? `The alert ${names[0]} notifies` : `The alerts ${names.join(", ")}${more} notify`;
  return `${who} this destination, which force=true removes from ${rules.length === 1 ? "it" : "them"}.`;
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
