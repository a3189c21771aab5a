import type { AddressAnswer, AddressState } from "../alerts/notifications/confirmations.ts";
import type { OwnGrants } from "../grants/actions.ts";
import type { Exchanged, GrantExchange, PresentedGrantToken } from "../grants/exchange.ts";
import type { OwnKeys } from "../keys/actions.ts";
import type { ChargedCall, RouteRef } from "../limits/state.ts";
import type { Violation } from "../limits/violations.ts";
import type { RecentCountPage, RecentCountScan } from "../logs/stats/recent-counts.ts";
import type { Mail } from "../mail/mail.ts";
import type { Origin } from "../platform/origin.ts";
import type { Admitted } from "../workspace/admission.ts";
import type { AgentAccess, AgentCall } from "../workspace/agent-access.ts";
import type { AgentAlert } from "../workspace/agent-work.ts";
import type {
  DoorCall,
  DoorResult,
  IngestCall,
  IngestResult,
  StageCall,
  StageResult,
} from "../workspace/ingest-calls.ts";
import type { OpenInvitation } from "../workspace/invitations.ts";
import type { Caller, Requirement, Role } from "../workspace/permissions.ts";
import type { FlushedRanges, Inspection } from "../workspace/projects.ts";
import type { NewWorkspace } from "../workspace/provision.ts";
import type { RecentPage, RecentScan, SeqPage, SeqScan } from "../workspace/recent/reader.ts";
import type { AgentChange, AgentChangeCall, Management, ManagementCall, ManagementMethod } from "./management.ts";
import type { Failure, Result, Success } from "./result.ts";
import type { TicketCall, TicketResult } from "./tail.ts";

// Plain data only. These shapes, with those that they name, cross versions during a deploy: add optional members and new
// methods only. An object accepts the calls of the version before, and a router its answers.

