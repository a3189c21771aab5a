import type { Env } from "../../env.ts";
import { keysMadeBy, type OwnKeys } from "../../keys/actions.ts";
import { revokeKeysBy } from "../../keys/store.ts";
import type { RouteRef } from "../../limits/state.ts";
import type { Violation } from "../../limits/violations.ts";
import type { RecentCountPage, RecentCountScan } from "../../logs/stats/recent-counts.ts";
import type { Mail } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import { commitMemory } from "../../platform/isolate-memory.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import type { Ruling } from "../../rpc/result.ts";
import { type Admitted, admit, unknownKey } from "../../workspace/admission.ts";
import { recordAudit } from "../../workspace/audit.ts";
import { SYSTEM } from "../../workspace/audit-actions.ts";
import { GroupCommit } from "../../workspace/group-commit.ts";
import { type IngestCall, type IngestResult, sizeOfCall } from "../../workspace/ingest.ts";
import {
  findAcceptable,
  type OpenInvitation,
  openInvitation,
  UNKNOWN_INVITATION,
} from "../../workspace/invitations.ts";
import { roleOf } from "../../workspace/members.ts";
import { removeDeletedUser } from "../../workspace/membership.ts";
import { type Caller, type Denied, type Requirement, type Role, unknownCaller } from "../../workspace/permissions.ts";
import { flushedRanges, type Inspection, inspect } from "../../workspace/projects.ts";
import { type NewWorkspace, provision } from "../../workspace/provision.ts";
import type { RecentPage, RecentScan, SeqPage, SeqScan } from "../../workspace/recent/reader.ts";
import { readWorkspace } from "../../workspace/settings.ts";
import { acceptInvitation, type Invitee, type WorkspaceInfo } from "./invitations.ts";
import { ManagedWorkspace } from "./management.ts";
import { type ReadCall, type ReadResult, Reads } from "./reads.ts";
import { Sandbox, type SandboxAccess } from "./sandbox.ts";
import type { TailCall, TicketCall, TicketResult } from "./tail-access.ts";
import { TAIL_CALL_HEADER, Tails } from "./tails.ts";

/** Returned if the commit queue has no memory left for the call. */
const BUSY: IngestResult = {
  ok: false,
  code: "SERVICE_UNAVAILABLE",
  message: "The workspace is taking in too much at once. Please try again.",
  limit: null,
};

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn. An unprovisioned object rejects every caller as
 * unknown and writes nothing.
 */
