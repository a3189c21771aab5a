import type { Env } from "../../env.ts";
import { keysMadeBy, type OwnKeys } from "../../keys/actions.ts";
import { chargeOf, type RouteRef } from "../../limits/state.ts";
import type { Violation } from "../../limits/violations.ts";
import { type Batch, bytesOf, freeBatches } from "../../logs/batch.ts";
import type { RecentCountPage, RecentCountScan } from "../../logs/stats/recent-counts.ts";
import type { Mail } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import type { Duties } from "../../platform/alarm.ts";
import { commitMemory } from "../../platform/isolate-memory.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import type { Management, ManagementCall, ManagementMethod } from "../../rpc/management.ts";
import type { Failure, Result } from "../../rpc/result.ts";
import { TAIL_CALL_HEADER, type TailCall, type TicketCall, type TicketResult } from "../../rpc/tail.ts";
import type { Invitee, PageResult, ReadCall, SandboxAccess, WorkspaceInfo, WorkspaceRpc } from "../../rpc/workspace.ts";
import { SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { type Admitted, admitAlone, unknownKey } from "../../workspace/admission.ts";
import { GroupCommit } from "../../workspace/group-commit.ts";
import {
  BUSY,
  batchesOf,
  type DoorCall,
  type DoorResult,
  type IngestCall,
  type IngestResult,
  type StageCall,
  type StageResult,
  sizeOfCall,
  weightOfCall,
} from "../../workspace/ingest-calls.ts";
import {
  findAcceptable,
  type OpenInvitation,
  openInvitation,
  UNKNOWN_INVITATION,
} from "../../workspace/invitations.ts";
import { roleOf } from "../../workspace/members.ts";
import { removeDeletedUser, revokeCredentialsOf } from "../../workspace/membership.ts";
import { type Caller, type Requirement, type Role, unknownCaller } from "../../workspace/permissions.ts";
import { type FlushedRanges, flushedRanges, type Inspection, inspect } from "../../workspace/projects.ts";
import { type NewWorkspace, provision } from "../../workspace/provision.ts";
import type { RecentPage, RecentScan, SeqPage, SeqScan } from "../../workspace/recent/reader.ts";
import { discardStaged } from "../../workspace/recent/staged-batches.ts";
import { readWorkspace } from "../../workspace/settings.ts";
import { answerMailedAddress } from "./addresses.ts";
import { AnswersAgents } from "./agents.ts";
import { workspaceDuties } from "./duties.ts";
import { acceptInvitation } from "./invitations.ts";
import { Reads } from "./reads.ts";
import { Sandbox } from "./sandbox.ts";
import { Tails } from "./tails.ts";

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn. An unprovisioned object refuses every request
 * as unknown and writes nothing.
 */
export class WorkspaceObject extends AnswersAgents implements WorkspaceRpc {
  readonly #ingest: GroupCommit<IngestCall, IngestResult>;
  readonly #reads: Reads;
  readonly #sandbox: Sandbox;
  readonly #tails: Tails;
  readonly #duties: Duties;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#reads = new Reads(this.core);
    this.#sandbox = new Sandbox(ctx, env, this.core);
    this.#tails = new Tails(ctx, env, this.core.state);
    this.#duties = workspaceDuties(this.core, this.#sandbox, this.#tails);
    this.#ingest = new GroupCommit({
      run: (calls) => this.core.state.ingest(calls) ?? calls.map(unknownKey),
      idle: () => ctx.storage.sync(),
      sizeOf: sizeOfCall,
      weightOf: weightOfCall,
      memory: commitMemory,
    });
  }

  async provision(workspace: NewWorkspace, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, cause, Date.now()));
    this.core.state.alarm.by(Date.now() + 1000);
  }

  async destroy(origin?: Origin): Promise<void> {
    this.#tails.endAll();
    await this.core.deleteWorkspace(originOrNew(origin));
  }

  async confirm(slug: string): Promise<void> {
    this.core.directory.confirm(slug);
  }

  async admit(caller: Caller, requirement: Requirement, route: RouteRef | null): Promise<Admitted | Failure> {
    const charge = chargeOf({ route });
    return (
      this.core.state.transaction((admission) => admitAlone(admission, caller, requirement, charge, Date.now())) ??
      unknownCaller(caller)
    );
  }

  manage<M extends ManagementMethod>(call: ManagementCall<M>): Promise<Result<ReturnType<Management[M]>>> {
    return this.management.run(call);
  }

  async ingest(call: IngestCall): Promise<IngestResult> {
    if (!this.core.state.row) return unknownKey();
    return this.#fullSandbox(batchesOf(call)) ?? this.#ingest.submit(call) ?? BUSY;
  }

  ingestBatches(call: IngestCall): Promise<IngestResult> {
    return this.ingest(call);
  }

  async stageBatches(call: StageCall): Promise<StageResult> {
    if (!this.core.state.row) return unknownKey();
    const full = this.#fullSandbox(call.batches);
    if (full) return full;
    const lease = commitMemory.tryTake(bytesOf(call.batches));
    if (lease === null) return BUSY;
    try {
      return this.core.state.stage(call) ?? unknownKey();
    } finally {
      freeBatches(call.batches);
      lease.release();
    }
  }

  ingestDoor(call: IngestCall): Promise<IngestResult> {
    return this.ingest(call);
  }

  stageDoor(call: StageCall): Promise<StageResult> {
    return this.stageBatches(call);
  }

  async admitDoor(call: DoorCall): Promise<DoorResult> {
    return this.core.state.admitDoor(call) ?? unknownKey();
  }

  async discardBatches(upload: string): Promise<void> {
    this.core.state.transaction(({ sql }) => discardStaged(sql, upload));
  }

  #fullSandbox(batches: readonly Batch[]): Exclude<IngestResult, { ok: true }> | null {
    const { row } = this.core.state;
    return row?.id === SANDBOX_WORKSPACE_ID ? this.#sandbox.full(batches, Date.now()) : null;
  }

  async isOwnedBy(userId: string): Promise<boolean> {
    const { row, sql } = this.core.state;
    return row !== null && readWorkspace(sql).personalOf !== userId && roleOf(sql, userId) === "owner";
  }

  async keysMadeBy(userId: string, since: number): Promise<OwnKeys> {
    const { row, sql } = this.core.state;
    return row ? keysMadeBy(sql, row.id, userId, since, Date.now()) : { keys: [], complete: true };
  }

  async revokeKeysOf(userId: string, until: number, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => revokeCredentialsOf(sql, userId, until, cause, Date.now()));
  }

  async inspect(cursor: number, limit: number): Promise<Inspection | null> {
    const { row, sql } = this.core.state;
    return row && inspect(sql, Date.now(), cursor, limit);
  }

  async flushedRanges(projectId: string, after: number, limit: number): Promise<FlushedRanges | null> {
    const { row, sql } = this.core.state;
    return row && flushedRanges(sql, projectId, after, limit);
  }

  async removeDeletedUser(userId: string, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => removeDeletedUser(sql, userId, cause, Date.now()));
  }

  /** @deprecated The earlier name of `removeDeletedUser`: user objects of the version before call it during a deploy. */
  depart(userId: string, origin?: Origin): Promise<void> {
    return this.removeDeletedUser(userId, origin);
  }

  async openInvitation(tokenHash: Uint8Array): Promise<Result<OpenInvitation>> {
    const { row, sql } = this.core.state;
    return row ? openInvitation(sql, tokenHash, Date.now()) : UNKNOWN_INVITATION;
  }

  async offeredRole(tokenHash: Uint8Array, email: string): Promise<Role | null> {
    const { row, sql } = this.core.state;
    const found = row && findAcceptable(sql, tokenHash, email, Date.now());
    return found?.ok ? found.value.role : null;
  }

  async acceptInvitation(tokenHash: Uint8Array, guest: Invitee, origin?: Origin): Promise<Result<WorkspaceInfo>> {
    return acceptInvitation(this.core, this.env.DB, tokenHash, guest, originOrNew(origin));
  }

  answerAddress(...call: Parameters<WorkspaceRpc["answerAddress"]>): ReturnType<WorkspaceRpc["answerAddress"]> {
    return answerMailedAddress(this.core, ...call);
  }

  async claimMail(mailId: string): Promise<Mail | null> {
    return this.core.state.row ? claimMail(this.core.state.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.core.state.row) mailSent(this.core.state.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.core.state.row) releaseMail(this.core.state.sql, mailId);
  }

  async violationsStored(violations: readonly Violation[]): Promise<void> {
    if (this.core.state.row) this.core.state.violations.stored(violations, Date.now());
  }

  async sandbox(origin?: Origin): Promise<SandboxAccess> {
    return this.#sandbox.access(Date.now(), originOrNew(origin));
  }

  async resetSandbox(dueAt: number): Promise<boolean> {
    return this.#sandbox.resetSince(dueAt, Date.now());
  }

  recent(call: ReadCall & { scan: RecentScan }): Promise<PageResult<RecentPage>> {
    return this.#reads.recent(call);
  }

  recentCounts(call: ReadCall & { scan: RecentCountScan }): Promise<PageResult<RecentCountPage>> {
    return this.#reads.recentCounts(call);
  }

  async readBySeq(call: ReadCall & { scan: SeqScan }): Promise<PageResult<SeqPage>> {
    return this.#reads.bySeq(call);
  }

  /** @deprecated The earlier name of `readBySeq`. */
  bySeq(call: ReadCall & { scan: SeqScan }): Promise<PageResult<SeqPage>> {
    return this.readBySeq(call);
  }

  async tailTicket(call: TicketCall): Promise<TicketResult> {
    return this.#tails.ticket(call);
  }

  async sessionEnded(sessionId: string): Promise<void> {
    this.#tails.sessionEnded(sessionId);
  }

  async stopTails(): Promise<void> {
    this.#tails.stopAll();
  }

  async endConnections(): Promise<void> {
    await this.ctx.storage.sync();
    this.ctx.abort("The service stops.");
  }

  /** Opens a tail. The only operation that takes a request, because an RPC cannot pass a WebSocket. */
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
    await this.#duties.fire(newAlarmOrigin());
  }
}
