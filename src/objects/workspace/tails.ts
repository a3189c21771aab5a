import type { Env } from "../../env.ts";
import { ApiError } from "../../http/errors.ts";
import { freeBatches } from "../../logs/batch.ts";
import type { Duty } from "../../platform/alarm.ts";
import { hostState, tailedWorkspaces } from "../../platform/host.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { fail } from "../../rpc/result.ts";
import {
  refusalResponse,
  TAIL_LIMIT_HEADER,
  type TailCall,
  type TicketCall,
  type TicketResult,
} from "../../rpc/tail.ts";
import { readMessage } from "../../tail/acks.ts";
import { isKnownTailFilter } from "../../tail/filter.ts";
import type { FrameList } from "../../tail/frames.ts";
import type { TailHost } from "../../tail/host.ts";
import { TailHub } from "../../tail/hub.ts";
import { isolateShares, type TailShare } from "../../tail/shares.ts";
import { Tail } from "../../tail/tail.ts";
import { unknownCaller } from "../../workspace/permissions.ts";
import { findProjectByNum } from "../../workspace/projects.ts";
import { nextBySeq } from "../../workspace/recent/reader.ts";
import { retentionCutoff } from "../../workspace/settings.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import type { TailBacklog } from "./entrypoints.ts";
import { INVALID_TICKET, TailAccess } from "./tail-access.ts";

/**
 * The tails of a workspace object: sockets, access, and the functions that the hub needs of the object. The sockets
 * hibernate; what must survive hibernation is in their attachments.
 */
export class Tails implements Duty {
  readonly name = "tails";
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  readonly #share: TailShare;
  readonly #hub: TailHub;
  readonly #bySocket = new Map<WebSocket, Tail>();
  readonly #access: TailAccess;

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
    this.#share = isolateShares.join(ctx.id.toString(), this);
    this.#access = new TailAccess(env, state);
    const host: TailHost = {
      share: this.#share,
      quota: () => this.#access.quota,
      durable: () => ctx.storage.sync(),
      lastSeq: (project) => (state.row ? (state.keyProjectCache.projectByNum(project)?.lastSeq ?? null) : null),
      backlog: (tail, maxEntries) => this.#backlog(tail, maxEntries),
      mayRead: (tail) => this.#access.check(tail),
      renewed: (tail) => this.#access.renewed(tail),
      abort: () => this.#abortObject(),
      report: (event) => {
        if (event.event === "closed") this.#closed(event.tail, event.code, event.reason);
        else this.#failed(event.error, event.tail);
      },
    };
    this.#hub = new TailHub(host, { now: () => Date.now(), pause: (milliseconds) => scheduler.wait(milliseconds) });
    for (const socket of ctx.getWebSockets()) {
      const tail = Tail.restore(socket, socket.deserializeAttachment());
      this.#bySocket.set(socket, tail);
      this.#hub.restore(tail);
    }
    this.#noteTails();
    state.onCommit = (stored) => {
      // Only tails use the bodies after the commit.
      if (this.#hub.size === 0) freeBatches(stored.map(({ batch }) => batch));
      else this.#hub.committed(stored);
    };
    state.onChange = () => this.#changed();
  }

  /** Creates a ticket for one tail of a project. A ticket can be used once. */
  ticket(call: TicketCall): TicketResult {
    return this.#access.ticket(call);
  }

