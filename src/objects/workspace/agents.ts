import { grantsOf, type OwnGrants } from "../../grants/actions.ts";
import type { Exchanged, GrantExchange, PresentedGrantToken } from "../../grants/exchange.ts";
import { COUNTED } from "../../limits/state.ts";
import type { Origin } from "../../platform/origin.ts";
import type { AgentChange, AgentChangeCall, Management } from "../../rpc/management.ts";
import type { Result } from "../../rpc/result.ts";
import { type AgentAccess, type AgentCall, admitAgent } from "../../workspace/agent-access.ts";
import { type AgentAlert, alertsForAgent, memberBehind } from "../../workspace/agent-work.ts";
import { type Caller, unknownCaller } from "../../workspace/permissions.ts";
import { exchangeGrant, revokeGrantToken } from "./grants.ts";
import { AnswersOlderRouters } from "./older-routers.ts";

/** What agents, and clients of OAuth on their behalf, ask of a workspace object. */
export abstract class AnswersAgents extends AnswersOlderRouters {
  async admitAgent(call: AgentCall): Promise<Result<AgentAccess>> {
    return (
      this.core.state.transaction((admission, row) => admitAgent(admission, row, call, Date.now())) ??
      unknownCaller(call.caller)
    );
  }

  async alertsForAgent(caller: Caller, projectId: string | null): Promise<Result<AgentAlert[]>> {
    return (
      this.core.state.transaction((admission) => alertsForAgent(admission, caller, projectId, Date.now())) ??
      unknownCaller(caller)
    );
  }

  /** The check and the change are one turn: nothing runs between them. */
  async changeForAgent<M extends AgentChange>({
    caller,
    scope,
    projectId,
    origin,
    method,
    args,
  }: AgentChangeCall<M>): Promise<Result<ReturnType<Management[M]>>> {
    const member =
      this.core.state.transaction((admission) => memberBehind(admission, caller, scope, projectId, Date.now())) ??
      unknownCaller(caller);
    return member.ok ? this.management.run({ caller: member.value, charge: COUNTED, origin, method, args }) : member;
  }

  async exchangeGrant(call: GrantExchange): Promise<Exchanged> {
    return exchangeGrant(this.core, this.env, call);
  }

  async revokeGrantToken(token: PresentedGrantToken, origin: Origin): Promise<void> {
    revokeGrantToken(this.core, this.env, token, origin);
  }

  async grantsOf(userId: string): Promise<OwnGrants> {
    const { row, sql } = this.core.state;
    return { workspaceName: row?.name ?? "", grants: row ? grantsOf(sql, userId, Date.now()) : [] };
  }
}
