import type { Env } from "../../env.ts";
import { endGrant, giveGrant, grantsOf } from "../../grants/actions.ts";
import {
  type Exchanged,
  exchangeCode,
  type GrantExchange,
  type PresentedGrantToken,
  refreshGrant,
  revokeByToken,
} from "../../grants/exchange.ts";
import type { Origin } from "../../platform/origin.ts";
import { ok } from "../../rpc/result.ts";
import { settingsOf } from "../../settings.ts";
import { recordAudit } from "../../workspace/audit.ts";
import { roleOf } from "../../workspace/members.ts";
import { may } from "../../workspace/permissions.ts";
import type { WorkspaceCore } from "./core.ts";
import type { Implementation } from "./management.ts";

/** What clients of OAuth ask of a workspace object, in one transaction each. The audit and the log have each reuse. */
export function exchangeGrant(core: WorkspaceCore, env: Env, call: GrantExchange): Exchanged {
  const { state } = core;
  const { REFRESH_PEPPER: pepper, REFRESH_LEEWAY_SECONDS } = settingsOf(env);
  const { origin } = call;
  const exchanged = state.transaction(({ sql }, { id: workspaceId }): Exchanged => {
    const now = Date.now();
    const isMember = (userId: string) => roleOf(sql, userId) !== null;
    const ports = { workspaceId, pepper, leewayMs: REFRESH_LEEWAY_SECONDS * 1000, isMember };
    const result =
      call.kind === "code" ? exchangeCode(sql, call.sent, ports, now) : refreshGrant(sql, call.sent, ports, now);
    if (!result.ok && result.ended) {
      const { grant, reuse } = result.ended;
      const change = { before: { client: grant.clientName }, after: { reason: `reuse of a ${reuse}` } };
      recordAudit(sql, { actor: grant.userId, action: "grant.end", target: grant.id, ...change }, origin, now);
    }
    return result;
  });
  if (exchanged && !exchanged.ok && exchanged.ended) {
    const { grant, reuse } = exchanged.ended;
    endTails(core);
    const fields = { event: "workspace.grant.reused", outcome: reuse, workspaceId: state.row?.id, grantId: grant.id };
    core.log("warn", origin, fields);
  }
  return exchanged ?? { ok: false, error: "invalid_grant" };
}

export function revokeGrantToken(core: WorkspaceCore, env: Env, token: PresentedGrantToken, origin: Origin): void {
  const isEnded = core.state.transaction(({ sql }) => {
    const ended = revokeByToken(sql, token, settingsOf(env).REFRESH_PEPPER);
    if (ended === null) return false;
    const change = { before: { client: ended.clientName }, after: { reason: "revoked by the client" } };
    recordAudit(sql, { actor: ended.userId, action: "grant.end", target: ended.id, ...change }, origin, Date.now());
    return true;
  });
  if (isEnded) endTails(core);
}

/** Closes the tails of a grant that has ended outside of a member's change, which closes them itself. */
function endTails({ state }: WorkspaceCore): void {
  state.invalidateSettings();
}

/** What members do with grants. */
export function grantManagement(core: WorkspaceCore): Pick<Implementation, "listGrants" | "giveGrant" | "endGrant"> {
  return {
    listGrants: (by, all) =>
      core.as(by, "grant.list", null, ({ sql }, role) =>
        ok(grantsOf(sql, all && may(role, "member.remove") ? null : by.caller.userId, Date.now())),
      ),

    giveGrant: (by, consent) =>
      core.as(by, "grant.create", null, ({ sql }, role, id, note) =>
        giveGrant(sql, id, { userId: by.caller.userId, role }, consent, note, Date.now()),
      ),

    endGrant: (by, grantId) =>
      core.as(by, "grant.revoke", null, ({ sql }, role, _id, note) =>
        endGrant(sql, { userId: by.caller.userId, role }, grantId, note),
      ),
  };
}
