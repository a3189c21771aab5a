import { type ApiFailure, failureOf, isOutage, retryText, unreachable } from "../../../api/failure.ts";
import { backoff } from "../../../lib/backoff.ts";
import type { LogEntry } from "../../../model/types.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { Deliveries } from "./deliveries.ts";
import { ackText, CLOSE, endReason, readFrame } from "./protocol.ts";

export type TailState = "off" | "connecting" | "catching-up" | "live" | "paused" | "ended";

export interface TailStatus {
  state: TailState;
  /** Why the tail is not live, as a sentence; `null` if that needs no reason. */
  reason: string | null;
  /** Entries that arrived while paused and were not delivered yet. */
  buffered: number;
}

/** The members of a WebSocket that a tail needs. */
export interface TailSocket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(text: string): void;
  close(): void;
}

/** The functions that a tail needs of its surroundings. */
export interface TailPorts {
  /** Gets a ticket for one connection. @throws ApiFailure */
  ticket(signal: AbortSignal): Promise<string>;
  /** @param since the `seq` to start after; `null` to start with the next commit */
  open(ticket: string, since: number | null): TailSocket;
  /** Calls `call` after `milliseconds`, unless the returned function is called first. */
  later(milliseconds: number, call: () => void): () => void;
  random(): number;
  isOnline(): boolean;
  entries(entries: LogEntry[]): void;
  changed(status: TailStatus): void;
}

/** Milliseconds within which a connection must open, ticket included. */
const OPENING_MS = 20_000;
/** Entries that a pause buffers. Beyond that the connection is closed, and the rest is fetched on resume. */
export const PAUSE_ENTRIES = 5000;
/** Consecutive connections with a valid ticket that did not open, after which the reason is not a lost packet. */
const UNOPENED_LIMIT = 3;
/** Most likely reason of such connections: a browser does not report why one was refused. */
const UNOPENED_REASON = "Live is unavailable. The workspace may have too many live views open.";
const OFFLINE_REASON = "You are offline. Reconnects automatically.";

/**
 * `waiting` for the next attempt or the network; `full`: paused with a full buffer; `asleep` while the page is hidden.
 */
type Phase = "off" | "waiting" | "opening" | "open" | "full" | "asleep" | "ended";

/**
 * One tail over any number of connections. `position` is the `seq` up to which all entries have arrived. Each
 * connection starts after the position and ignores entries up to it, so that none is missed or repeated.
 */
export class TailLink {
  readonly #ports: TailPorts;
  readonly #deliveries: Deliveries;
  readonly #acknowledgements: Acknowledgements;
  #position: number | null = null;
  #phase: Phase = "off";
  #isCaughtUp = false;
  #isPaused = false;
  #reason: string | null = null;
  #failures = 0;
  #unopened = 0;
  #mustWait = false;
  #socket: TailSocket | null = null;
  #abort: AbortController | null = null;
  #cancelTimer: (() => void) | null = null;
  #reported: TailStatus = { state: "off", reason: null, buffered: 0 };

  constructor(ports: TailPorts) {
    this.#ports = ports;
    this.#deliveries = new Deliveries(ports);
    this.#acknowledgements = new Acknowledgements(ports, () => this.#sendAck());
  }

  /** @param since the `seq` to start after; `null` to start with the next commit */
  start(since: number | null): void {
    this.#position = since;
    this.#isPaused = false;
    this.#deliveries.drop();
    this.#failures = 0;
    this.#unopened = 0;
    this.#connect();
  }

  /** Stops permanently. Delivers no more entries. */
  stop(): void {
    this.#disconnect();
    this.#deliveries.drop();
    this.#become("off", null);
  }

