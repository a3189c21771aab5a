import { listDecisions, type StoredDecision } from "../alerts/decisions.ts";
import { type AlertRule, listRules } from "../alerts/rules.ts";
import { findGrantByToken } from "../grants/store.ts";
import type { AgentScope } from "../keys/scopes.ts";
import { COUNTED } from "../limits/state.ts";
import { fail, ok, type Result } from "../rpc/result.ts";
import { type AdmissionContext, admit } from "./admission.ts";
import { type Caller, roleFor, SCOPE_ACTIONS, type UserCaller } from "./permissions.ts";
import { readableProjects } from "./projects.ts";

/** What tools do beside reading logs, after their request has been admitted and counted. */

/** A rule of alerts with what it has decided, the newest first. */
export interface AgentAlert {
  projectId: string;
  rule: AlertRule;
  decisions: StoredDecision[];
}

/** Decisions of one rule. */
const DECISIONS = 20;

/** Returns the alerts of the projects that an agent reads, or of one of them. */
export function alertsForAgent(
  admission: AdmissionContext,
  caller: Caller,
  projectId: string | null,
  now: number,
): Result<AgentAlert[]> {
  const requirement = { scope: "logs:read", role: roleFor("alert.list"), projectId } as const;
  const admitted = admit(admission, caller, requirement, COUNTED, now);
  if (!admitted.ok) return admitted;
  const { sql } = admission;
  const alerts = readableProjects(sql, admitted).flatMap(({ num, id }) =>
    listRules(sql, num).map((rule) => {
      const decisions = listDecisions(sql, num, rule.id, Number.MAX_SAFE_INTEGER, DECISIONS);
      return { projectId: id, rule, decisions };
    }),
  );
  return ok(alerts);
}

/**
 * Returns the member on whose behalf an agent changes something.
 * @param projectId `null`: something of the whole workspace, which only a grant of all projects may change
 */
export function memberBehind(
  admission: AdmissionContext,
  caller: Caller,
  scope: AgentScope,
  projectId: string | null,
  now: number,
): Result<UserCaller> {
  const requirement = { scope, role: roleFor(SCOPE_ACTIONS[scope]), projectId };
  const admitted = admit(admission, caller, requirement, COUNTED, now);
  if (!admitted.ok) return admitted;
  const grant = caller.kind === "grant" ? findGrantByToken(admission.sql, caller.hash)?.grant : undefined;
  if (grant === undefined) return fail("INSUFFICIENT_SCOPE", "Only an agent that a user has signed in may do this.");
  if (projectId === null && grant.projects !== null) {
    return fail("NOT_FOUND", "Name a project: the token does not work for the whole workspace.");
  }
  return ok({ kind: "user", userId: grant.userId });
}
