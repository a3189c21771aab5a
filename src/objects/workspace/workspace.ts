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

/** The answer to a call that does not fit into what waits for its commit. */
const BUSY: IngestResult = {
  ok: false,
  code: "SERVICE_UNAVAILABLE",
  message: "The workspace is taking in too much at once. Please try again.",
  limit: null,
};

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn. An object that was never provisioned answers
 * like a workspace that knows nobody, and writes nothing.
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

  /** Makes the workspace exist, with the alarm that keeps it tidy. Safe to repeat with the same values. */
  async provision(workspace: NewWorkspace, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, cause, Date.now()));
    this.core.state.alarm.by(Date.now() + 1000);
  }

  /** Deletes everything. For a registration that lost the race for its address, and for account deletion. */
  async destroy(origin?: Origin): Promise<void> {
    this.#tails.endAll();
    await this.core.end(originOrNew(origin));
  }

  /** The directory lists the workspace, under this slug. Safe to repeat. */
  async confirm(slug: string): Promise<void> {
    this.core.directory.confirm(slug);
  }

  /**
   * Decides on a request and counts it: what every request of a user begins with, and all that a bad body gets. Without
   * a route nothing is counted here.
   */
  async admit(caller: Caller, requirement: Requirement, route: RouteRef | null): Promise<Admitted | Denied> {
    return (
      this.core.state.transaction((admission) => admit(admission, caller, requirement, route, Date.now())) ??
      unknownCaller(caller)
    );
  }

  /** Stores one batch, together with those that arrive with it. */
  async ingest(call: IngestCall): Promise<IngestResult> {
    if (!this.core.state.row) return unknownKey();
    return this.#sandbox.full(call, Date.now()) ?? this.#ingest.submit(call) ?? BUSY;
  }

  /** Whether the user owns this workspace, and it is not the user's personal one; reads only. */
  async isOwnedBy(userId: string): Promise<boolean> {
    const { row, sql } = this.core.state;
    return row !== null && readWorkspace(sql).personalOf !== userId && roleOf(sql, userId) === "owner";
  }

  /** The keys that a user made since a time, and that still work; reads only. */
  async keysMadeBy(userId: string, since: number): Promise<OwnKeys> {
    const { row, sql } = this.core.state;
    return row ? keysMadeBy(sql, row.id, userId, since, Date.now()) : { keys: [], complete: true };
  }

  /** Ends the keys that a user made by `until`: of one who leaves, or whose account was somebody else's until then. */
  async revokeKeysOf(userId: string, until: number, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => {
      const keysRevoked = revokeKeysBy(sql, userId, until, Date.now());
      if (keysRevoked === 0) return;
      const entry = { actor: SYSTEM, action: "key.revoke", target: userId, after: { keysRevoked } } as const;
      recordAudit(sql, entry, cause, Date.now());
    });
  }

  /** What an operator sees of the workspace, some projects at a time; null where there is none. */
  async inspect(cursor: number, limit: number): Promise<Inspection | null> {
    const { row, sql } = this.core.state;
    return row && inspect(sql, Date.now(), cursor, limit);
  }

  /** Some of the ranges that a project has in the cold tier, in order of `seq`; null where there is no such project. */
  async flushedRanges(projectId: string, after: number, limit: number): Promise<ReturnType<typeof flushedRanges>> {
    const { row, sql } = this.core.state;
    return row && flushedRanges(sql, projectId, after, limit);
  }

  /** The account of this user is gone: so is what it was and made here, and a workspace that was its own. */
  async removeDeletedUser(userId: string, origin?: Origin): Promise<void> {
    const cause = originOrNew(origin);
    await this.core.change(cause, ({ sql }) => removeDeletedUser(sql, userId, cause, Date.now()));
  }

  /** @deprecated The earlier name of `removeDeletedUser`: user objects of the version before call it during a deploy. */
  depart(userId: string, origin?: Origin): Promise<void> {
    return this.removeDeletedUser(userId, origin);
  }

  /** What the holder of an invitation's token may see of it. */
  async openInvitation(tokenHash: Uint8Array): Promise<Ruling<OpenInvitation>> {
    const { row, sql } = this.core.state;
    return row ? openInvitation(sql, tokenHash, Date.now()) : UNKNOWN_INVITATION;
  }

  /** The role that an invitation offers to the owner of an address; null where that one cannot accept it. */
  async offeredRole(tokenHash: Uint8Array, email: string): Promise<Role | null> {
    const { row, sql } = this.core.state;
    const found = row && findAcceptable(sql, tokenHash, email, Date.now());
    return found?.ok ? found.value.role : null;
  }

  /** Takes in the verified owner of the address that the token of this hash was mailed to. */
  async acceptInvitation(tokenHash: Uint8Array, guest: Invitee, origin?: Origin): Promise<Ruling<WorkspaceInfo>> {
    return acceptInvitation(this.core, this.env.DB, tokenHash, guest, originOrNew(origin));
  }

  /** The queue's consumer takes a mail for one try; null where there is nothing to send. */
  async claimMail(mailId: string): Promise<Mail | null> {
    return this.core.state.row ? claimMail(this.core.state.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.core.state.row) mailSent(this.core.state.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.core.state.row) releaseMail(this.core.state.sql, mailId);
  }

  /** The consumer of the violations queue has written these to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    if (this.core.state.row) this.core.state.violations.stored(violations, Date.now());
  }

  /** The sandbox's key; makes the sandbox at its first use. */
  async sandbox(origin?: Origin): Promise<SandboxAccess> {
    return this.#sandbox.access(Date.now(), originOrNew(origin));
  }

  /** Resets the sandbox unless that has happened since this time. Safe to repeat. @returns whether it was done now */
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
    await this.core.alarm(run);
    this.#sandbox.alarm(Date.now(), run);
    this.#tails.alarm();
  }
}
