import { listDecisions } from "../../alerts/decisions.ts";
import { listDestinations, MAX_DESTINATIONS } from "../../alerts/notifications/destinations.ts";
import { applyRules, deleteUsedDestination, planRules, type RuleSet, Unapplied } from "../../alerts/rule-set.ts";
import {
  changeRule,
  createRule,
  deleteRule,
  getRule,
  listAllRules,
  listRules,
  listVersions,
} from "../../alerts/rules.ts";
import type { Origin } from "../../platform/origin.ts";
import type { CallBy, Implementations, KeyMethod } from "../../rpc/management.ts";
import { ok, type Result } from "../../rpc/result.ts";
import { type AuditNote, recordAudit } from "../../workspace/audit.ts";
import type { AuditAction } from "../../workspace/audit-actions.ts";
import type { WorkspaceCore } from "./core.ts";

/** Returns what records the changes of an action, in a transaction that makes several. */
function notesOf(sql: SqlStorage, actor: string, origin: Origin): (action: AuditAction) => AuditNote {
  return (action) =>
    (target, change = {}) =>
      recordAudit(sql, { actor, action, target, ...change }, origin, Date.now());
}

/** Returns the result of a transaction, or the failure that has rolled it back. */
async function applied<T>(changing: Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await changing;
  } catch (error) {
    if (error instanceof Unapplied) return error.failure;
    throw error;
  }
}

/** What members and keys do with the alerts of a project, and what members do that changes alerts. */
export function alertMethods(core: WorkspaceCore): Implementations<KeyMethod | "allAlerts" | "deleteDestination"> {
  const apply = (by: CallBy<KeyMethod>, projectId: string, set: RuleSet, revision: string | null) =>
    applied(
      core.as(by, "alert.update", projectId, ({ sql }, project, _id, _note, actor) => {
        const scope = { project, now: core.state.now() };
        return ok(applyRules(sql, scope, set, revision, actor, notesOf(sql, actor, by.origin)));
      }),
    );
  return {
    allAlerts: (by) => core.as(by, "alert.list", null, ({ sql }) => ok(listAllRules(sql))),

    listAlerts: (by, projectId) => core.as(by, "alert.list", projectId, ({ sql }, { num }) => ok(listRules(sql, num))),

    getAlert: (by, projectId, id) => core.as(by, "alert.get", projectId, ({ sql }, { num }) => getRule(sql, num, id)),

    createAlert: (by, projectId, definition) =>
      core.as(by, "alert.create", projectId, ({ sql }, project, _id, note, actor) =>
        createRule(sql, { project, now: core.state.now() }, definition, actor, note),
      ),

    changeAlert: (by, projectId, id, definition, version) =>
      core.as(by, "alert.update", projectId, ({ sql }, project, _id, note, actor) =>
        changeRule(sql, { project, now: core.state.now() }, id, definition, version, actor, note),
      ),

    deleteAlert: (by, projectId, id) =>
      core.as(by, "alert.delete", projectId, ({ sql }, project, _id, note) =>
        deleteRule(sql, { project, now: core.state.now() }, id, note),
      ),

    alertVersions: (by, projectId, id) =>
      core.as(by, "alert.get", projectId, ({ sql }, { num }) => listVersions(sql, num, id)),

    alertDecisions: (by, projectId, id, before, limit) =>
      core.as(by, "alert.get", projectId, ({ sql }, { num }) => {
        const found = getRule(sql, num, id);
        return found.ok ? ok(listDecisions(sql, num, id, before, limit)) : found;
      }),

    planAlerts: (by, projectId, set) =>
      core.as(by, "alert.list", projectId, ({ sql }, { num }) => ok(planRules(listRules(sql, num), set))),

    applyAlerts: (by, projectId, set) => apply(by, projectId, set, null),

    applyAlertsAt: (by, projectId, set, revision) => apply(by, projectId, set, revision),

    deleteDestination: (by, id, isForced = false) =>
      applied(
        core.as(by, "destination.delete", null, ({ sql }, _role, _id, note, actor) => {
          const how = { isForced, now: core.state.now() };
          return deleteUsedDestination(sql, id, how, actor, note, notesOf(sql, actor, by.origin));
        }),
      ),

    alertDestinations: (by, projectId) =>
      core.as(by, "alert.list", projectId, ({ sql }) => {
        const all = listDestinations(sql, [0, ""], MAX_DESTINATIONS);
        return ok(all.map(({ id, kind, name, disabled }) => ({ id, kind, name, disabled })));
      }),
  };
}