  /** Stops deliveries until `resume`. Entries that arrive are buffered or fetched later. */
  pause(): void {
    if (this.#isPaused || this.#phase === "off" || this.#phase === "ended") return;
    this.#isPaused = true;
    this.#deliveries.hold();
    this.#report();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#deliveries.release();
    if (this.#phase === "full") this.#connect();
    else this.#report();
  }

  /** Connects immediately, also after an end. */
  reconnect(): void {
    if (this.#phase === "off") return;
    this.#failures = 0;
    this.#unopened = 0;
    this.#connect();
  }

  /** Connects now that the service is reachable again, unless the service asked to wait. */
  retryNow(): void {
    if (this.#phase === "waiting" && !this.#mustWait) this.#connect();
  }

  /** Closes the connection while the page is hidden. */
  sleep(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.#disconnect();
    this.#become("asleep", "The page was in the background.");
  }

  /**
   * Reconnects after a sleep of the page or machine or a network failure, because the connection may be lost without an
   * event.
   */
  wake(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.reconnect();
  }

  /** Closes the connection because the network is unavailable. */
  offline(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.#disconnect();
    this.#become("waiting", OFFLINE_REASON);
  }

  #connect(): void {
    this.#disconnect();
    if (!this.#ports.isOnline()) {
      this.#become("waiting", OFFLINE_REASON);
      return;
    }
    this.#isCaughtUp = false;
    this.#become("opening", this.#reason);
    const abort = new AbortController();
    this.#abort = abort;
    this.#cancelTimer = this.#ports.later(OPENING_MS, () => this.#lost("The service did not respond in time."));
    this.#ports.ticket(abort.signal).then(
      (ticket) => {
        if (!abort.signal.aborted) this.#open(ticket);
      },
      (error: unknown) => {
        if (!abort.signal.aborted) this.#refused(failureOf(error));
      },
    );
  }

  #open(ticket: string): void {
    const socket = this.#ports.open(ticket, this.#position);
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#cancelTimer?.();
      this.#cancelTimer = null;
      this.#unopened = 0;
      this.#become("open", null);
    };
    socket.onmessage = ({ data }) => this.#read(data);
    socket.onclose = ({ code, reason }) => this.#closed(code, reason, wasOpen);
  }

  #read(data: unknown): void {
    const frame = typeof data === "string" ? readFrame(data) : null;
    if (frame === null || frame.type === "error") return;
    this.#failures = 0;
    if (frame.type === "logs") this.#take(frame.entries);
    else {
      this.#position = Math.max(this.#position ?? 0, frame.seq);
      this.#isCaughtUp = true;
      this.#acknowledgements.add(1);
    }
    if (this.#socket !== null) this.#acknowledgements.schedule();
    this.#report();
  }

  #take(entries: readonly LogEntry[]): void {
    const position = this.#position ?? 0;
    const added = entries.filter(({ seq }) => seq > position);
    this.#position = added.at(-1)?.seq ?? this.#position;
    this.#acknowledgements.add(entries.length);
    this.#deliveries.add(added);
    if (!this.#isPaused || this.#deliveries.size < PAUSE_ENTRIES) return;
    this.#disconnect();
    this.#become("full", "Buffer full. Resume to load the rest.");
  }

  #sendAck(): void {
    if (this.#position !== null) this.#socket?.send(ackText(this.#position));
  }

  #closed(code: number, reason: string, wasOpen: boolean): void {
    if (code === CLOSE.ended) this.#end(endReason(reason));
    else if (code === CLOSE.badMessage) this.#end("The service rejected a message of this page. Reload the page.");
    else if (code === CLOSE.behind && this.#failures === 0) {
      // Only once without a frame in between: a client that receives nothing must back off.
      this.#failures++;
      this.#connect();
    } else {
      if (!wasOpen) this.#unopened++;
      this.#lost(this.#unopened < UNOPENED_LIMIT ? "The connection was lost." : UNOPENED_REASON);
    }
  }

  #refused(failure: ApiFailure): void {
    const { status, message, retryAfter } = failure;
    if (status === 429) {
      this.#lost("Too many requests.", (retryAfter ?? 1) * 1000);
      this.#mustWait = true;
    } else if (status === 0) this.#lost(unreachable().message);
    else if (isOutage(failure)) this.#lost(message);
    else this.#end(message);
  }

  #lost(reason: string, wait = backoff(this.#failures, this.#ports.random())): void {
    this.#disconnect();
    this.#failures++;
    this.#mustWait = false;
    this.#become("waiting", retryText(reason));
    this.#cancelTimer = this.#ports.later(wait, () => this.#connect());
  }

  #end(reason: string): void {
    this.#disconnect();
    // Received entries are delivered, even if the tail was paused.
    this.#isPaused = false;
    this.#deliveries.release();
    this.#become("ended", reason);
  }

  #disconnect(): void {
    this.#abort?.abort();
    this.#abort = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#acknowledgements.reset();
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #become(phase: Phase, reason: string | null): void {
    this.#phase = phase;
    this.#reason = reason;
    this.#report();
  }

  #report(): void {
    const status = { state: this.#state(), reason: this.#reason, buffered: this.#isPaused ? this.#deliveries.size : 0 };
    const { state, reason, buffered } = this.#reported;
    if (status.state === state && status.reason === reason && status.buffered === buffered) return;
    this.#reported = status;
    this.#ports.changed(status);
  }

  #state(): TailState {
    if (this.#phase === "off" || this.#phase === "ended") return this.#phase;
    if (this.#isPaused) return "paused";
    if (this.#phase !== "open") return "connecting";
    return this.#isCaughtUp ? "live" : "catching-up";
  }
}
