import type { Env } from "../env.ts";
import { ApiError } from "../http/errors.ts";
import type { OperationFields, OperationLevel } from "../http/log.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import { hostState } from "../platform/host-state.ts";
import { tailMemory } from "../platform/isolate-budget.ts";
import { newRun, type Origin, orNewRun } from "../platform/origin.ts";
import { SANDBOX_WORKSPACE_ID } from "../sandbox/sandbox.ts";
import type { AuthorityRuling, TailAuthority } from "../tail/authority.ts";
import type { Framed } from "../tail/frames.ts";
import { TailHub } from "../tail/hub.ts";
import { SANDBOX_TAIL_QUOTA, TAIL_QUOTA, type TailQuota } from "../tail/limits.ts";
import { readMessage } from "../tail/message.ts";
import { type TailShare, TailShares } from "../tail/shares.ts";
import { readerText, Tail } from "../tail/tail.ts";
import { tailedWorkspaces } from "../tail/tailed-workspaces.ts";
import { newTicket, openTicket } from "../tail/ticket.ts";
import { deleteTicket, findTicket, insertTicket } from "../tail/tickets.ts";
import { admit, type Gate } from "../workspace/admission.ts";
import { type Denied, type Need, nobody } from "../workspace/caller.ts";
import { PERMISSIONS } from "../workspace/permissions.ts";
import { findProjectByNum, type ProjectRow } from "../workspace/projects.ts";
import { ruleOnReading } from "../workspace/reading-authority.ts";
import { oldestKept } from "../workspace/retention.ts";
import { nextBySeq } from "../workspace/seq-reader.ts";
import type { WorkspaceState } from "../workspace/state.ts";
import { objectLine } from "./object-line.ts";
import { callUser } from "./stubs.ts";
import type { TailBacklog } from "./tail-backlog.ts";
import { expiredTicket, invalidTicket, refused, type TailRefusal } from "./tail-refusal.ts";

/** Who asks for a tail: somebody who may read, or whoever has a ticket of somebody who may. */
export type TailReader = TailAuthority | { kind: "ticket"; hash: string };

export interface TailCall {
  reader: TailReader;
  projectId: string;
  /** What the request counts under; null where it has been counted outside the workspace. */
  route: RouteRef | null;
  /** Absent where the router is of an older version. */
  origin?: Origin;
  /** As `tailFilterText` wrote it. */
  filter: string;
  /** Entries behind this `seq`; null for those that come from now on. */
  since: number | null;
  /** In the sandbox: the client's address, as its key is everybody's. */
  address?: string;
}

export interface TicketCall {
  reader: TailAuthority;
  projectId: string;
  route: RouteRef | null;
}

export type TicketResult = { ok: true; ticket: string; expiresAt: number; limit: LimitState | null } | Denied;

/** Carries a `TailCall` to the object, and the counter's state back with the socket. */
export const TAIL_CALL_HEADER = "X-Taffrail-Tail";
export const TAIL_LIMIT_HEADER = "X-Taffrail-Limit";

/** Module state: one instance an isolate, for the tails of all objects in it. */
const shares = new TailShares(tailMemory);

interface Opened {
  ok: true;
  authority: TailAuthority;
  project: ProjectRow;
  limit: LimitState | null;
}

/**
 * The tails of a workspace object: its sockets, who may have one, and what the hub needs of the object.
 * The sockets hibernate; what has to outlive the object's memory is in their attachments.
 */
