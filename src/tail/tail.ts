import { newAlarmOrigin } from "../platform/origin.ts";
import { AckWindow, type WindowVerdict } from "./acks.ts";
import { authorityText, readAuthority, type TailAuthority } from "./authority.ts";
import { caughtUpText, type FrameList } from "./frames.ts";
import { TAIL_PROGRESS_MS } from "./limits.ts";

/** The part of a hibernatable WebSocket that a tail uses. */
export interface TailSocket {
  send(text: string): void;
  close(code: number, reason: string): void;
  serializeAttachment(value: unknown): void;
}

/**
 * `live`: gets each commit as it happens. `behind`: reads its backlog. `waiting`: is behind until an acknowledgement or
 * memory arrives. `unsure`: gets nothing until its authority is confirmed.
 */
export type TailState = "live" | "behind" | "waiting" | "unsure";

/** Verdict on an offer. `full`: the ack window allows more, but shared memory does not. */
export type OfferVerdict = WindowVerdict | "full";

/** Bytes that a tail may be sent: of the memory that all tails share, or its own. A frame must fit into one of them. */
export interface Room {
  shared: number;
  own: number;
}

export interface NewTail {
  project: number;
  projectId: string;
  authority: TailAuthority;
  /** As written by `tailFilterText`. */
  filter: string;
  /** When to check the authority again, epoch milliseconds; `null` if it does not expire. */
  expiresAt: number | null;
  /** Initial sent position: the tail gets entries with a higher `seq`. */
  sent: number;
  requestId: string;
  /** Client IP as the tail's reader, in the sandbox. Absent if the authority is the reader. */
  address?: string | undefined;
}

/** The tail's state in the socket's attachment, which survives hibernation. */
type Attachment = [
  project: number,
  projectId: string,
  authority: string,
  filter: string,
  expiresAt: number | null,
  sent: number,
  /** As returned by `AckWindow.state`. */
  window: readonly number[],
  /** Whether the service closed the tail. The runtime still holds what its client has not read. */
  isClosed: boolean,
  /** The members below are absent in attachments of versions that did not have them. */
  lastProgressAt?: number,
  requestId?: string,
  address?: string,
];

/** Entries that may fail the filter before the sent position is saved. */
const UNWRITTEN_ENTRIES = 1000;

/**
 * One open tail.
 *
 * Its sent position, `sent`, is the `seq` up to which every entry was sent or fails the filter. It only rises, and
 * every offer starts right after it, so that no entry is missed or sent twice. Each sent frame saves the position in
 * the attachment, so that the object continues there after hibernation.
 */
export class Tail {
  readonly socket: TailSocket;
  readonly project: number;
  readonly projectId: string;
  readonly authority: TailAuthority;
  readonly filter: string;
  /** Id of the request that opened the tail; a new one if an older version opened it. */
  readonly requestId: string;
  /** Reader as text: one for each key, user or client IP. */
  readonly reader: string;
  state: TailState = "behind";
  isOpen = true;
  isQueued = false;
  /** Bytes of the frame that did not fit into shared memory; 0 if the last offer fitted. */
  missingBytes = 0;
  /**
   * When the client last acknowledged something or began to owe an acknowledgement, or when the tail was closed; epoch
   * milliseconds.
   */
  #lastProgressAt = 0;
  #expiresAt: number | null;
  #sent: number;
  #written: number;
  readonly #window: AckWindow;
  readonly #address: string | undefined;
  /** The `seq` of the last progress report or frame, and when it was sent, epoch milliseconds. */
  #reportedSeq: number;
  #toldAt: number;
  #isAsked = false;

  static open(socket: TailSocket, tail: NewTail, now: number): Tail {
    const made = new Tail(socket, tail, [], now);
    made.#saveAttachment();
    return made;
  }

  /**
   * Restores a tail after hibernation.
   * @param attachment as saved by an earlier instance of the object
   */
  static restore(socket: TailSocket, attachment: unknown): Tail {
    // SAFETY: only `#saveAttachment` writes attachments.
    const [
      project,
      projectId,
      authority,
      filter,
      expiresAt,
      sent,
      window,
      isClosed,
      lastProgressAt = 0,
      opener,
      address,
    ] = attachment as Attachment;
    const requestId = opener ?? newAlarmOrigin().requestId;
    const tail = {
      project,
      projectId,
      authority: readAuthority(authority),
      filter,
      expiresAt,
      sent,
      requestId,
      address,
    };
    const restored = new Tail(socket, tail, window, 0);
    restored.isOpen = !isClosed;
    restored.#lastProgressAt = lastProgressAt;
    return restored;
  }

