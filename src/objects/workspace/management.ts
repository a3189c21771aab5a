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
import type { Ruling } from "../../rpc/result.ts";
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
import { type Answer, WorkspaceCore } from "./core.ts";
import { readWorkspaceInfo, type WorkspaceInfo } from "./invitations.ts";

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

  async createProject(userId: string, name: string, origin?: Origin): Promise<Answer<ProjectRow>> {
    const create = ({ sql }: AdmissionContext, _role: Role, _id: string, note: AuditNote): ProjectRow | null => {
      if (!hasRoomForProject(sql)) return null;
      const project = createProject(sql, name, Date.now());
      note(project.id, { after: { name } });
      return project;
    };
    const made = await this.core.as(userId, "project.create", null, create, origin);
    if (!made.ok) return made;
    if (made.value !== null) return { ok: true, value: made.value };
    const message = `A workspace has at most ${MAX_PROJECTS} projects.`;
    return { ok: false, code: "CONFLICT", message, limit: null };
  }

  async listProjects(userId: string, cursor: number, limit: number): Promise<Answer<ProjectRow[]>> {
    return this.core.as(userId, "project.list", null, ({ sql }) => listProjects(sql, cursor, limit));
  }

  async getProject(userId: string, projectId: string): Promise<Answer<ProjectRow>> {
    return this.core.as(userId, "project.get", projectId, (_, project) => project);
  }

  async renameProject(userId: string, projectId: string, name: string, origin?: Origin): Promise<Answer<ProjectRow>> {
    const rename = ({ sql }: AdmissionContext, project: ProjectRow, _id: string, note: AuditNote): ProjectRow => {
      if (project.name === name) return project;
      renameProject(sql, project.num, name);
      note(projectId, { before: { name: project.name }, after: { name } });
      return { ...project, name };
    };
    return this.core.as(userId, "project.rename", projectId, rename, origin);
  }

  /** Revokes the project's keys immediately. Queries no longer return its entries; the alarm deletes them in steps. */
  async deleteProject(userId: string, projectId: string, origin?: Origin): Promise<Answer<true>> {
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
  ): Promise<Answer<CreatedKey>> {
    const create = ({ sql }: AdmissionContext, project: ProjectRow, workspaceId: string, note: AuditNote): CreatedKey =>
      createKey(sql, workspaceId, project, userId, request, note, Date.now());
    return this.core.as(userId, "key.create", projectId, create, origin);
  }

  async listKeys(
    userId: string,
    projectId: string,
    cursor: string | null,
    limit: number,
  ): Promise<Answer<KeyPage | null>> {
    return this.core.as(userId, "key.list", projectId, ({ sql }, project) => getKeys(sql, project.num, cursor, limit));
  }

  /** Returns `null` if the project has no such key, or if the key is no longer valid. */
  async rotateKey(
    userId: string,
    projectId: string,
    keyId: string,
    overlapSeconds: number,
    origin?: Origin,
  ): Promise<Answer<CreatedKey | null>> {
    const rotate = (
      { sql }: AdmissionContext,
      { num }: ProjectRow,
      workspaceId: string,
      note: AuditNote,
    ): CreatedKey | null => rotateKey(sql, workspaceId, num, userId, keyId, overlapSeconds, note, Date.now());
    return this.core.as(userId, "key.rotate", projectId, rotate, origin);
  }

  /** Returns `false` if the project has no such key. Revoking a revoked key changes nothing. */
  async revokeKey(userId: string, projectId: string, keyId: string, origin?: Origin): Promise<Answer<boolean>> {
    const revoke = ({ sql }: AdmissionContext, { num }: ProjectRow, _id: string, note: AuditNote): boolean =>
      removeKey(sql, num, keyId, note, Date.now());
    return this.core.as(userId, "key.revoke", projectId, revoke, origin);
  }

  async rateLimits(userId: string): Promise<Answer<{ limits: LimitConfiguration; live: LiveCounter[] }>> {
    return this.core.as(userId, "limits.get", null, (admission) => ({
      limits: admission.limits.configuration,
      live: liveCounters(admission, Date.now()),
    }));
  }

  /** Replaces the configuration of limits. The next request is counted by the new one. */
  async setLimits(userId: string, limits: LimitConfiguration, origin?: Origin): Promise<Answer<true>> {
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

  /** Returns the workspace as a member sees it. Refused as unknown until the directory lists the workspace. */
  async getWorkspaceInfo(userId: string): Promise<Answer<WorkspaceInfo>> {
    return readWorkspaceInfo(this.core, userId);
  }

  /** @deprecated The earlier name of `getWorkspaceInfo`: routers of the version before call it during a deploy. */
  describe(userId: string): Promise<Answer<WorkspaceInfo>> {
    return this.getWorkspaceInfo(userId);
  }

  async changeSettings(userId: string, change: SettingsChange, origin?: Origin): Promise<Answer<WorkspaceInfo>> {
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

  /** Deletes the workspace in this turn, and removes it from the directory before the response if D1 is reachable. */
  async deleteWorkspace(userId: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const cause = originOrNew(origin);
    return this.core.as(userId, "workspace.delete", null, ({ sql }) => deleteWorkspace(sql, cause, Date.now()));
  }

  /** Returns a page of the audit, newest first. `before` is the `next` of the previous page, or `null`. */
  async audit(userId: string, filter: AuditFilter, before: number | null, limit: number): Promise<Answer<AuditPage>> {
    return this.core.as(userId, "audit.list", null, ({ sql }) => listAudit(sql, filter, before, limit, Date.now()));
  }

  async usage(userId: string): Promise<Answer<Usage>> {
    return this.core.as(userId, "usage.get", null, ({ sql }) => readUsage(sql, Date.now()));
  }

  /** Returns the members after `cursor`: (joinedAt, userId). */
  async listMembers(userId: string, cursor: readonly [number, string], limit: number): Promise<Answer<Member[]>> {
    return this.core.as(userId, "member.list", null, ({ sql }) => listMembers(sql, cursor, limit));
  }

  async changeRole(userId: string, memberId: string, role: Role, origin?: Origin): Promise<Answer<Ruling<Member>>> {
    const change = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<Member> =>
      changeRole(sql, by, memberId, role, note, Date.now());
    return this.core.as(userId, "member.change", null, change, origin);
  }

  /** Removes a member, who may be the caller. The member's keys are revoked in the same turn. */
  async removeMember(userId: string, memberId: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const action = userId === memberId ? "member.leave" : "member.remove";
    const remove = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<true> =>
      removeMember(sql, by, memberId, note, Date.now());
    return this.core.as(userId, action, null, remove, origin);
  }

  async invite(userId: string, request: InviteRequest, origin?: Origin): Promise<Answer<Ruling<Invitation>>> {
    const cause = originOrNew(origin);
    const { requestId } = cause;
    const pepper = settingsOf(this.env).REFRESH_PEPPER;
    const create = ({ sql }: AdmissionContext, by: Role, workspaceId: string, note: AuditNote): Ruling<Invitation> =>
      invite(sql, { by, userId, workspaceId, pepper, requestId }, request, note, Date.now());
    return this.core.as(userId, "invitation.create", null, create, cause);
  }

  /** Returns the invitations after `cursor`: (createdAt, id). */
  async listInvitations(
    userId: string,
    cursor: readonly [number, string],
    limit: number,
  ): Promise<Answer<Invitation[]>> {
    return this.core.as(userId, "invitation.list", null, ({ sql }) => listInvitations(sql, cursor, limit, Date.now()));
  }

  async revokeInvitation(userId: string, id: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const revoke = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<true> =>
      revokeInvitation(sql, by, id, note, Date.now());
    return this.core.as(userId, "invitation.revoke", null, revoke, origin);
  }
}
