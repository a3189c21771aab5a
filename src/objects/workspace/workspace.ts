import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import {
  type CreatedKey,
  createKey,
  getKeys,
  type KeyPage,
  type KeyRequest,
  keysMadeBy,
  type OwnKeys,
  removeKey,
  rotateKey,
} from "../../keys/actions.ts";
import { revokeKeysBy } from "../../keys/store.ts";
import type { LimitConfiguration } from "../../limits/cascade.ts";
import type { LimitState, RouteRef } from "../../limits/state.ts";
import type { Violation } from "../../limits/violations.ts";
import type { RecentCountPage, RecentCountScan } from "../../logs/stats/recent-counts.ts";
import type { Mail } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import { commitMemory } from "../../platform/isolate-memory.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { readScheduler } from "../../platform/turns.ts";
import { OutdatedRouter } from "../../rpc/call.ts";
import type { Ruling } from "../../rpc/result.ts";
import { settingsOf } from "../../settings.ts";
import {
  type AdmissionContext,
  type Admitted,
  admit,
  type LiveCounter,
  liveCounters,
  unknownKey,
} from "../../workspace/admission.ts";
import { type AuditFilter, type AuditNote, type AuditPage, listAudit, recordAudit } from "../../workspace/audit.ts";
import { SYSTEM } from "../../workspace/audit-actions.ts";
import { markRenamed } from "../../workspace/directory-changes.ts";
import { hasFlushedRanges } from "../../workspace/flush/flushed-ranges.ts";
import { GroupCommit } from "../../workspace/group-commit.ts";
import { type IngestCall, type IngestResult, sizeOfCall } from "../../workspace/ingest.ts";
import {
  findAcceptable,
  type Invitation,
  type InviteRequest,
  invite,
  listInvitations,
  type OpenInvitation,
  openInvitation,
  revokeInvitation,
  UNKNOWN_INVITATION,
} from "../../workspace/invitations.ts";
import { listMembers, type Member, roleOf } from "../../workspace/members.ts";
import { changeRole, removeMember } from "../../workspace/membership.ts";
import {
  type Caller,
  type Denied,
  type Requirement,
  type Role,
  roleFor,
  unknownCaller,
} from "../../workspace/permissions.ts";
import {
  createProject,
  deleteProject,
  findProjectByNum,
  flushedRanges,
  hasRoomForProject,
  type Inspection,
  inspect,
  listProjects,
  MAX_PROJECTS,
  type ProjectRow,
  readableProjects,
  renameProject,
} from "../../workspace/projects.ts";
import { deleteWorkspace, type NewWorkspace, provision } from "../../workspace/provision.ts";
import {
  type RecentPage,
  type RecentScan,
  type RecentScope,
  readBySeq,
  readRecent,
  readRecentCounts,
  type SeqPage,
  type SeqScan,
} from "../../workspace/recent/reader.ts";
import {
  changedSettings,
  changeSettings,
  limitsInAudit,
  readWorkspace,
  retentionCutoff,
  type SettingsChange,
  writeLimits,
} from "../../workspace/settings.ts";
import { readUsage, type Usage } from "../../workspace/usage.ts";
import { type Answer, WorkspaceCore } from "./core.ts";
import { acceptInvitation, type Invitee, readWorkspaceInfo, type WorkspaceInfo } from "./invitations.ts";
import { Sandbox, type SandboxAccess } from "./sandbox.ts";
import type { TailCall, TicketCall, TicketResult } from "./tail-access.ts";
import { TAIL_CALL_HEADER, Tails } from "./tails.ts";

/** The answer to a call that does not fit into what waits for its commit. */
const BUSY: IngestResult = {
  ok: false,
  code: "SERVICE_UNAVAILABLE",
  message: "The workspace is taking in too much at once. Please try again.",
  limit: null,
};

/** Milliseconds from one page of a read to the next, over all reads of the isolate: about what a page takes. */
const PAGE_MS = 5;
/** The same for a page of counts. */
const COUNTS_MS = 3;