/** A workspace as one of its members sees it. */
export interface WorkspaceInfo {
  id: string;
  slug: string;
  name: string;
  personal: boolean;
  role: Role;
  retentionDays: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** The user who accepts an invitation: the owner of a verified address. */
export interface Invitee {
  userId: string;
  email: string;
  /** `false` if the account's workspaces were not counted. The invitation must not offer the role of an owner then. */
  mayOwn?: boolean;
}

/** What the service publishes of the sandbox. */
export interface SandboxAccess {
  projectId: string;
  apiKey: string;
  /** Epoch milliseconds. */
  resetsAt: number;
}

/** A read of logs. A request is charged for its first page. */
export interface ReadCall extends ChargedCall {
  caller: Caller;
  projectId: string | null;
  /**
   * Whether the router reads `COLD_DB` besides `DB`. A router of an older version omits this, and would miss the entries that
   * this object has moved to `COLD_DB`.
   */
  readsColdDb?: boolean;
  /** Whether the router reads segment files. A router of an older version omits this, and would miss the entries in them. */
  readsFiles?: boolean;
}

/** A page of logs. */
export interface ReadPage<T> extends Success<T> {
  /** The project that was read, also if the call named none; `null` for the whole workspace. */
  projectId?: string | null;
  /**
   * Names of the databases to which the workspace has written segments, up to the watermarks of the page. Absent from objects of an
   * older version.
   */
  databases?: readonly string[];
  /** @deprecated The earlier name of `value`: routers of the version before read it during a deploy. */
  page?: T;
}

export type PageResult<T> = ReadPage<T> | Failure;

/** What routers and user objects ask of a workspace object. An unprovisioned object refuses every request as unknown. */
export interface WorkspaceRpc {
  /** Creates the tables and first rows of the workspace and sets its first alarm. Safe to repeat with the same values. */
  provision(workspace: NewWorkspace, origin?: Origin): Promise<void>;
  /** Deletes the workspace. Called for a registration that lost the race for its address, and for account deletion. */
  destroy(origin?: Origin): Promise<void>;
  /** Stores the slug under which the directory lists the workspace. Safe to repeat. */
  confirm(slug: string): Promise<void>;
  /** Admits a member, counts the request, and runs one method of `Management`, in one transaction. */
  manage<M extends ManagementMethod>(call: ManagementCall<M>): Promise<Result<ReturnType<Management[M]>>>;
  /** Returns the workspace as a member sees it. Refused as unknown until the directory lists it. Counts nothing. */
  getWorkspaceInfo(userId: string): Promise<Result<WorkspaceInfo>>;
  /**
   * Admits a request and counts it: one that is refused before its other call of the workspace, or that makes none. Without
   * a route the request is not counted.
   */
  admit(caller: Caller, requirement: Requirement, route: RouteRef | null): Promise<Admitted | Failure>;
  /** Admits a request of an agent, counts it, and records a call of a tool in the audit. Returns what the agent may read. */
  admitAgent(call: AgentCall): Promise<Result<AgentAccess>>;
  /** Returns the alerts of an agent's projects, or of one. Counts nothing. */
  alertsForAgent(caller: Caller, projectId: string | null): Promise<Result<AgentAlert[]>>;
  /** Runs a change on behalf of the member who signed an agent in, if the grant has its scope. Counts nothing. */
  changeForAgent<M extends AgentChange>(call: AgentChangeCall<M>): Promise<Result<ReturnType<Management[M]>>>;
  /** Exchanges a code or a refresh token of an agent for tokens, or returns the reason for a refusal. */
  exchangeGrant(call: GrantExchange): Promise<Exchanged>;
  /** Ends the grant of a genuine token. Safe to repeat. */
  revokeGrantToken(token: PresentedGrantToken, origin: Origin): Promise<void>;
  /** Returns the valid grants of a member. Reads only. */
  grantsOf(userId: string): Promise<OwnGrants>;
  /** Stores one batch, in a group commit with the calls that arrive at the same time. */
  ingest(call: IngestCall): Promise<IngestResult>;
  /** Like `ingest`, for a call with several batches, which are stored together or not at all. */
  ingestBatches(call: IngestCall): Promise<IngestResult>;
  /** Stores batches of a request that is too large for one call. A call of `ingestBatches` makes them visible. */
  stageBatches(call: StageCall): Promise<StageResult>;
  /** Like `ingestBatches`, for a request whose project is the key's. */
  ingestDoor(call: IngestCall): Promise<IngestResult>;
  /** Like `stageBatches`, for a request whose project is the key's. */
  stageDoor(call: StageCall): Promise<StageResult>;
  /** Returns what a router must know of a key before it reads entries, and counts the request by its charge. */
  admitDoor(call: DoorCall): Promise<DoorResult>;
  /** Deletes the staged batches of a request that ends without a commit. Safe to repeat. */
  discardBatches(upload: string): Promise<void>;
  /** Whether the user owns this workspace and it is not the user's personal one. Reads only. */
  isOwnedBy(userId: string): Promise<boolean>;
  /** Returns the valid keys that a user has created since a time. Reads only. */
  keysMadeBy(userId: string, since: number): Promise<OwnKeys>;
  /** Revokes the keys and ends the grants that a user made up to `until`, when another person may have controlled the account. */
  revokeKeysOf(userId: string, until: number, origin?: Origin): Promise<void>;
  /** Returns the operator's view of the workspace, a page of projects at a time; `null` if the workspace does not exist. */
  inspect(cursor: number, limit: number): Promise<Inspection | null>;
  /** Returns a page of a project's flushed ranges, in order of `seq`; `null` if the project does not exist. */
  flushedRanges(projectId: string, after: number, limit: number): Promise<FlushedRanges | null>;
  /** Removes a deleted user: membership, keys and invitations, or the workspace if it was personal or had no other owner. */
  removeDeletedUser(userId: string, origin?: Origin): Promise<void>;
  /** Returns what the holder of an invitation's token may see of the invitation. */
  openInvitation(tokenHash: Uint8Array): Promise<Result<OpenInvitation>>;
  /** Returns the role that an invitation offers to the owner of an address; `null` if that owner cannot accept it. */
  offeredRole(tokenHash: Uint8Array, email: string): Promise<Role | null>;
  /** Makes the invitee a member: the verified owner of the address that the token of this hash was mailed to. */
  acceptInvitation(tokenHash: Uint8Array, guest: Invitee, origin?: Origin): Promise<Result<WorkspaceInfo>>;
  /** Does what the holder of a mailed link says about notifications to the address. */
  answerAddress(tokenHash: Uint8Array, answer: AddressAnswer, origin?: Origin): Promise<Result<AddressState>>;
  /** Claims a mail for one attempt of the queue's consumer; `null` if there is nothing to send. */
  claimMail(mailId: string): Promise<Mail | null>;
  mailSent(mailId: string): Promise<void>;
  releaseMail(mailId: string): Promise<void>;
  /** Removes violations that the consumer of the queue has written to D1. */
  violationsStored(violations: readonly Violation[]): Promise<void>;
  /** Returns the demo key. Creates the sandbox at the first call. */
  sandbox(origin?: Origin): Promise<SandboxAccess>;
  /** Resets the sandbox unless it has been reset since `dueAt`. Safe to repeat. @returns whether this call reset it */
  resetSandbox(dueAt: number): Promise<boolean>;
  /** Returns a page of the recent batches that a query may need. */
  recent(call: ReadCall & { scan: RecentScan }): Promise<PageResult<RecentPage>>;
  /** Returns a page of counts of recent batches. */
  recentCounts(call: ReadCall & { scan: RecentCountScan }): Promise<PageResult<RecentCountPage>>;
  /** Returns batches of one project by the `seq` of their entries. */
  readBySeq(call: ReadCall & { scan: SeqScan }): Promise<PageResult<SeqPage>>;
  /** Issues a ticket for one tail of a project. */
  tailTicket(call: TicketCall): Promise<TicketResult>;
  /** Closes the tails of a session that has ended. Safe to repeat. */
  sessionEnded(sessionId: string): Promise<void>;
  /** Closes every tail because the service stops, with the `seq` at which the client resumes. */
  stopTails(): Promise<void>;
  /** Aborts the object, which ends the connections of closed tails. Called at the stop, with no request in flight. */
  endConnections(): Promise<void>;
}
