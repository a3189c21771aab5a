import { type ApiFailure, failureOf, retryText, unreachable } from "../../../api/failure.ts";
import { backoff } from "../../../lib/backoff.ts";
import type { LogEntry } from "../../../model/types.ts";
import { Deliveries } from "./deliveries.ts";
import { ackText, CLOSE, endWords, readFrame } from "./protocol.ts";

export type TailState = "off" | "connecting" | "catching-up" | "live" | "paused" | "ended";

export interface TailStatus {
  state: TailState;
  /** Why it is not live, in words; null where that needs none. */
  reason: string | null;
  /** Entries that came while paused and have not been handed over. */
  buffered: number;
}

/** A WebSocket as far as a tail needs one. */
export interface TailSocket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(text: string): void;
  close(): void;
}

/** What a tail needs of the world. */
export interface TailPorts {
  /** A ticket for one connection. @throws ApiFailure */
  ticket(signal: AbortSignal): Promise<string>;
  /** @param since the seq to begin behind; null: with what comes from now on */
  open(ticket: string, since: number | null): TailSocket;
  /** Calls back after so many milliseconds, unless the function it returns was called before. */
  later(milliseconds: number, call: () => void): () => void;
  random(): number;
  isOnline(): boolean;
  entries(entries: LogEntry[]): void;
  changed(status: TailStatus): void;
}

/** Milliseconds from the first step of a connection until it has to be open. */
const OPENING_MS = 20_000;
/** Entries after which the service is told at once that they are here; the contract asks for 1,000 at the latest. */
const ACK_ENTRIES = 500;
/** Milliseconds after which it is told of fewer. */
const ACK_MS = 1000;
/** Entries that a pause keeps; past it the connection is given up, and what lies behind is fetched when it goes on. */
export const PAUSE_ENTRIES = 5000;
/** Connections in a row that did not open although the ticket was good: more than a lost packet. */
const CLOSED_DOORS = 3;
/** A browser does not say why a connection was refused. Where the ticket was given, it is most likely this. */
const CLOSED_WORDS = "The service opens no live view now. The workspace may have too many of them at a time.";
const OFFLINE_WORDS = "You are offline. It goes on by itself.";

/**
 * `waiting` for the next try or the network; `full`: paused with all that is kept; `asleep` while nobody looks.
 */
type Phase = "off" | "waiting" | "opening" | "open" | "full" | "asleep" | "ended";

/**
 * One tail over any number of connections. `place` is the seq up to which everything is here: every connection begins
 * right behind it and what is not above it is passed over, so nothing is missed and nothing comes twice.
 */
export class TailLink {
  readonly #ports: TailPorts;
  readonly #deliveries: Deliveries;
  #place: number | null = null;
  #phase: Phase = "off";
  #isCaughtUp = false;
  #isPaused = false;
  #reason: string | null = null;
  #failures = 0;
  #closedDoors = 0;
  #isToldToWait = false;
  #unacked = 0;
  #socket: TailSocket | null = null;
  #abort: AbortController | null = null;
  #cancelTimer: (() => void) | null = null;
  #cancelAck: (() => void) | null = null;
  #told: TailStatus = { state: "off", reason: null, buffered: 0 };

  constructor(ports: TailPorts) {
    this.#ports = ports;
    this.#deliveries = new Deliveries(ports);
  }

  /** @param since the seq to begin behind; null: with what comes from now on */
  start(since: number | null): void {
    this.#place = since;
    this.#isPaused = false;
    this.#deliveries.drop();
    this.#failures = 0;
    this.#closedDoors = 0;
    this.#connect();
  }

  /** For good: nothing is handed over any more. */
  stop(): void {
    this.#disconnect();
    this.#deliveries.drop();
    this.#become("off", null);
  }