/** A read of logs. `route` is null for a later page of one request: it is not counted again. */
export interface ReadCall {
  caller: Caller;
  route: RouteRef | null;
  projectId: string | null;
  /**
   * The router reads `COLD_DB` beside `DB`. One of an older version leaves this out, and would not see what this object has
   * moved to `COLD_DB`.
   */
  readsColdDb?: boolean;
}

/** `projectId`: what was read, also where the call named none; null for all of the workspace. */
export type ReadResult<T> = { ok: true; limit: LimitState | null; page: T; projectId?: string | null } | Denied;

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn. An object that was never provisioned answers
 * like a workspace that knows nobody, and writes nothing.
 */
export class WorkspaceObject extends DurableObject<Env> {
  readonly #core: WorkspaceCore;
  readonly #ingest: GroupCommit<IngestCall, IngestResult>;
  readonly #sandbox: Sandbox;
  readonly #tails: Tails;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#core = new WorkspaceCore(ctx, env);
    this.#sandbox = new Sandbox(ctx, env, this.#core);
    this.#tails = new Tails(ctx, env, this.#core.state);
    this.#ingest = new GroupCommit({
      run: (calls) => this.#core.state.ingest(calls) ?? calls.map(unknownKey),
      idle: () => ctx.storage.sync(),
      sizeOf: sizeOfCall,
      memory: commitMemory,
    });
  }

  /** Makes the workspace exist, with the alarm that keeps it tidy. Safe to repeat with the same values. */
  async provision(workspace: NewWorkspace, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, cause, Date.now()));
    this.#core.state.alarm.by(Date.now() + 1000);
  }

  /** Deletes everything. For a registration that lost the race for its address, and for account deletion. */
  async destroy(origin?: Origin): Promise<void> {
    this.#tails.endAll();
    await this.#core.end(originOrNew(origin));
  }

  /** The directory lists the workspace, under this slug. Safe to repeat. */
  async confirm(slug: string): Promise<void> {
    this.#core.confirm(slug);
  }

  /**
   * Decides on a request and counts it: what every request of a user begins with, and all that a bad body gets. Without
   * a route nothing is counted here.
   */
  async admit(caller: Caller, requirement: Requirement, route: RouteRef | null): Promise<Admitted | Denied> {
    return (
      this.#core.state.transaction((admission) => admit(admission, caller, requirement, route, Date.now())) ??
      unknownCaller(caller)
    );
  }

  /** Stores one batch, together with those that arrive with it. */
  async ingest(call: IngestCall): Promise<IngestResult> {
    if (!this.#core.state.row) return unknownKey();
    return this.#sandbox.full(call, Date.now()) ?? this.#ingest.submit(call) ?? BUSY;
  }

  /** Gives the recent batches that a query may need, some at a time. */
  async recent({ scan, ...call }: ReadCall & { scan: RecentScan }): Promise<ReadResult<RecentPage>> {
    await (scan.position === null ? readScheduler.begin(PAGE_MS) : readScheduler.take(PAGE_MS));
    const result = await this.#recentPage(call, scan);
    readScheduler.end();
    if (result.ok && scan.position !== null && !scan.followsMoves) this.#core.flush.leases.renew(Date.now());
    return result;
  }

  async #recentPage(call: ReadCall, scan: RecentScan): Promise<ReadResult<RecentPage>> {
    const { index } = this.#core.state;
    const first = this.#read(call, (sql, scope) => readRecent(sql, index, scan, scope));
    if (!first.ok) return first;
    if (first.page.ok) return { ...first, page: first.page.page };
    const { selection } = first.page;
    const found = await index.selectInTurns(selection, () => scheduler.wait(0));
    // The credential is checked again; the request has been counted.
    const again = { ...scan, asOf: selection.asOf };
    const second = this.#read({ ...call, route: null }, (sql, scope) => readRecent(sql, index, again, scope, found));
    if (!second.ok) return second;
    if (!second.page.ok) throw new Error("What was selected makes a page.");
    return { ok: true, limit: first.limit, page: second.page.page };
  }

  /** Gives the counts of recent batches, some at a time. */
  async recentCounts({ scan, ...call }: ReadCall & { scan: RecentCountScan }): Promise<ReadResult<RecentCountPage>> {
    await (scan.after === 0 ? readScheduler.begin(COUNTS_MS) : readScheduler.take(COUNTS_MS));
    const result = this.#read(call, (sql, scope) => readRecentCounts(sql, scan, scope));
    readScheduler.end();
    if (result.ok && scan.after > 0 && !scan.followsMoves) this.#core.flush.leases.renew(Date.now());
    return result;
  }

  /** @throws OutdatedRouter */
  #read<T>(
    { caller, route, projectId, readsColdDb = false }: ReadCall,
    read: (sql: SqlStorage, scope: RecentScope) => T,
  ): ReadResult<T> {
    if (!readsColdDb && this.#core.state.row !== null && hasFlushedRanges(this.ctx.storage.sql)) {
      throw new OutdatedRouter();
    }
    const requirement = { scope: "logs:read", role: roleFor("logs.read"), projectId } as const;
    const result = this.#core.state.transaction(({ sql, ...admission }, row): ReadResult<T> => {
      const admitted = admit({ sql, ...admission }, caller, requirement, route, Date.now());
      if (!admitted.ok) return admitted;
      const { limit, project } = admitted;
      const scope = { name: project?.id ?? row.id, projects: readableProjects(sql, project) };
      const page = read(sql, { ...scope, oldest: retentionCutoff(row.retentionDays, Date.now()) });
      return { ok: true, limit, page, projectId: project?.id ?? null };
    });
    return result ?? unknownCaller(caller);
  }

  async createProject(userId: string, name: string, origin?: Origin): Promise<Answer<ProjectRow>> {
    const create = ({ sql }: AdmissionContext, _role: Role, _id: string, note: AuditNote): ProjectRow | null => {
      if (!hasRoomForProject(sql)) return null;
      const project = createProject(sql, name, Date.now());
      note(project.id, { after: { name } });
      return project;
    };
    const made = this.#core.as(userId, "project.create", null, create, origin);
    if (!made.ok) return made;
    if (made.value !== null) return { ok: true, value: made.value };
    const message = `A workspace has at most ${MAX_PROJECTS} projects.`;
    return { ok: false, code: "CONFLICT", message, limit: null };
  }

  async listProjects(userId: string, cursor: number, limit: number): Promise<Answer<ProjectRow[]>> {
    return this.#core.as(userId, "project.list", null, ({ sql }) => listProjects(sql, cursor, limit));
  }

  async getProject(userId: string, projectId: string): Promise<Answer<ProjectRow>> {
    return this.#core.as(userId, "project.get", projectId, (_, project) => project);
  }

  async renameProject(userId: string, projectId: string, name: string, origin?: Origin): Promise<Answer<ProjectRow>> {
    const rename = ({ sql }: AdmissionContext, project: ProjectRow, _id: string, note: AuditNote): ProjectRow => {
      if (project.name === name) return project;
      renameProject(sql, project.num, name);
      note(projectId, { before: { name: project.name }, after: { name } });
      return { ...project, name };
    };
    return this.#core.as(userId, "project.rename", projectId, rename, origin);
  }

  /** Its keys are dead with this turn; its logs are found by no query any more and deleted in steps by the alarm. */
  async deleteProject(userId: string, projectId: string, origin?: Origin): Promise<Answer<true>> {
    const end = ({ sql }: AdmissionContext, project: ProjectRow, _id: string, note: AuditNote): true => {
      deleteProject(sql, project.num, Date.now());
      note(projectId, { before: { name: project.name } });
      return true;
    };
    const answer = this.#core.as(userId, "project.delete", projectId, end, origin);
    if (answer.ok) this.#core.scheduleSweep();
    return answer;
  }

  async createKey(
    userId: string,
    projectId: string,
    request: KeyRequest,
    origin?: Origin,
  ): Promise<Answer<CreatedKey>> {
    const create = ({ sql }: AdmissionContext, project: ProjectRow, workspaceId: string, note: AuditNote): CreatedKey =>
      createKey(sql, workspaceId, project, userId, request, note, Date.now());
    return this.#core.as(userId, "key.create", projectId, create, origin);
  }

  async listKeys(
    userId: string,
    projectId: string,
    cursor: string | null,
    limit: number,
  ): Promise<Answer<KeyPage | null>> {
    return this.#core.as(userId, "key.list", projectId, ({ sql }, project) => getKeys(sql, project.num, cursor, limit));
  }

  /** Null where the project has no such key, or one that is dead already. */
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
    return this.#core.as(userId, "key.rotate", projectId, rotate, origin);
  }

  /** False where the project has no such key. Revoking a revoked key changes nothing. */
  async revokeKey(userId: string, projectId: string, keyId: string, origin?: Origin): Promise<Answer<boolean>> {
    const revoke = ({ sql }: AdmissionContext, { num }: ProjectRow, _id: string, note: AuditNote): boolean =>
      removeKey(sql, num, keyId, note, Date.now());
    return this.#core.as(userId, "key.revoke", projectId, revoke, origin);
  }

  /** Whether the user owns this workspace, and it is not the user's personal one; reads only. */
  async isOwnedBy(userId: string): Promise<boolean> {
    const { row, sql } = this.#core.state;
    return row !== null && readWorkspace(sql).personalOf !== userId && roleOf(sql, userId) === "owner";
  }

  /** The keys that a user made since a time, and that still work; reads only. */
  async keysMadeBy(userId: string, since: number): Promise<OwnKeys> {
    const { row, sql } = this.#core.state;
    return row ? keysMadeBy(sql, row.id, userId, since, Date.now()) : { keys: [], complete: true };
  }

  /** Ends the keys that a user made by `until`: of one who leaves, or whose account was somebody else's until then. */
  async revokeKeysOf(userId: string, until: number, origin?: Origin): Promise<void> {
    this.#core.state.transaction(({ sql }) => {
      const keysRevoked = revokeKeysBy(sql, userId, until, Date.now());
      if (keysRevoked === 0) return;
      const entry = { actor: SYSTEM, action: "key.revoke", target: userId, after: { keysRevoked } } as const;
      recordAudit(sql, entry, originOrNew(origin), Date.now());
    });
    this.#core.state.invalidateSettings();
  }

  async rateLimits(userId: string): Promise<Answer<{ limits: LimitConfiguration; live: LiveCounter[] }>> {
    return this.#core.as(userId, "limits.get", null, (admission) => ({
      limits: admission.limits.configuration,
      live: liveCounters(admission, Date.now()),
    }));
  }

  /** Replaces the configuration; the next request falls under the new one. */
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
    return this.#core.as(userId, "limits.set", null, set, origin);
  }

  /** The workspace as its member sees it; unknown as long as the directory does not list it. */
  async getWorkspaceInfo(userId: string): Promise<Answer<WorkspaceInfo>> {
    return readWorkspaceInfo(this.#core, userId);
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
    const changed = this.#core.as(userId, "workspace.update", null, update, origin);
    if (!changed.ok) return changed;
    if (change.retentionDays !== undefined) this.#core.coldCleanup.expireSoon();
    await this.#core.runPendingWork(originOrNew(origin));
    return readWorkspaceInfo(this.#core, userId);
  }

  /** From this turn on there is no such workspace. Before the answer it is out of the directory, if D1 can be reached. */
  async deleteWorkspace(userId: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const cause = originOrNew(origin);
    const answer = this.#core.as(userId, "workspace.delete", null, ({ sql }) =>
      deleteWorkspace(sql, cause, Date.now()),
    );
    await this.#core.runPendingWork(cause);
    return answer;
  }

  /** Who did what, newest first. `before`: the `next` of the page before, or null. */
  async audit(userId: string, filter: AuditFilter, before: number | null, limit: number): Promise<Answer<AuditPage>> {
    return this.#core.as(userId, "audit.list", null, ({ sql }) => listAudit(sql, filter, before, limit, Date.now()));
  }

  async usage(userId: string): Promise<Answer<Usage>> {
    return this.#core.as(userId, "usage.get", null, ({ sql }) => readUsage(sql, Date.now()));
  }

  /** What an operator sees of the workspace, some projects at a time; null where there is none. */
  async inspect(cursor: number, limit: number): Promise<Inspection | null> {
    const { row, sql } = this.#core.state;
    return row && inspect(sql, Date.now(), cursor, limit);
  }

  /** Some of the ranges that a project has in the cold tier, in order of `seq`; null where there is no such project. */
  async flushedRanges(projectId: string, after: number, limit: number): Promise<ReturnType<typeof flushedRanges>> {
    const { row, sql } = this.#core.state;
    return row && flushedRanges(sql, projectId, after, limit);
  }

  /** Members after `cursor`: (joinedAt, userId). */
  async listMembers(userId: string, cursor: readonly [number, string], limit: number): Promise<Answer<Member[]>> {
    return this.#core.as(userId, "member.list", null, ({ sql }) => listMembers(sql, cursor, limit));
  }

  async changeRole(userId: string, memberId: string, role: Role, origin?: Origin): Promise<Answer<Ruling<Member>>> {
    const change = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<Member> =>
      changeRole(sql, by, memberId, role, note, Date.now());
    return this.#core.as(userId, "member.change", null, change, origin);
  }

  /** Removes a member, or lets the caller leave. The member's keys are refused from this turn on. */
  async removeMember(userId: string, memberId: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const action = userId === memberId ? "member.leave" : "member.remove";
    const remove = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<true> =>
      removeMember(sql, by, memberId, note, Date.now());
    const answer = this.#core.as(userId, action, null, remove, origin);
    await this.#core.runPendingWork(originOrNew(origin));
    return answer;
  }

  /** The account of this user is gone: so is what it was and made here, and a workspace that was its own. */
  async removeDeletedUser(userId: string, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    this.#core.removeDeletedUser(userId, cause);
    await this.#core.runPendingWork(cause);
  }

  /** @deprecated The earlier name of `removeDeletedUser`: user objects of the version before call it during a deploy. */
  depart(userId: string, origin?: Origin): Promise<void> {
    return this.removeDeletedUser(userId, origin);
  }

  async invite(userId: string, request: InviteRequest, origin?: Origin): Promise<Answer<Ruling<Invitation>>> {
    const cause = originOrNew(origin);
    const { requestId } = cause;
    const pepper = settingsOf(this.env).REFRESH_PEPPER;
    const create = ({ sql }: AdmissionContext, by: Role, workspaceId: string, note: AuditNote): Ruling<Invitation> =>
      invite(sql, { by, userId, workspaceId, pepper, requestId }, request, note, Date.now());
    const answer = this.#core.as(userId, "invitation.create", null, create, cause);
    await this.#core.runPendingWork(cause);
    return answer;
  }

  /** Invitations after `cursor`: (createdAt, id). */
  async listInvitations(
    userId: string,
    cursor: readonly [number, string],
    limit: number,
  ): Promise<Answer<Invitation[]>> {
    return this.#core.as(userId, "invitation.list", null, ({ sql }) => listInvitations(sql, cursor, limit, Date.now()));
  }

  async revokeInvitation(userId: string, id: string, origin?: Origin): Promise<Answer<Ruling<true>>> {
    const revoke = ({ sql }: AdmissionContext, by: Role, _id: string, note: AuditNote): Ruling<true> =>
      revokeInvitation(sql, by, id, note, Date.now());
    return this.#core.as(userId, "invitation.revoke", null, revoke, origin);
  }

  /** What the holder of an invitation's token may see of it. */
  async openInvitation(tokenHash: Uint8Array): Promise<Ruling<OpenInvitation>> {
    const { row, sql } = this.#core.state;
    return row ? openInvitation(sql, tokenHash, Date.now()) : UNKNOWN_INVITATION;
  }

  /** The role that an invitation offers to the owner of an address; null where that one cannot accept it. */
  async offeredRole(tokenHash: Uint8Array, email: string): Promise<Role | null> {
    const { row, sql } = this.#core.state;
    const found = row && findAcceptable(sql, tokenHash, email, Date.now());
    return found?.ok ? found.value.role : null;
  }

  /** Takes in the verified owner of the address that the token of this hash was mailed to. */
  async acceptInvitation(tokenHash: Uint8Array, guest: Invitee, origin?: Origin): Promise<Ruling<WorkspaceInfo>> {
    return acceptInvitation(this.#core, this.env.DB, tokenHash, guest, originOrNew(origin));
  }

  /** The queue's consumer takes a mail for one try; null where there is nothing to send. */
  async claimMail(mailId: string): Promise<Mail | null> {
    return this.#core.state.row ? claimMail(this.#core.state.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.#core.state.row) mailSent(this.#core.state.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.#core.state.row) releaseMail(this.#core.state.sql, mailId);
  }

  /** The consumer of the violations queue has written these to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    if (this.#core.state.row) this.#core.state.violations.stored(violations, Date.now());
  }

  /** The sandbox's key; makes the sandbox at its first use. */
  async sandbox(origin?: Origin): Promise<SandboxAccess> {
    return this.#sandbox.access(Date.now(), originOrNew(origin));
  }

  /** Resets the sandbox unless that has happened since this time. Safe to repeat. @returns whether it was done now */
  async resetSandbox(dueAt: number): Promise<boolean> {
    return this.#sandbox.resetSince(dueAt, Date.now());
  }

  /** Gives batches of one project by the `seq` of their entries. */
  async readBySeq({ scan, ...call }: ReadCall & { scan: SeqScan }): Promise<ReadResult<SeqPage>> {
    return this.#read(call, (sql, { projects: [named], oldest }) => {
      const project = named && findProjectByNum(sql, named.num);
      if (!project) throw new Error("A read by seq names its project.");
      return readBySeq(sql, this.#core.state.index, project, oldest, scan);
    });
  }

  /** @deprecated The earlier name of `readBySeq`. */
  bySeq(call: ReadCall & { scan: SeqScan }): Promise<ReadResult<SeqPage>> {
    return this.readBySeq(call);
  }

  /** A ticket for one tail of a project. */
  async tailTicket(call: TicketCall): Promise<TicketResult> {
    return this.#tails.ticket(call);
  }

  /** A session that a tail was opened in has ended. Safe to repeat. */
  async sessionEnded(sessionId: string): Promise<void> {
    this.#tails.sessionEnded(sessionId);
  }

  /** The service stops: closes every tail, with the place to resume at. */
  async stopTails(): Promise<void> {
    this.#tails.stopAll();
  }

  /** The service stops, and no request is in flight: ends the connections of closed tails, which takes the object's life. */
  async endConnections(): Promise<void> {
    await this.ctx.storage.sync();
    this.ctx.abort("The service stops.");
  }

  /** Opens a tail: the one thing that takes a request, as no call can hand a socket over. */
  override async fetch(request: Request): Promise<Response> {
    // SAFETY: only the router of this worker reaches an object, and it writes the header.
    return this.#tails.open(JSON.parse(decodeURIComponent(request.headers.get(TAIL_CALL_HEADER) ?? "")) as TailCall);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    this.#tails.message(socket, message);
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#tails.gone(socket, code);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#tails.gone(socket, 1006);
  }

  override async alarm(): Promise<void> {
    const run = newAlarmOrigin();
    await this.#core.alarm(run);
    this.#sandbox.alarm(Date.now(), run);
    this.#tails.alarm();
  }
}
