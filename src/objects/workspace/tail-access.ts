import type { Env } from "../../env.ts";
import { findGrantByToken } from "../../grants/store.ts";
import { hasScope } from "../../keys/scopes.ts";
import { endOf } from "../../keys/store.ts";
import { chargeOf, type LimitState } from "../../limits/state.ts";
import { callUser } from "../../rpc/call.ts";
import { fail } from "../../rpc/result.ts";
import type { TailCall, TailFailure, TicketCall, TicketResult } from "../../rpc/tail.ts";
import { SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import {
  type AuthorityCheck,
  deleteTicket,
  findTicket,
  insertTicket,
  newTicket,
  openTicket,
  type TailAuthority,
} from "../../tail/authority.ts";
import { SANDBOX_TAIL_QUOTA, TAIL_QUOTA, type TailQuota } from "../../tail/limits.ts";
import { readerText, type Tail } from "../../tail/tail.ts";
import {
  type AdmissionContext,
  admit,
  grantProblem,
  type KeyProjectCache,
  keyProblem,
} from "../../workspace/admission.ts";
import { roleOf } from "../../workspace/members.ts";
import { type Requirement, roleAtLeast, roleFor, unknownCaller } from "../../workspace/permissions.ts";
import type { ProjectRow } from "../../workspace/projects.ts";
import type { WorkspaceState } from "../../workspace/state.ts";

/**
 * Checks whether an admitted caller may still read a project. Counts and writes nothing. The user object
 * decides whether a user's session is valid.
 * @param sessionEnd when the session ends, as last reported by the user object, epoch milliseconds
 */
export function checkReadAuthority(
  sql: SqlStorage,
  keyProjectCache: KeyProjectCache,
  authority: TailAuthority,
  project: number,
  sessionEnd: number | null,
  now: number,
): AuthorityCheck {
  if (keyProjectCache.projectByNum(project) === null) return { ok: false, code: "NOT_FOUND" };
  if (authority.kind === "user") {
    const role = roleOf(sql, authority.userId);
    if (role === null) return { ok: false, code: "NOT_FOUND" };
    if (!roleAtLeast(role, roleFor("logs.read"))) return { ok: false, code: "FORBIDDEN" };
    return { ok: true, expiresAt: sessionEnd };
  }
  if (authority.kind === "grant") return checkGrant(sql, authority.hash, project, now);
  const key = keyProjectCache.key(authority.hash);
  const problem = keyProblem(key, now);
  if (problem) return { ok: false, code: problem.code };
  if (key === null || key.project !== project) return { ok: false, code: "NOT_FOUND" };
  if (!hasScope(key.scopes, "logs:read")) return { ok: false, code: "INSUFFICIENT_SCOPE" };
  return { ok: true, expiresAt: endOf(key) };
}

function checkGrant(sql: SqlStorage, hash: string, project: number, now: number): AuthorityCheck {
  const found = findGrantByToken(sql, hash);
  const problem = grantProblem(found, now);
  if (problem) return { ok: false, code: problem.code };
  if (found === null || roleOf(sql, found.grant.userId) === null) return { ok: false, code: "INVALID_ACCESS_TOKEN" };
  const { grant, expiresAt } = found;
  if (grant.projects !== null && !grant.projects.includes(project)) return { ok: false, code: "NOT_FOUND" };
  if (!grant.scopes.includes("logs:read")) return { ok: false, code: "INSUFFICIENT_SCOPE" };
  return { ok: true, expiresAt };
}

export const INVALID_TICKET = fail("INVALID_TOKEN", "The ticket is not valid, or has been used.", { limit: null });
const EXPIRED_TICKET = fail("TOKEN_EXPIRED", "The ticket has expired.", { limit: null });

/** An admitted request for a tail. */
export interface Opened {
  ok: true;
  authority: TailAuthority;
  project: ProjectRow;
  limit: LimitState | null;
}

/** The state of the open tails that the admission of another one depends on. */
export interface OpenTails {
  size: number;
  isFull: boolean;
  tailsOf(reader: string): number;
}

/** Decides which callers may open tails of a workspace and which tails may continue. */
export class TailAccess {
  readonly #env: Env;
  readonly #state: WorkspaceState;
  /** Sessions for which a tail is being opened. A session that ends in the meantime is marked. */
  readonly #opening = new Set<{ sessionId: string; hasEnded: boolean }>();

  constructor(env: Env, state: WorkspaceState) {
    this.#env = env;
    this.#state = state;
  }

  get quota(): TailQuota {
    return this.#state.row?.id === SANDBOX_WORKSPACE_ID ? SANDBOX_TAIL_QUOTA : TAIL_QUOTA;
  }

  /** Creates a ticket for one tail of a project. A ticket can be used once. */
  ticket({ reader, projectId, ...charged }: TicketCall): TicketResult {
    const result = this.#state.transaction((admission, row): TicketResult => {
      const now = Date.now();
      const admitted = admit(admission, reader, requirementFor(projectId), chargeOf(charged), now);
      if (!admitted.ok) return admitted;
      const ticket = newTicket(row.id);
      const hash = openTicket(ticket)?.hash ?? "";
      const expiresAt = insertTicket(admission.sql, hash, admitted.project?.num ?? 0, reader, now);
      return { ok: true, ticket, expiresAt, limit: admitted.limit };
    });
    return result ?? unknownCaller(reader);
  }

  /** Admits and counts a request for a tail. */
  admit(
    admission: AdmissionContext,
    { reader, projectId, since, address, ...charged }: TailCall,
    tails: OpenTails,
  ): Opened | TailFailure {
    const now = Date.now();
    let authority: TailAuthority;
    if (reader.kind === "ticket") {
      const ticket = findTicket(admission.sql, reader.hash, now);
      if (!ticket.found) return ticket.reason === "expired" ? EXPIRED_TICKET : INVALID_TICKET;
      if (admission.keyProjectCache.projectByNum(ticket.project)?.id !== projectId) return INVALID_TICKET;
      authority = ticket.authority;
    } else authority = reader;
    const admitted = admit(admission, authority, requirementFor(projectId), chargeOf(charged), now);
    if (!admitted.ok) return admitted;
    const { project, limit } = admitted;
    if (project === null) throw new Error("A tail must name its project.");
    if (since !== null && since > project.lastSeq)
      return fail("FUTURE_SEQ", "The project has no entry with this seq yet.", { limit });
    if (tails.size + this.#opening.size >= this.quota.tails) {
      const message = `This workspace has ${this.quota.tails} open tails; close one first.`;
      return fail("CONFLICT", message, { limit });
    }
    if (tails.tailsOf(readerText({ authority, address })) >= this.quota.readerTails) {
      const whose = address === undefined ? "your key or account" : "your IP address";
      const message = `This workspace has ${this.quota.readerTails} open tails of ${whose}; close one first.`;
      return fail("CONFLICT", message, { limit });
    }
    if (tails.isFull) {
      const message = "The open tails are too far behind with their acknowledgements; try again later.";
      return fail("CONFLICT", message, { limit });
    }
    if (reader.kind === "ticket") deleteTicket(admission.sql, reader.hash);
    return { ok: true, authority, project, limit };
  }

  /**
   * Subscribes to the end of a session at the user object.
   * @returns when the session expires, epoch milliseconds
   */
  async watch({ userId, sessionId }: Extract<TailAuthority, { kind: "user" }>): Promise<number | "ended"> {
    const workspaceId = this.#state.row?.id;
    if (workspaceId === undefined) return "ended";
    const opening = { sessionId, hasEnded: false };
    this.#opening.add(opening);
    try {
      const end = await callUser(this.#env, userId, "replay-safe", (stub) =>
        stub.subscribeToSessionEnd(sessionId, workspaceId),
      );
      return end === null || opening.hasEnded ? "ended" : end;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** Checks whether a tail may continue, with the object's own data. */
  check({ authority, project, expiresAt }: Pick<Tail, "authority" | "project" | "expiresAt">): AuthorityCheck {
    const { row, sql, keyProjectCache } = this.#state;
    if (row === null) return { ok: false, code: "NOT_FOUND" };
    return checkReadAuthority(sql, keyProjectCache, authority, project, expiresAt, Date.now());
  }

  /** Checks an expired authority again; for a session, after asking the user object. */
  async renewed({ authority, project }: Tail): Promise<AuthorityCheck> {
    const expiresAt = authority.kind === "user" ? await this.watch(authority) : null;
    if (expiresAt === "ended") return { ok: false, code: "SESSION_REVOKED" };
    const check = this.check({ authority, project, expiresAt });
    if (check.ok && check.expiresAt !== null) this.#state.alarm.by(check.expiresAt);
    return check;
  }

  /** Called by the user object, which this object subscribed to. */
  sessionEnded(sessionId: string): void {
    for (const opening of this.#opening) if (opening.sessionId === sessionId) opening.hasEnded = true;
  }
}

function requirementFor(projectId: string): Requirement {
  return { scope: "logs:read", role: roleFor("logs.read"), projectId };
}
