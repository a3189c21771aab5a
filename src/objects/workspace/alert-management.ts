import { listDecisions } from "../../alerts/decisions.ts";
import { listDestinations, MAX_DESTINATIONS } from "../../alerts/notifications/destinations.ts";
import { applyRules, planRules, Unapplied } from "../../alerts/rule-set.ts";
import {
  changeRule,
  createRule,
  deleteRule,
  getRule,
  listAllRules,
  listRules,
  listVersions,
} from "../../alerts/rules.ts";
import type { Implementations, KeyMethod } from "../../rpc/management.ts";
import { ok } from "../../rpc/result.ts";
import { type AuditNote, recordAudit } from "../../workspace/audit.ts";
import type { AuditAction } from "../../workspace/audit-actions.ts";
import type { WorkspaceCore } from "./core.ts";

/** What members and keys do with the alerts of a project. */
export function alertMethods(core: WorkspaceCore): Implementations<KeyMethod | "allAlerts"> {
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

    applyAlerts: async (by, projectId, set) => {
      try {
        return await core.as(by, "alert.update", projectId, ({ sql }, project, _id, _note, actor) => {
          const now = core.state.now();
          const noteAs =
            (action: AuditAction): AuditNote =>
            (target, change = {}) =>
              recordAudit(sql, { actor, action, target, ...change }, by.origin, Date.now());
          return ok(applyRules(sql, { project, now }, set, actor, noteAs));
        });
      } catch (error) {
        if (error instanceof Unapplied) return error.failure;
        throw error;
      }
    },

    alertDestinations: (by, projectId) =>
      core.as(by, "alert.list", projectId, ({ sql }) => {
        const all = listDestinations(sql, [0, ""], MAX_DESTINATIONS);
        return ok(all.map(({ id, kind, name, disabled }) => ({ id, kind, name, disabled })));
      }),
  };
}