export class Tails {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  readonly #share: TailShare;
  readonly #hub: TailHub;
  readonly #bySocket = new Map<WebSocket, Tail>();
  /** Sessions that a tail is being opened for; one that ends meanwhile is taken out. */
  readonly #opening = new Set<{ sessionId: string; hasEnded: boolean }>();

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
    this.#share = shares.join(ctx.id.toString(), this);
    this.#hub = new TailHub({
      now: () => Date.now(),
      share: this.#share,
      quota: () => this.#quota,
      durable: () => ctx.storage.sync(),
      pause: (milliseconds) => scheduler.wait(milliseconds),
      lastSeq: (project) => (state.row ? (state.directory.projectByNum(project)?.lastSeq ?? null) : null),
      backlog: (tail, most) => this.#backlog(tail, most),
      ruling: (tail) => this.#ruling(tail),
      renewed: (tail) => this.#renewed(tail),
      abandon: () => this.#abandon(),
      closed: (tail, code, reason) => this.#closed(tail, code, reason),
      failed: (error, tail) => this.#failed(error, tail),
    });
    for (const socket of ctx.getWebSockets()) {
      const tail = Tail.restore(socket, socket.deserializeAttachment());
      this.#bySocket.set(socket, tail);
      this.#hub.restore(tail);
    }
    this.#noteTails();
    state.onCommit = (stored) => this.#hub.committed(stored);
    state.onChange = () => this.#changed();
  }

  /** A ticket for one tail of a project, good once. */
  ticket({ reader, projectId, route }: TicketCall): TicketResult {
    const result = this.#state.transaction((gate, row): TicketResult => {
      const now = Date.now();
      const admitted = admit(gate, reader, needOf(projectId), route, now);
      if (!admitted.ok) return admitted;
      const ticket = newTicket(row.id);
      const hash = openTicket(ticket)?.hash ?? "";
      const expiresAt = insertTicket(gate.sql, hash, admitted.project?.num ?? 0, reader, now);
      return { ok: true, ticket, expiresAt, limit: admitted.limit };
    });
    return result ?? nobody(reader);
  }

  /** Answers with the client's end of a socket, or with a `TailRefusal`; see `TAIL_REFUSAL_HEADER`. */
  async open(call: TailCall): Promise<Response> {
    const opened = this.#state.transaction((gate) => this.#admit(gate, call));
    if (!opened) return refused(call.reader.kind === "ticket" ? invalidTicket() : nobody(call.reader));
    if (!opened.ok) {
      if (opened.code === "CONFLICT") this.#hub.refused();
      return refused(opened);
    }
    const { authority, project, limit } = opened;
    let expiresAt: number | "ended" | null;
    try {
      expiresAt = authority.kind === "user" ? await this.#watch(authority) : null;
    } catch (error) {
      // The user object cannot answer now. An `ApiError` that left this object would be a fault to the router.
      if (error instanceof ApiError) return refused({ ok: false, code: "SERVICE_UNAVAILABLE", limit });
      throw error;
    }
    if (expiresAt === "ended") return refused({ ok: false, code: "SESSION_REVOKED", limit });
    // Asked again, as the session was waited for: from here to the socket's place among the others it is one turn.
    const ruling = this.#ruling({ authority, project: project.num, expiresAt });
    if (!ruling.ok) return refused({ ok: false, code: ruling.code, message: "You may not read this project.", limit });
    if (hostState.isStopping) return refused({ ok: false, code: "SERVICE_UNAVAILABLE", limit });
    const [client, server] = Object.values(new WebSocketPair());
    if (!client || !server) throw new Error("A pair of sockets has two.");
    this.#ctx.acceptWebSocket(server);
    const lastSeq = this.#state.directory.projectByNum(project.num)?.lastSeq ?? 0;
    const { filter, since, address } = call;
    const place = { project: project.num, projectId: project.id, sent: since ?? lastSeq };
    const { requestId } = orNewRun(call.origin);
    const opening = { ...place, authority, filter, expiresAt: ruling.expiresAt, requestId, address };
    const tail = Tail.open(server, opening, Date.now());
    this.#bySocket.set(server, tail);
    this.#noteTails();
    this.#hub.add(tail);
    this.#arm();
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: limit ? { [TAIL_LIMIT_HEADER]: JSON.stringify(limit) } : {},
    });
  }

  message(socket: WebSocket, message: string | ArrayBuffer): void {
    const tail = this.#bySocket.get(socket);
    if (!tail) return;
    const ack = readMessage(message);
    if (ack === null || !this.#hub.ack(tail, ack.seq)) this.#hub.refuseMessage(tail);
  }

  /**
   * The client's end is closed, or lost.
   * @param code as the client gave it; 1006 where the connection broke
   */
  gone(socket: WebSocket, code: number): void {
    const tail = this.#bySocket.get(socket);
    this.#bySocket.delete(socket);
    if (tail) {
      // What the service itself closed has had its line.
      if (tail.isOpen) this.#closed(tail, code, "client");
      this.#hub.gone(tail);
    }
    this.#noteTails();
    try {
      socket.close();
    } catch {
      // It was closed on both ends already.
    }
  }

  /** The user object says so, as it was asked to. */
  sessionEnded(sessionId: string): void {
    for (const opening of this.#opening) if (opening.sessionId === sessionId) opening.hasEnded = true;
    this.#hub.sessionEnded(sessionId);
  }

  stopAll(): void {
    this.#hub.stopAll();
  }

  endAll(): void {
    this.#hub.endAll("NOT_FOUND");
  }

  /** To be called when the object's alarm has done everything else. */
  alarm(): void {
    this.#hub.expire();
    this.#arm();
  }

  #admit(gate: Gate, { reader, projectId, route, since, address }: TailCall): Opened | TailRefusal {
    const now = Date.now();
    let authority: TailAuthority;
    if (reader.kind === "ticket") {
      const ticket = findTicket(gate.sql, reader.hash, now);
      if (!ticket.found) return ticket.reason === "expired" ? expiredTicket() : invalidTicket();
      if (gate.directory.projectByNum(ticket.project)?.id !== projectId) return invalidTicket();
      authority = ticket.authority;
    } else authority = reader;
    const admitted = admit(gate, authority, needOf(projectId), route, now);
    if (!admitted.ok) return admitted;
    const { project, limit } = admitted;
    if (project === null) throw new Error("A tail names its project.");
    if (since !== null && since > project.lastSeq) return { ok: false, code: "FUTURE_SEQ", limit };
    if (this.#hub.size + this.#opening.size >= this.#quota.tails) {
      const message = `This workspace has ${this.#quota.tails} open tails; close one first.`;
      return { ok: false, code: "CONFLICT", message, limit };
    }
    if (this.#hub.tailsOf(readerText({ authority, address })) >= this.#quota.readerTails) {
      const whose = address === undefined ? "your key or account" : "your address";
      const message = `This workspace has ${this.#quota.readerTails} open tails of ${whose}; close one first.`;
      return { ok: false, code: "CONFLICT", message, limit };
    }
    if (this.#hub.isFull) {
      const message = "The open tails are too far behind with their acknowledgements; try again later.";
      return { ok: false, code: "CONFLICT", message, limit };
    }
    if (reader.kind === "ticket") deleteTicket(gate.sql, reader.hash);
    return { ok: true, authority, project, limit };
  }

  /** Keeps the list of workspaces with tails. */
  #noteTails(): void {
    const id = this.#state.row?.id;
    if (id === undefined) return;
    if (this.#bySocket.size > 0) tailedWorkspaces.add(id);
    else tailedWorkspaces.delete(id);
  }

  get #quota(): TailQuota {
    return this.#state.row?.id === SANDBOX_WORKSPACE_ID ? SANDBOX_TAIL_QUOTA : TAIL_QUOTA;
  }

  /** Has the user object say when the session ends. @returns when it does so by itself */
  async #watch({ userId, sessionId }: Extract<TailAuthority, { kind: "user" }>): Promise<number | "ended"> {
    const workspaceId = this.#state.row?.id;
    if (workspaceId === undefined) return "ended";
    const opening = { sessionId, hasEnded: false };
    this.#opening.add(opening);
    try {
      const end = await callUser(this.#env, userId, "replay-safe", (stub) => stub.watchSession(sessionId, workspaceId));
      return end === null || opening.hasEnded ? "ended" : end;
    } finally {
      this.#opening.delete(opening);
    }
  }

  #ruling({ authority, project, expiresAt }: Pick<Tail, "authority" | "project" | "expiresAt">): AuthorityRuling {
    const { row, sql, directory } = this.#state;
    if (row === null) return { ok: false, code: "NOT_FOUND" };
    return ruleOnReading(sql, directory, authority, project, expiresAt, Date.now());
  }

  async #renewed({ authority, project }: Tail): Promise<AuthorityRuling> {
    const expiresAt = authority.kind === "user" ? await this.#watch(authority) : null;
    if (expiresAt === "ended") return { ok: false, code: "SESSION_REVOKED" };
    const ruling = this.#ruling({ authority, project, expiresAt });
    if (ruling.ok && ruling.expiresAt !== null) this.#state.alarm.by(ruling.expiresAt);
    return ruling;
  }

  async #backlog({ project: num, projectId, sent, filter, requestId }: Tail, most: number): Promise<Framed | null> {
    const { row, sql, index } = this.#state;
    // Read anew: a flush changes rows that caches still hold.
    const project = findProjectByNum(sql, num);
    if (!row || !project) return null;
    const oldest = oldestKept(row.retentionDays, Date.now());
    const step = { workspaceId: row.id, projectId, filter, oldest, most, requestId };
    const reader = this.#backlogReader();
    const next = nextBySeq(sql, index, project, oldest, sent);
    if (next.tier === "cold") return reader.read({ ...step, range: { after: sent, until: next.until }, batches: null });
    const { through, batches } = next.page;
    return reader.read({ ...step, range: { after: sent, until: through }, batches });
  }

  #backlogReader(): Pick<TailBacklog, "read"> {
    // SAFETY: worker.ts exports the class under this name, and the runtime gives every export a loopback binding.
    return (this.#ctx.exports as unknown as { TailBacklog: Pick<TailBacklog, "read"> }).TailBacklog;
  }

  #changed(): void {
    if (this.#hub.size === 0) return;
    this.#hub.recheck();
    this.#arm();
  }

  /** Time alone ends keys and sessions: an alarm sees to it, as a timer would keep the object awake. */
  #arm(): void {
    const at = this.#hub.nextExpiry();
    if (at !== null) this.#state.alarm.by(Math.max(at, Date.now()));
  }

  /** Whoever is asking something of the object is told to come again; what is committed stays. */
  #abandon(): void {
    this.#note("warn", newRun(), { event: "workspace.tail", outcome: "abandoned", tails: this.#hub.size });
    this.#share.leave();
    this.#ctx.abort("Clients that were closed and do not read hold the room of all tails.");
  }

  #closed({ projectId, sent, requestId }: Tail, code: number, reason: string): void {
    const outcome = reason.startsWith("since=") ? "cut" : reason;
    this.#note("info", { requestId }, { event: "workspace.tail.end", outcome, status: code, projectId, sent });
  }

  /** @param tail null where the fault is of no one tail */
  #failed(error: unknown, tail: Tail | null): void {
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "workspace.tail", outcome: "failed", projectId: tail?.projectId, fault };
    this.#note("error", tail ?? newRun(), line);
  }

  #note(level: OperationLevel, origin: Pick<Origin, "requestId">, fields: OperationFields): void {
    objectLine(this.#env, "workspace", origin, level, { ...fields, workspaceId: this.#state.row?.id });
  }
}

function needOf(projectId: string): Need {
  return { scope: "logs:read", role: PERMISSIONS["logs.read"], projectId };
}
