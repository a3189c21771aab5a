import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import type { KeyRequest } from "../../keys/actions.ts";
import type { LimitConfiguration } from "../../limits/cascade.ts";
import { COUNTED } from "../../limits/state.ts";
import { type Origin, originOrNew } from "../../platform/origin.ts";
import type { Management, ManagementMethod } from "../../rpc/management.ts";
import { ok, type Result } from "../../rpc/result.ts";
import { settingsOf } from "../../settings.ts";
import type { AuditFilter } from "../../workspace/audit.ts";
import type { InviteRequest } from "../../workspace/invitations.ts";
import type { Role } from "../../workspace/permissions.ts";
import type { SettingsChange } from "../../workspace/settings.ts";
import { WorkspaceCore } from "./core.ts";
import { MemberManagement } from "./management.ts";

type Answer<M extends ManagementMethod> = Promise<Result<ReturnType<Management[M]>>>;

/** The older form of the answers that a rule of the workspace may refuse: a result within a result. */
type Nested<M extends ManagementMethod> = Promise<Result<Result<ReturnType<Management[M]>>>>;

async function nested<T>(result: Promise<Result<T>>): Promise<Result<Result<T>>> {
  return ok(await result);
}

/**
 * The methods by which routers of the version before manage a workspace, each after a call of `admit` that has counted the
 * request. Remove with the next release: newer routers call `manage`.
 */
export abstract class AnswersOlderRouters extends DurableObject<Env> {
  protected readonly core: WorkspaceCore;
  protected readonly management: MemberManagement;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.core = new WorkspaceCore(ctx, env);
    this.management = new MemberManagement(this.core, settingsOf(env).REFRESH_PEPPER);
  }

  /** Also the way in which routers read a workspace of their list for a member. */
  getWorkspaceInfo(userId: string): Answer<"getWorkspaceInfo"> {
    return this.#run("getWorkspaceInfo", [], userId, undefined);
  }

  /** The name of `getWorkspaceInfo` two releases ago. */
  describe(userId: string): Answer<"getWorkspaceInfo"> {
    return this.getWorkspaceInfo(userId);
  }

  createProject(userId: string, name: string, origin?: Origin): Answer<"createProject"> {
    return this.#run("createProject", [name], userId, origin);
  }

  listProjects(userId: string, cursor: number, limit: number, origin?: Origin): Answer<"listProjects"> {
    return this.#run("listProjects", [cursor, limit], userId, origin);
  }

  getProject(userId: string, projectId: string, origin?: Origin): Answer<"getProject"> {
    return this.#run("getProject", [projectId], userId, origin);
  }

  renameProject(userId: string, projectId: string, name: string, origin?: Origin): Answer<"renameProject"> {
    return this.#run("renameProject", [projectId, name], userId, origin);
  }

  deleteProject(userId: string, projectId: string, origin?: Origin): Answer<"deleteProject"> {
    return this.#run("deleteProject", [projectId], userId, origin);
  }

  createKey(userId: string, projectId: string, request: KeyRequest, origin?: Origin): Answer<"createKey"> {
    return this.#run("createKey", [projectId, request], userId, origin);
  }

  listKeys(
    userId: string,
    projectId: string,
    cursor: string | null,
    limit: number,
    origin?: Origin,
  ): Answer<"listKeys"> {
    return this.#run("listKeys", [projectId, cursor, limit], userId, origin);
  }

  rotateKey(
    userId: string,
    projectId: string,
    keyId: string,
    overlapSeconds: number,
    origin?: Origin,
  ): Answer<"rotateKey"> {
    return this.#run("rotateKey", [projectId, keyId, overlapSeconds], userId, origin);
  }

  revokeKey(userId: string, projectId: string, keyId: string, origin?: Origin): Answer<"revokeKey"> {
    return this.#run("revokeKey", [projectId, keyId], userId, origin);
  }

  rateLimits(userId: string, origin?: Origin): Answer<"rateLimits"> {
    return this.#run("rateLimits", [], userId, origin);
  }

  setLimits(userId: string, limits: LimitConfiguration, origin?: Origin): Answer<"setLimits"> {
    return this.#run("setLimits", [limits], userId, origin);
  }

  changeSettings(userId: string, change: SettingsChange, origin?: Origin): Answer<"changeSettings"> {
    return this.#run("changeSettings", [change], userId, origin);
  }

  deleteWorkspace(userId: string, origin?: Origin): Nested<"deleteWorkspace"> {
    return nested(this.#run("deleteWorkspace", [], userId, origin));
  }

  audit(userId: string, filter: AuditFilter, before: number | null, limit: number, origin?: Origin): Answer<"audit"> {
    return this.#run("audit", [filter, before, limit], userId, origin);
  }

  usage(userId: string, origin?: Origin): Answer<"usage"> {
    return this.#run("usage", [], userId, origin);
  }

  listMembers(
    userId: string,
    cursor: readonly [number, string],
    limit: number,
    origin?: Origin,
  ): Answer<"listMembers"> {
    return this.#run("listMembers", [cursor, limit], userId, origin);
  }

  changeRole(userId: string, memberId: string, role: Role, origin?: Origin): Nested<"changeRole"> {
    return nested(this.#run("changeRole", [memberId, role], userId, origin));
  }

  removeMember(userId: string, memberId: string, origin?: Origin): Nested<"removeMember"> {
    return nested(this.#run("removeMember", [memberId], userId, origin));
  }

  invite(userId: string, request: InviteRequest, origin?: Origin): Nested<"invite"> {
    return nested(this.#run("invite", [request], userId, origin));
  }

  listInvitations(
    userId: string,
    cursor: readonly [number, string],
    limit: number,
    origin?: Origin,
  ): Answer<"listInvitations"> {
    return this.#run("listInvitations", [cursor, limit], userId, origin);
  }

  revokeInvitation(userId: string, id: string, origin?: Origin): Nested<"revokeInvitation"> {
    return nested(this.#run("revokeInvitation", [id], userId, origin));
  }

  #run<M extends ManagementMethod>(
    method: M,
    args: Parameters<Management[M]>,
    userId: string,
    origin: Origin | undefined,
  ): Answer<M> {
    const caller = { kind: "user", userId } as const;
    return this.management.run({ caller, charge: COUNTED, origin: originOrNew(origin), method, args });
  }
}
