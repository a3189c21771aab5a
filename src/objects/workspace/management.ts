import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import {
  type CreatedKey,
  createKey,
  getKeys,
  type KeyPage,
  type KeyRequest,
  removeKey,
  rotateKey,
} from "../../keys/actions.ts";
import type { LimitConfiguration } from "../../limits/cascade.ts";
import { type Origin, originOrNew } from "../../platform/origin.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import type { WorkspaceInfo } from "../../rpc/workspace.ts";
import { settingsOf } from "../../settings.ts";
import { type AdmissionContext, type LiveCounter, liveCounters } from "../../workspace/admission.ts";
import { type AuditFilter, type AuditNote, type AuditPage, listAudit } from "../../workspace/audit.ts";
import { markRenamed } from "../../workspace/directory-changes.ts";
import {
  type Invitation,
  type InviteRequest,
  invite,
  listInvitations,
  revokeInvitation,
} from "../../workspace/invitations.ts";
import { listMembers, type Member } from "../../workspace/members.ts";
import { changeRole, removeMember } from "../../workspace/membership.ts";
import type { Role } from "../../workspace/permissions.ts";
import {
  createProject,
  deleteProject,
  hasRoomForProject,
  listProjects,
  MAX_PROJECTS,
  type ProjectRow,
  renameProject,
} from "../../workspace/projects.ts";
import { deleteWorkspace } from "../../workspace/provision.ts";
import {
  changedSettings,
  changeSettings,
  limitsInAudit,
  readWorkspace,
  type SettingsChange,
  writeLimits,
} from "../../workspace/settings.ts";
import { readUsage, type Usage } from "../../workspace/usage.ts";
import { WorkspaceCore } from "./core.ts";
import { readWorkspaceInfo } from "./invitations.ts";

/**
 * The part of a workspace object that its members manage: projects, keys, limits, settings, members and invitations.
 * Each method checks the member's role and does its work in one transaction.
 */
