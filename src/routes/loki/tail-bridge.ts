import type { StoredEntry } from "../../logs/entry.ts";
import type { LogResult } from "../../logs/loki/run-logs.ts";
import type { TailShare, TailShares } from "../../tail/shares.ts";
import { droppedEntries, tailStreams } from "./answers.ts";

/** Close code of a server that cannot continue. */
const TRY_AGAIN = 1011;
const NORMAL = 1000;
const NO_MEMORY = "No memory is left for what tails have not read. Connect again.";

/** A frame of a tail. */
type Frame =
  | { type: "logs"; entries: StoredEntry[] }
  | { type: "caught-up"; seq: number }
  | { type: "error"; code: string };

/** Passes the entries of a tail on to a client of Loki, in the shape of its frames. */
export class TailBridge {
  readonly #client: WebSocket;
  readonly #live: WebSocket;
  readonly #resultOf: (entry: StoredEntry) => LogResult | null;
  /** Frames that wait for the history; `null` once it is sent. */
  #waiting: Frame[] | null = [];
  readonly #sent = new Set<number>();
  #unread: UnreadBytes | null = null;
  /** Bytes that were sent, and those of `#waiting`. */
  #sentBytes = 0;
  #waitingBytes = 0;
  #hasEnded = false;

  constructor(client: WebSocket, live: WebSocket, resultOf: (entry: StoredEntry) => LogResult | null) {
    this.#client = client;
    this.#live = live;
    this.#resultOf = resultOf;
  }

  start(unread: UnreadBytes): void {
    this.#unread = unread;
    this.#client.accept();
    this.#live.accept();
    this.#live.addEventListener("message", ({ data }) => {
      if (this.#hasEnded) return;
      const text = String(data);
      // SAFETY: the workspace object wrote it.
      const frame = JSON.parse(text) as Frame;
      if (this.#waiting === null) this.#take(frame);
      else if (this.#hold(0, Buffer.byteLength(text))) this.#waiting.push(frame);
    });
    this.#live.addEventListener("close", () => this.#end(TRY_AGAIN, "The tail has ended. Connect again."));
    this.#live.addEventListener("error", () => this.#end(TRY_AGAIN, "The tail has failed. Connect again."));
    for (const type of ["close", "error"] as const) this.#client.addEventListener(type, () => this.leave());
  }

  /**
   * Sends the entries before the first new one. The oldest of those that do not fit into the memory of tails are reported as dropped.
   * @param results the newest first
   */
  sendHistory(results: readonly LogResult[]): void {
    for (const { seq } of results) this.#sent.add(seq);
    let kept = results.toReversed();
    let text = tailStreams(kept);
    while (kept.length > 1 && Buffer.byteLength(text) > this.#room) {
      kept = kept.slice(kept.length >> 1);
      text = tailStreams(kept);
    }
    if (kept.length > 0) this.#sendText(text);
    if (kept.length < results.length) this.#sendText(droppedEntries(results.slice(kept.length)));
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.#hold(0, -this.#waitingBytes);
    for (const frame of waiting) this.#take(frame);
    this.#sent.clear();
  }

  /** Releases the memory of the tail, whose connection has ended or was never made. */
  leave(): void {
    this.#hasEnded = true;
    this.#unread?.leave();
    close(this.#live, NORMAL);
  }

  #take(frame: Frame): void {
    if (frame.type === "error" || this.#hasEnded) return;
    if (frame.type === "caught-up") {
      this.#acknowledge(frame.seq);
      return;
    }
    const fresh = frame.entries.filter(({ seq }) => !this.#sent.has(seq));
    try {
      this.#send(fresh.flatMap((entry) => this.#resultOf(entry) ?? []));
    } catch {
      this.#end(TRY_AGAIN, "The query takes too long for its entries.");
      return;
    }
    const last = frame.entries.at(-1);
    if (last !== undefined) this.#acknowledge(last.seq);
  }

  #send(results: readonly LogResult[]): void {
    if (results.length > 0) this.#sendText(tailStreams(results));
  }

  #sendText(text: string): void {
    if (!this.#hasEnded && this.#hold(Buffer.byteLength(text), 0)) this.#client.send(text);
  }

  get #room(): number {
    return this.#unread?.room ?? 0;
  }

  /** Counts bytes, negative ones as released, or ends the tail if there is no memory for them. @returns whether they are counted */
  #hold(sent: number, waiting: number): boolean {
    const more = sent + waiting;
    if (more > 0 && more > this.#room) {
      this.#end(TRY_AGAIN, NO_MEMORY);
      return false;
    }
    this.#sentBytes += sent;
    this.#waitingBytes += waiting;
    this.#unread?.hold(this.#sentBytes + this.#waitingBytes);
    return true;
  }

  #acknowledge(seq: number): void {
    if (!this.#hasEnded) this.#live.send(JSON.stringify({ type: "ack", seq }));
  }

  #end(code: number, reason: string): void {
    this.#hasEnded = true;
    this.#waiting = null;
    // What was sent counts until the client has closed its side: the runtime keeps it for a client that does not read.
    this.#unread?.hold(this.#sentBytes);
    close(this.#client, code, reason);
    close(this.#live, NORMAL);
  }
}

function close(socket: WebSocket, code: number, reason?: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // The other side has closed it.
  }
}

/** The bytes of one tail that its client may not have read. */
export interface UnreadBytes {
  /** Bytes that may be added now. */
  readonly room: number;
  /** Sets the bytes. */
  hold(bytes: number): void;
  /** Releases them: the connection has ended. */
  leave(): void;
}

/**
 * Factors of the free memory that one tail, and all tails of a project, may hold; see `TailShares`. Alone in an isolate, a tail
 * may hold 6 MiB, and the tails of a project 8 MiB of 12 MiB, which they share with the tails of objects.
 */
const WEIGHT = 1;
const PROJECT_WEIGHT = 2;

/**
 * Bounds what the tails of Loki's clients buffer in an isolate. These clients acknowledge nothing, and the runtime does not state
 * how much of a socket is unread, so all bytes that a tail has sent count until its connection has ended.
 */
export class LokiTailMemory {
  readonly #shares: TailShares;
  readonly #projects = new Map<TailShare, string>();

  constructor(shares: TailShares) {
    this.#shares = shares;
  }

  /** @param owner is in memory as long as the tail is: a request of a lost client ends without notice */
  open(projectId: string, owner: object): UnreadBytes {
    // Tails whose memory was released, because the runtime had ended their requests.
    for (const share of this.#projects.keys()) if (share.tails === 0) this.#projects.delete(share);
    const share = this.#shares.join(crypto.randomUUID(), owner);
    share.tails = 1;
    this.#projects.set(share, projectId);
    const roomOf = () => this.#roomOf(share, projectId);
    return {
      get room() {
        return roomOf();
      },
      hold: (bytes) => share.hold(bytes),
      leave: () => {
        share.leave();
        this.#projects.delete(share);
      },
    };
  }

  #roomOf(share: TailShare, projectId: string): number {
    let ofProject = 0;
    for (const [other, project] of this.#projects) if (project === projectId) ofProject += other.bytes;
    const shared = Math.min(share.room(share.bytes, WEIGHT), share.room(ofProject, PROJECT_WEIGHT));
    return Math.max(shared, share.floor() - share.bytes);
  }
}
