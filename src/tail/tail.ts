import { newRun } from "../platform/origin.ts";
import { AckWindow, type WindowVerdict } from "./ack-window.ts";
import { authorityText, readAuthority, type TailAuthority } from "./authority.ts";
import { caughtUpText, type Framed } from "./frames.ts";

/** The part of a hibernatable WebSocket that a tail uses. */
export interface TailSocket {
  send(text: string): void;
  close(code: number, reason: string): void;
  serializeAttachment(value: unknown): void;
}

/**
 * `live`: gets what is committed as it is committed. `behind`: gets older entries first. `waiting`: is behind, until its
 * client acknowledges something. `unsure`: gets nothing until it is known that its session still lives.
 */
export type TailState = "live" | "behind" | "waiting" | "unsure";

/** `full`: the tail may have it, and all tails of the object together may not. */
export type OfferVerdict = WindowVerdict | "full";

/** Bytes that a tail may be sent. */
export interface Room {
  /** Of what all tails share: passed by one frame at most. */
  shared: number;
  /** Whatever the others hold: never passed. */
  own: number;
}

export interface NewTail {
  project: number;
  projectId: string;
  authority: TailAuthority;
  /** As `tailFilterText` wrote it. */
  filter: string;
  /** When its authority has to be looked at again, epoch milliseconds; null where time alone does not end it. */
  expiresAt: number | null;
  /** The `seq` it has come to: it gets what lies behind. */
  sent: number;
  /** Of the request that opened it. */
  requestId: string;
}

/** What outlives the object's memory, in the socket's attachment. */
type Attachment = [
  project: number,
  projectId: string,
  authority: string,
  filter: string,
  expiresAt: number | null,
  sent: number,
  /** As `AckWindow.state` gave it. */
  window: readonly number[],
  /** Closed by the service, and not gone yet: what its client has not read is still held. */
  isClosed: boolean,
  /** Neither is there where a version wrote it that did not have it. */
  movedAt?: number,
  requestId?: string,
];

/** Entries that a tail may pass over, as they fail its filter, before that is written down. */
const UNWRITTEN_ENTRIES = 1000;

/**
 * One open tail. It has a place, `sent`: everything up to there has been sent or fails the filter. It moves forward only,
 * and whatever is offered begins right behind it, so nothing is missed and nothing comes twice.
 *
 * The place is written to the attachment with every frame sent: an object that loses its memory goes on from there.
 */
export class Tail {
  readonly socket: TailSocket;
  readonly project: number;
  readonly projectId: string;
  readonly authority: TailAuthority;
  readonly filter: string;
  /** Of the request that opened it; of its own where an older version opened it. */
  readonly requestId: string;
  state: TailState = "behind";
  isOpen = true;
  /** Whether it stands in the queue of those that are behind. */
  isQueued = false;
  /** When its client last acknowledged something, began to have something to acknowledge, or was closed; epoch milliseconds. */
  #movedAt = 0;
  #expiresAt: number | null;
  #sent: number;
  #written: number;
  readonly #window: AckWindow;

  static open(socket: TailSocket, tail: NewTail): Tail {
    const made = new Tail(socket, tail, []);
    made.#write();
    return made;
  }

  /** @param attachment as an earlier life of the object left it */
  static restore(socket: TailSocket, attachment: unknown): Tail {
    // SAFETY: only `#write` writes attachments.
    const [project, projectId, authority, filter, expiresAt, sent, window, isClosed, movedAt = 0, opener] =
      attachment as Attachment;
    const requestId = opener ?? newRun().requestId;
    const tail = { project, projectId, authority: readAuthority(authority), filter, expiresAt, sent, requestId };
    const restored = new Tail(socket, tail, window);
    restored.isOpen = !isClosed;
    restored.#movedAt = movedAt;
    return restored;
  }

  private constructor(socket: TailSocket, tail: NewTail, window: readonly number[]) {
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
    this.#write();
  }

  get movedAt(): number {
    return this.#movedAt;
  }

  /** Entries that may be sent before the client acknowledges something. */
  get room(): number {
    return this.#window.room;
  }

  /** Bytes sent and not acknowledged. */
  get unackedBytes(): number {
    return this.#window.bytes;
  }

  /**
   * Sends frames that begin right behind its place, as far as the window allows.
   * @returns `fits` where that is all of them
   */
  offer({ frames, through }: Framed, { shared, own }: Room, now: number): OfferVerdict {
    let given = 0;
    if (this.unackedBytes === 0) this.#movedAt = now;
    for (const { text, entries, bytes, through: last } of frames) {
      const verdict = this.#window.verdict(entries, bytes);
      const isFull = given > shared && given + bytes > own;
      if (verdict !== "fits" || isFull) {
        this.#write();
        return verdict === "fits" ? "full" : verdict;
      }
      this.socket.send(text);
      this.#window.sent(this.#sent, last, entries, bytes);
      this.#sent = last;
      given += bytes;
    }
    this.#sent = Math.max(this.#sent, through);
    if (frames.length > 0 || this.#sent - this.#written >= UNWRITTEN_ENTRIES) this.#write();
    return "fits";
  }

  /** Tells the client how far everything has been looked at. It may acknowledge that also to a later life of the object. */
  caughtUp(): void {
    if (this.#written !== this.#sent) this.#write();
    this.socket.send(caughtUpText(this.#sent));
  }

  /** @returns false for something that the client cannot have: it was never sent */
  ack(seq: number, now: number): boolean {
    if (seq > this.#sent) return false;
    const before = this.unackedBytes;
    this.#window.acked(seq);
    if (this.unackedBytes < before) this.#movedAt = now;
    this.#write();
    return true;
  }

  /** The client may have much to read before it hears of it. */
  close(code: number, reason: string, now: number): void {
    this.isOpen = false;
    this.#movedAt = now;
    this.#write();
    this.socket.close(code, reason);
  }

  #write(): void {
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
      this.#movedAt,
      this.requestId,
    ];
    this.socket.serializeAttachment(attachment);
  }
}