  /** Opens a tail. Returns the client's end of a socket, or a `TailFailure` (see `TAIL_REFUSAL_HEADER`). */
  async open(call: TailCall): Promise<Response> {
    // The router is of a later version, and this one would ignore a filter. The client tries again.
    if (!isKnownTailFilter(call.filter)) {
      return refusalResponse(fail("SERVICE_UNAVAILABLE", "The service is being updated; try again.", { limit: null }));
    }
    const opened = this.#state.transaction((admission) => this.#access.admit(admission, call, this.#hub));
    if (!opened) return refusalResponse(call.reader.kind === "ticket" ? INVALID_TICKET : unknownCaller(call.reader));
    if (!opened.ok) {
      if (opened.code === "CONFLICT") this.#hub.recordRefusedTail();
      return refusalResponse(opened);
    }
    const { authority, project, limit } = opened;
    let expiresAt: number | "ended" | null;
    try {
      expiresAt = authority.kind === "user" ? await this.#access.watch(authority) : null;
    } catch (error) {
      // The user object is not reachable. An `ApiError` thrown by this object would look like a fault to the router.
      if (error instanceof ApiError) return refusalResponse(fail("SERVICE_UNAVAILABLE", error.message, { limit }));
      throw error;
    }
    if (expiresAt === "ended") return refusalResponse(fail("SESSION_REVOKED", "The session has ended.", { limit }));
    // Checks the authority again after the await. From here until the tail is registered there is no other await.
    const check = this.#access.check({ authority, project: project.num, expiresAt });
    if (!check.ok) return refusalResponse(fail(check.code, "No permission to read this project.", { limit }));
    if (hostState.isStopping) {
      return refusalResponse(fail("SERVICE_UNAVAILABLE", "The service stops.", { limit }));
    }
    const [client, server] = Object.values(new WebSocketPair());
    if (!client || !server) throw new Error("A WebSocketPair must have two sockets.");
    this.#ctx.acceptWebSocket(server);
    const lastSeq = this.#state.keyProjectCache.projectByNum(project.num)?.lastSeq ?? 0;
    const { filter, since, address } = call;
    const start = { project: project.num, projectId: project.id, sent: since ?? lastSeq };
    const { requestId } = originOrNew(call.origin);
    const opening = { ...start, authority, filter, expiresAt: check.expiresAt, requestId, address };
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
   * Handles the end of a socket, closed by the client or lost.
   * @param code as sent by the client; 1006 if the connection broke
   */
  gone(socket: WebSocket, code: number): void {
    const tail = this.#bySocket.get(socket);
    this.#bySocket.delete(socket);
    if (tail) {
      // Tails that the service closed have been reported already.
      if (tail.isOpen) this.#closed(tail, code, "client");
      this.#hub.gone(tail);
    }
    this.#noteTails();
    try {
      socket.close();
    } catch {
      // Both ends were closed already.
    }
  }

  /** Called by the user object, which this object subscribed to. */
  sessionEnded(sessionId: string): void {
    this.#access.sessionEnded(sessionId);
    this.#hub.sessionEnded(sessionId);
  }

  stopAll(): void {
    this.#hub.stopAll();
  }

  endAll(): void {
    this.#hub.endAll("NOT_FOUND");
  }

  dueAt(): number | null {
    return this.#hub.nextExpiry();
  }

  /** Closes tails whose authority has expired. */
  run(): void {
    this.#hub.expire();
  }

  /** Updates the list of workspaces with tails. */
  #noteTails(): void {
    const id = this.#state.row?.id;
    if (id === undefined) return;
    if (this.#bySocket.size > 0) tailedWorkspaces.add(id);
    else tailedWorkspaces.delete(id);
  }

  async #backlog(
    { project: num, projectId, sent, filter, requestId }: Tail,
    maxEntries: number,
  ): Promise<FrameList | null> {
    const { row, sql, index } = this.#state;
    // Reads the project again, because a flush changes rows that caches still hold.
    const project = findProjectByNum(sql, num);
    if (!row || !project) return null;
    const oldest = retentionCutoff(row.retentionDays, Date.now());
    const step = { workspaceId: row.id, projectId, filter, oldest, most: maxEntries, requestId };
    const reader = this.#backlogReader();
    const next = nextBySeq(sql, index, project, oldest, sent);
    if (next.tier === "cold") return reader.read({ ...step, range: { after: sent, until: next.until }, batches: null });
    const { through, batches } = next.page;
    const list = await reader.read({ ...step, range: { after: sent, until: through }, batches });
    // The reader has received copies.
    for (const { body } of batches) detachBuffer(body);
    return list;
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

  /** Sets the alarm for the next expiry of a key or session. A timer would keep the object awake. */
  #arm(): void {
    const at = this.#hub.nextExpiry();
    if (at !== null) this.#state.alarm.by(Math.max(at, Date.now()));
  }

  /** Aborts the object. Requests in flight fail as retryable; committed data is kept. */
  #abortObject(): void {
    this.#note("warn", newAlarmOrigin(), { event: "workspace.tail", outcome: "abandoned", tails: this.#hub.size });
    this.#share.leave();
    this.#ctx.abort("Closed clients that do not read hold the memory of all tails.");
  }

  #closed({ projectId, sent, requestId }: Tail, code: number, reason: string): void {
    const outcome = reason.startsWith("since=") ? "cut" : reason;
    this.#note("info", { requestId }, { event: "workspace.tail.end", outcome, status: code, projectId, sent });
  }

  /**
   * Reports a fault.
   * @param tail `null` if the fault concerns no single tail
   */
  #failed(error: unknown, tail: Tail | null): void {
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "workspace.tail", outcome: "failed", projectId: tail?.projectId, fault };
    this.#note("error", tail ?? newAlarmOrigin(), line);
  }

  #note(level: EventLevel, origin: Pick<Origin, "requestId">, fields: EventFields): void {
    logObjectEvent(this.#env, "workspace", origin, level, { ...fields, workspaceId: this.#state.row?.id });
  }
}