  private constructor(socket: TailSocket, tail: NewTail, window: readonly number[], toldAt: number) {
    this.socket = socket;
    this.project = tail.project;
    this.projectId = tail.projectId;
    this.authority = tail.authority;
    this.filter = tail.filter;
    this.requestId = tail.requestId;
    this.#expiresAt = tail.expiresAt;
    this.#sent = tail.sent;
    this.#written = tail.sent;
    this.#window = new AckWindow(window);
    this.#address = tail.address;
    this.reader = readerText(tail);
    this.#reportedSeq = tail.sent;
    this.#toldAt = toldAt;
  }

  get sent(): number {
    return this.#sent;
  }

  get expiresAt(): number | null {
    return this.#expiresAt;
  }

  set expiresAt(at: number | null) {
    if (at === this.#expiresAt) return;
    this.#expiresAt = at;
    this.#saveAttachment();
  }

  get lastProgressAt(): number {
    return this.#lastProgressAt;
  }

  /** Entries that may be sent before the client acknowledges something. */
  get room(): number {
    return this.#window.room;
  }

  get unackedBytes(): number {
    return this.#window.bytes;
  }

  get isAhead(): boolean {
    return this.#sent > this.#reportedSeq;
  }

  /**
   * Sends frames that start after the sent position, as far as window and room allow. Skips frames that the tail has
   * got already, so that the rest of a list can be offered again. Sends a due progress report if no entry passes the
   * filter.
   * @returns `fits` if all frames were sent
   */
  offer({ frames, through }: FrameList, { shared, own }: Room, now: number): OfferVerdict {
    let given = 0;
    this.missingBytes = 0;
    if (this.unackedBytes === 0) this.#lastProgressAt = now;
    for (const { text, entries, bytes, through: last } of frames) {
      if (last <= this.#sent) continue;
      const verdict = this.#window.verdict(entries, bytes);
      const isFull = given + bytes > Math.max(shared, own);
      if (verdict !== "fits" || isFull) {
        if (given > 0) this.#saveAttachment();
        if (verdict === "fits") this.missingBytes = bytes;
        return verdict === "fits" ? "full" : verdict;
      }
      this.socket.send(text);
      this.#window.sent(this.#sent, last, entries, bytes);
      this.#sent = last;
      this.#sendProgress(now);
      given += bytes;
    }
    this.#sent = Math.max(this.#sent, through);
    if (given > 0 || this.#sent - this.#written >= UNWRITTEN_ENTRIES) this.#saveAttachment();
    this.report(now);
    return "fits";
  }

  /**
   * Sends a progress report. The sent position is saved first, because the client may acknowledge it to a later
   * instance of the object.
   */
  caughtUp(now: number): void {
    if (this.#written !== this.#sent) this.#saveAttachment();
    this.socket.send(caughtUpText(this.#sent));
    this.#sendProgress(now);
  }

  /**
   * Sends a progress report at most once between two acknowledgements. A client acknowledges it immediately, however
   * few entries it has got.
   */
  askForAck(now: number): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.caughtUp(now);
  }

  /** Sends a progress report if the tail has moved and the last report is too old. */
  report(now: number): void {
    if (this.isAhead && now - this.#toldAt >= TAIL_PROGRESS_MS) this.caughtUp(now);
  }

  /**
   * Records an acknowledgement.
   * @returns `false` if the client acknowledges a `seq` that was never sent
   */
  ack(seq: number, now: number): boolean {
    if (seq > this.#sent) return false;
    const before = this.unackedBytes;
    this.#window.acked(seq);
    if (this.unackedBytes < before) {
      this.#lastProgressAt = now;
      this.#isAsked = false;
    }
    this.#saveAttachment();
    return true;
  }

  /** Closes the socket. The client may have much to read before it receives the close frame. */
  close(code: number, reason: string, now: number): void {
    this.isOpen = false;
    this.#lastProgressAt = now;
    this.#saveAttachment();
    this.socket.close(code, reason);
  }

  #sendProgress(now: number): void {
    this.#reportedSeq = this.#sent;
    this.#toldAt = now;
  }

  #saveAttachment(): void {
    this.#written = this.#sent;
    const attachment: Attachment = [
      this.project,
      this.projectId,
      authorityText(this.authority),
      this.filter,
      this.#expiresAt,
      this.#sent,
      this.#window.state,
      !this.isOpen,
      this.#lastProgressAt,
      this.requestId,
    ];
    if (this.#address !== undefined) attachment.push(this.#address);
    this.socket.serializeAttachment(attachment);
  }
}

/** Returns the reader of a tail as text. A user is one reader across all sessions. */
export function readerText({ authority, address }: Pick<NewTail, "authority" | "address">): string {
  if (address !== undefined) return `a:${address}`;
  return authority.kind === "user" ? `u:${authority.userId}` : authorityText(authority);
}