export class WorkspaceObject extends ManagedWorkspace {
  readonly #ingest: GroupCommit<IngestCall, IngestResult>;
  readonly #reads: Reads;
  readonly #sandbox: Sandbox;
  readonly #tails: Tails;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#reads = new Reads(this.core);
    this.#sandbox = new Sandbox(ctx, env, this.core);
    this.#tails = new Tails(ctx, env, this.core.state);
    this.#ingest = new GroupCommit({
      run: (calls) => this.core.state.ingest(calls) ?? calls.map(unknownKey),
      idle: () => ctx.storage.sync(),
      sizeOf: sizeOfCall,
      memory: commitMemory,
    });
  }

  /** Creates the tables and first rows of the workspace and sets its first alarm. Safe to repeat with the same values. */
  async provision(workspace: NewWorkspace, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, cause, Date.now()));
    this.core.state.alarm.by(Date.now() + 1000);
  }

  /** Deletes the workspace. Called for a registration that lost the race for its address, and for account deletion. */
  async destroy(origin?: Origin): Promise<void> {
    this.#tails.endAll();
    await this.core.end(originOrNew(origin));
  }

  /** Stores the slug under which the directory lists the workspace. Safe to repeat. */
  async confirm(slug: string): Promise<void> {
    this.core.directory.confirm(slug);
  }

  /**
   * Admits a request and counts it. Every request of a user begins with this call; for a request with an invalid body it is
   * the only one. Without a route the request is not counted.
   */
  async admit(caller: Caller, requirement: Requirement, route: RouteRef | null): Promise<Admitted | Denied> {
    return (
      this.core.state.transaction((admission) => admit(admission, caller, requirement, route, Date.now())) ??
      unknownCaller(caller)
    );
  }

  /** Stores one batch, in a group commit with the calls that arrive at the same time. */
  async ingest(call: IngestCall): Promise<IngestResult> {
    if (!this.core.state.row) return unknownKey();
    return this.#sandbox.full(call, Date.now()) ?? this.#ingest.submit(call) ?? BUSY;
  }

  /** Whether the user owns this workspace and it is not the user's personal one. Reads only. */
  async isOwnedBy(userId: string): Promise<boolean> {
    const { row, sql } = this.core.state;
    return row !== null && readWorkspace(sql).personalOf !== userId && roleOf(sql, userId) === "owner";
  }

  /** Returns the valid keys that a user has created since a time. Reads only. */
  async keysMadeBy(userId: string, since: number): Promise<OwnKeys> {
    const { row, sql } = this.core.state;
    return row ? keysMadeBy(sql, row.id, userId, since, Date.now()) : { keys: [], complete: true };
  }

  /** Revokes the keys that a user created up to `until`, when another person may have controlled the account. */
  async revokeKeysOf(userId: string, until: number, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => {
      const keysRevoked = revokeKeysBy(sql, userId, until, Date.now());
      if (keysRevoked === 0) return;
      const entry = { actor: SYSTEM, action: "key.revoke", target: userId, after: { keysRevoked } } as const;
      recordAudit(sql, entry, cause, Date.now());
    });
  }

  /** Returns the operator's view of the workspace, a page of projects at a time; `null` if the workspace does not exist. */
  async inspect(cursor: number, limit: number): Promise<Inspection | null> {
    const { row, sql } = this.core.state;
    return row && inspect(sql, Date.now(), cursor, limit);
  }

  /** Returns a page of a project's flushed ranges, in order of `seq`; `null` if the project does not exist. */
  async flushedRanges(projectId: string, after: number, limit: number): Promise<ReturnType<typeof flushedRanges>> {
    const { row, sql } = this.core.state;
    return row && flushedRanges(sql, projectId, after, limit);
  }

  /** Removes a deleted user: membership, keys and invitations, or the workspace if it was personal or had no other owner. */
  async removeDeletedUser(userId: string, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => removeDeletedUser(sql, userId, cause, Date.now()));
  }

  /** @deprecated The earlier name of `removeDeletedUser`: user objects of the version before call it during a deploy. */
  depart(userId: string, origin?: Origin): Promise<void> {
    return this.removeDeletedUser(userId, origin);
  }

  /** Returns what the holder of an invitation's token may see of the invitation. */
  async openInvitation(tokenHash: Uint8Array): Promise<Ruling<OpenInvitation>> {
    const { row, sql } = this.core.state;
    return row ? openInvitation(sql, tokenHash, Date.now()) : UNKNOWN_INVITATION;
  }

  /** Returns the role that an invitation offers to the owner of an address; `null` if that owner cannot accept it. */
  async offeredRole(tokenHash: Uint8Array, email: string): Promise<Role | null> {
    const { row, sql } = this.core.state;
    const found = row && findAcceptable(sql, tokenHash, email, Date.now());
    return found?.ok ? found.value.role : null;
  }

  /** Makes the invitee a member: the verified owner of the address that the token of this hash was mailed to. */
  async acceptInvitation(tokenHash: Uint8Array, guest: Invitee, origin?: Origin): Promise<Ruling<WorkspaceInfo>> {
    return acceptInvitation(this.core, this.env.DB, tokenHash, guest, originOrNew(origin));
  }

  /** Claims a mail for one attempt of the queue's consumer; `null` if there is nothing to send. */
  async claimMail(mailId: string): Promise<Mail | null> {
    return this.core.state.row ? claimMail(this.core.state.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.core.state.row) mailSent(this.core.state.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.core.state.row) releaseMail(this.core.state.sql, mailId);
  }

  /** Removes violations that the consumer of the queue has written to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    if (this.core.state.row) this.core.state.violations.stored(violations, Date.now());
  }

  /** Returns the demo key. Creates the sandbox at the first call. */
  async sandbox(origin?: Origin): Promise<SandboxAccess> {
    return this.#sandbox.access(Date.now(), originOrNew(origin));
  }

  /** Resets the sandbox unless it has been reset since `dueAt`. Safe to repeat. @returns whether this call reset it */
  async resetSandbox(dueAt: number): Promise<boolean> {
    return this.#sandbox.resetSince(dueAt, Date.now());
  }

  /** Returns a page of the recent batches that a query may need. */
  recent(call: ReadCall & { scan: RecentScan }): Promise<ReadResult<RecentPage>> {
    return this.#reads.recent(call);
  }

  /** Returns a page of counts of recent batches. */
  recentCounts(call: ReadCall & { scan: RecentCountScan }): Promise<ReadResult<RecentCountPage>> {
    return this.#reads.recentCounts(call);
  }

  /** Returns batches of one project by the `seq` of their entries. */
  async readBySeq(call: ReadCall & { scan: SeqScan }): Promise<ReadResult<SeqPage>> {
    return this.#reads.bySeq(call);
  }

  /** @deprecated The earlier name of `readBySeq`. */
  bySeq(call: ReadCall & { scan: SeqScan }): Promise<ReadResult<SeqPage>> {
    return this.readBySeq(call);
  }

  /** Issues a ticket for one tail of a project. */
  async tailTicket(call: TicketCall): Promise<TicketResult> {
    return this.#tails.ticket(call);
  }

  /** Closes the tails of a session that has ended. Safe to repeat. */
  async sessionEnded(sessionId: string): Promise<void> {
    this.#tails.sessionEnded(sessionId);
  }

  /** Closes every tail because the service stops, with the `seq` at which the client resumes. */
  async stopTails(): Promise<void> {
    this.#tails.stopAll();
  }

  /** Aborts the object, which ends the connections of closed tails. Called at the stop, with no request in flight. */
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
    const run = newAlarmOrigin();
    await this.core.alarm(run);
    this.#sandbox.alarm(Date.now(), run);
    this.#tails.alarm();
  }
}