export abstract class ManagedWorkspace extends DurableObject<Env> {
  protected readonly core: WorkspaceCore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.core = new WorkspaceCore(ctx, env);
  }

  async createProject(userId: string, name: string, origin?: Origin): Promise<Result<ProjectRow>> {
    const create = ({ sql }: AdmissionContext, _role: Role, _id: string, note: AuditNote): ProjectRow | null => {
      if (!hasRoomForProject(sql)) return null;
      const project = createProject(sql, name, Date.now());
      note(project.id, { after: { name } });
      return project;
    };
    const made = await this.core.as(userId, "project.create", null, create, origin);
    if (!made.ok) return made;
    if (made.value !== null) return ok(made.value);
    return fail("CONFLICT", `A workspace has at most ${MAX_PROJECTS} projects.`);
  }

  async listProjects(userId: string, cursor: number, limit: number): Promise<Result<ProjectRow[]>> {
    return this.core.as(userId, "project.list", null, ({ sql }) => listProjects(sql, cursor, limit));
  }

  async getProject(userId: string, projectId: string): Promise<Result<ProjectRow>> {
    return this.core.as(userId, "project.get", projectId, (_, project) => project);
  }

  async renameProject(userId: string, projectId: string, name: string, origin?: Origin): Promise<Result<ProjectRow>> {
    const rename = ({ sql }: AdmissionContext, project: ProjectRow, _id: string, note: AuditNote): ProjectRow => {
      if (project.name === name) return project;
      renameProject(sql, project.num, name);
      note(projectId, { before: { name: project.name }, after: { name } });
      return { ...project, name };
    };
    return this.core.as(userId, "project.rename", projectId, rename, origin);
  }

  async deleteProject(userId: string, projectId: string, origin?: Origin): Promise<Result<true>> {
    const end = ({ sql }: AdmissionContext, project: ProjectRow, _id: string, note: AuditNote): true => {
      deleteProject(sql, project.num, Date.now());
      note(projectId, { before: { name: project.name } });
      return true;
    };
    return this.core.as(userId, "project.delete", projectId, end, origin);
  }

  async createKey(
    userId: string,
    projectId: string,
    request: KeyRequest,
    origin?: Origin,
  ): Promise<Result<CreatedKey>> {
    const create = ({ sql }: AdmissionContext, project: ProjectRow, workspaceId: string, note: AuditNote): CreatedKey =>
      createKey(sql, workspaceId, project, userId, request, note, Date.now());
    return this.core.as(userId, "key.create", projectId, create, origin);
  }

  async listKeys(
    userId: string,
    projectId: string,
    cursor: string | null,
    limit: number,
  ): Promise<Result<KeyPage | null>> {
    return this.core.as(userId, "key.list", projectId, ({ sql }, project) => getKeys(sql, project.num, cursor, limit));
  }

  async rotateKey(
    userId: string,
    projectId: string,
    keyId: string,
    overlapSeconds: number,
    origin?: Origin,
  ): Promise<Result<CreatedKey | null>> {
    const rotate = (
      { sql }: AdmissionContext,
      { num }: ProjectRow,
      workspaceId: string,
      note: AuditNote,
    ): CreatedKey | null => rotateKey(sql, workspaceId, num, userId, keyId, overlapSeconds, note, Date.now());
    return this.core.as(userId, "key.rotate", projectId, rotate, origin);
  }

  async revokeKey(userId: string, projectId: string, keyId: string, origin?: Origin): Promise<Result<boolean>> {
    const revoke = ({ sql }: AdmissionContext, { num }: ProjectRow, _id: string, note: AuditNote): boolean =>
      removeKey(sql, num, keyId, note, Date.now());
    return this.core.as(userId, "key.revoke", projectId, revoke, origin);
  }

  async rateLimits(userId: string): Promise<Result<{ limits: LimitConfiguration; live: LiveCounter[] }>> {
    return this.core.as(userId, "limits.get", null, (admission) => ({
      limits: admission.limits.configuration,
      live: liveCounters(admission, Date.now()),
    }));
  }

  async setLimits(userId: string, limits: LimitConfiguration, origin?: Origin): Promise<Result<true>> {
    const set = (
      { sql, limits: { configuration } }: AdmissionContext,
      _role: Role,
      id: string,
      note: AuditNote,
    ): true => {
      const [before, after] = [limitsInAudit(configuration), limitsInAudit(limits)];
      if (JSON.stringify(configuration) !== JSON.stringify(limits)) note(id, { before, after });
      writeLimits(sql, limits);
      return true;
    };
    return this.core.as(userId, "limits.set", null, set, origin);
  }

  async getWorkspaceInfo(userId: string): Promise<Result<WorkspaceInfo>> {
    return readWorkspaceInfo(this.core, userId);
  }

  /** @deprecated The earlier name of `getWorkspaceInfo`: routers of the version before call it during a deploy. */
  describe(userId: string): Promise<Result<WorkspaceInfo>> {
    return this.getWorkspaceInfo(userId);
  }

  async changeSettings(userId: string, change: SettingsChange, origin?: Origin): Promise<Result<WorkspaceInfo>> {
    const update = ({ sql }: AdmissionContext, _role: Role, id: string, note: AuditNote): void => {
      const { before, after } = changedSettings(readWorkspace(sql), change);
      if (Object.keys(after).length > 0) note(id, { before: { ...before }, after: { ...after } });
      changeSettings(sql, change);
      if (change.name !== undefined) markRenamed(sql);
    };
    const changed = await this.core.as(userId, "workspace.update", null, update, origin);
    if (!changed.ok) return changed;
    return readWorkspaceInfo(this.core, userId);
  }

  async deleteWorkspace(userId: string, origin?: Origin): Promise<Result<Result<true>>> {
    const cause = originOrNew(origin);
    return this.core.as(userId, "workspace.delete", null, ({ sql }) => deleteWorkspace(sql, cause, Date.now()));
  }

  async audit(userId: string, filter: AuditFilter, before: number | null, limit: number): Promise<Result<AuditPage>> {
    return this.core.as(userId, "audit.list", null, ({ sql }) => listAudit(sql, filter, before, limit, Date.now()));
  }

  async usage(userId: string): Promise<Result<Usage>> {
    return this.core.as(userId, "usage.get", null, ({ sql }) => readUsage(sql, Date.now()));
  }

  async listMembers(userId: string, cursor: readonly [number, string], limit: number): Promise<Result<Member[]>> {
    return this.core.as(userId, "member.list", null, ({ sql }) => listMembers(sql, cursor, limit));
  }

  async changeRole(userId: string, memberId: string, role: Role, origin?: Origin): Promise<Result<Result<Member>>> {
    const change = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Result<Member> =>
      changeRole(sql, by, memberId, role, note, Date.now());
    return this.core.as(userId, "member.change", null, change, origin);
  }

  async removeMember(userId: string, memberId: string, origin?: Origin): Promise<Result<Result<true>>> {
    const action = userId === memberId ? "member.leave" : "member.remove";
    const remove = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Result<true> =>
      removeMember(sql, by, memberId, note, Date.now());
    return this.core.as(userId, action, null, remove, origin);
  }

  async invite(userId: string, request: InviteRequest, origin?: Origin): Promise<Result<Result<Invitation>>> {
    const cause = originOrNew(origin);
    const { requestId } = cause;
    const pepper = settingsOf(this.env).REFRESH_PEPPER;
    const create = ({ sql }: AdmissionContext, by: Role, workspaceId: string, note: AuditNote): Result<Invitation> =>
      invite(sql, { by, userId, workspaceId, pepper, requestId }, request, note, Date.now());
    return this.core.as(userId, "invitation.create", null, create, cause);
  }

  async listInvitations(
    userId: string,
    cursor: readonly [number, string],
    limit: number,
  ): Promise<Result<Invitation[]>> {
    return this.core.as(userId, "invitation.list", null, ({ sql }) => listInvitations(sql, cursor, limit, Date.now()));
  }

  async revokeInvitation(userId: string, id: string, origin?: Origin): Promise<Result<Result<true>>> {
    const revoke = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Result<true> =>
      revokeInvitation(sql, by, id, note, Date.now());
    return this.core.as(userId, "invitation.revoke", null, revoke, origin);
  }
}