  /** Hands over nothing until it goes on. What comes meanwhile is kept, or fetched later. */
  pause(): void {
    if (this.#isPaused || this.#phase === "off" || this.#phase === "ended") return;
    this.#isPaused = true;
    this.#deliveries.hold();
    this.#tell();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#deliveries.release();
    if (this.#phase === "full") this.#connect();
    else this.#tell();
  }

  /** Tries again at once, also after an end. */
  reconnect(): void {
    if (this.#phase === "off") return;
    this.#failures = 0;
    this.#closedDoors = 0;
    this.#connect();
  }

  /** The service answers again: no use in waiting longer, unless it was the service that asked to. */
  hurry(): void {
    if (this.#phase === "waiting" && !this.#isToldToWait) this.#connect();
  }

  /** Gives the connection up for a while: nobody looks. */
  sleep(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.#disconnect();
    this.#become("asleep", "The page was in the background.");
  }

  /** After a sleep of the page or the machine, or a time without network: the connection may be dead without a word. */
  wake(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.reconnect();
  }

  /** The network is gone. */
  offline(): void {
    if (this.#phase === "off" || this.#phase === "ended" || this.#phase === "full") return;
    this.#disconnect();
    this.#become("waiting", OFFLINE_WORDS);
  }

  #connect(): void {
    this.#disconnect();
    if (!this.#ports.isOnline()) {
      this.#become("waiting", OFFLINE_WORDS);
      return;
    }
    this.#isCaughtUp = false;
    this.#become("opening", this.#reason);
    const abort = new AbortController();
    this.#abort = abort;
    this.#cancelTimer = this.#ports.later(OPENING_MS, () => this.#lost("The service did not answer in time."));
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
    const socket = this.#ports.open(ticket, this.#place);
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#cancelTimer?.();
      this.#cancelTimer = null;
      this.#closedDoors = 0;
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
      this.#place = Math.max(this.#place ?? 0, frame.seq);
      this.#isCaughtUp = true;
      this.#unacked++;
    }
    this.#acknowledge();
    this.#tell();
  }

  #take(entries: readonly LogEntry[]): void {
    const place = this.#place ?? 0;
    const added = entries.filter(({ seq }) => seq > place);
    this.#place = added.at(-1)?.seq ?? this.#place;
    this.#unacked += entries.length;
    this.#deliveries.add(added);
    if (!this.#isPaused || this.#deliveries.size < PAUSE_ENTRIES) return;
    this.#disconnect();
    this.#become("full", "More has come than is kept here. The rest is fetched when you go on.");
  }

  #acknowledge(): void {
    if (this.#socket === null) return;
    if (this.#unacked >= ACK_ENTRIES) this.#sendAck();
    else this.#cancelAck ??= this.#ports.later(ACK_MS, () => this.#sendAck());
  }

  #sendAck(): void {
    this.#cancelAck?.();
    this.#cancelAck = null;
    if (this.#socket === null || this.#unacked === 0 || this.#place === null) return;
    this.#unacked = 0;
    this.#socket.send(ackText(this.#place));
  }

  #closed(code: number, reason: string, wasOpen: boolean): void {
    if (code === CLOSE.ended) this.#end(endWords(reason));
    else if (code === CLOSE.badMessage) this.#end("The service did not understand this page. Reload it.");
    else if (code === CLOSE.behind && this.#failures === 0) {
      // Once for each time that anything came: a client that gets nothing through must not come back without a pause.
      this.#failures++;
      this.#connect();
    } else {
      if (!wasOpen) this.#closedDoors++;
      this.#lost(this.#closedDoors < CLOSED_DOORS ? "The connection was lost." : CLOSED_WORDS);
    }
  }

  #refused(failure: ApiFailure): void {
    const { status, message, retryAfter } = failure;
    if (status === 429) {
      this.#lost("Too many requests.", (retryAfter ?? 1) * 1000);
      this.#isToldToWait = true;
    } else if (status === 0) this.#lost(unreachable().message);
    else if (status >= 500) this.#lost(message);
    else this.#end(message);
  }

  #lost(reason: string, wait = backoff(this.#failures, this.#ports.random())): void {
    this.#disconnect();
    this.#failures++;
    this.#isToldToWait = false;
    this.#become("waiting", retryText(reason));
    this.#cancelTimer = this.#ports.later(wait, () => this.#connect());
  }

  #end(reason: string): void {
    this.#disconnect();
    // What is here may be read, paused or not.
    this.#isPaused = false;
    this.#deliveries.release();
    this.#become("ended", reason);
  }

  #disconnect(): void {
    this.#abort?.abort();
    this.#abort = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#cancelAck?.();
    this.#cancelAck = null;
    this.#unacked = 0;
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
    this.#tell();
  }

  #tell(): void {
    const status = { state: this.#state(), reason: this.#reason, buffered: this.#isPaused ? this.#deliveries.size : 0 };
    const { state, reason, buffered } = this.#told;
    if (status.state === state && status.reason === reason && status.buffered === buffered) return;
    this.#told = status;
    this.#ports.changed(status);
  }

  #state(): TailState {
    if (this.#phase === "off" || this.#phase === "ended") return this.#phase;
    if (this.#isPaused) return "paused";
    if (this.#phase !== "open") return "connecting";
    return this.#isCaughtUp ? "live" : "catching-up";
  }
}
