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
 * `live`: gets what is committed as it is committed. `behind`: gets older entries first. `waiting`: is behind, until its
 * client acknowledges something. `unsure`: gets nothing until it is known that its session still lives.
 */
export type TailState = "live" | "behind" | "waiting" | "unsure";

/** `full`: its window allows more, and the memory that tails share does not. */
export type OfferVerdict = WindowVerdict | "full";

/** Bytes that a tail may be sent; a frame has to fit into one of the two. */
export interface Room {
  /** Of what all tails share. */
  shared: number;
  /** Whatever the others hold. */
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
  /** Whose share of the memory it takes, where that is not its authority: a client address of the sandbox. */
  address?: string | undefined;
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
  /** None of these is there where a version wrote it that did not have it. */
  lastProgressAt?: number,
  requestId?: string,
  address?: string,
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
  /** Whose share of the memory it takes: one text for each key, user or address. */
  readonly reader: string;
  state: TailState = "behind";
  isOpen = true;
  /** Whether it stands in the queue of those that are behind. */
  isQueued = false;
  /** Bytes of the frame that did not fit into the memory that tails share; 0 where none was refused last. */
  missingBytes = 0;
  /** When its client last acknowledged something, began to have something to acknowledge, or was closed; epoch milliseconds. */
  #lastProgressAt = 0;
  #expiresAt: number | null;
  #sent: number;
  #written: number;
  readonly #window: AckWindow;
  readonly #address: string | undefined;
  /** The `seq` that the client knows everything has come up to, and when it was told, epoch milliseconds. */
  #reportedSeq: number;
  #toldAt: number;
  #isAsked = false;

  static open(socket: TailSocket, tail: NewTail, now: number): Tail {
    const made = new Tail(socket, tail, [], now);
    made.#saveAttachment();
    return made;
  }

  /** @param attachment as an earlier life of the object left it */
  static restore(socket: TailSocket, attachment: unknown): Tail {
    // SAFETY: only `#write` writes attachments.
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

  /** Bytes sent and not acknowledged. */
  get unackedBytes(): number {
    return this.#window.bytes;
  }

  /** Whether it has come further than its client was told. */
  get isAhead(): boolean {
    return this.#sent > this.#reportedSeq;
  }

  /**
   * Sends frames that begin right behind its place, as far as window and room allow. Those that it has got already are
   * passed over: what did not fit may be offered again. Where nothing passes the filter for long, the client is told so.
   * @returns `fits` where that is all of them
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

  /** Tells the client how far everything has been looked at. It may acknowledge that also to a later life of the object. */
  caughtUp(now: number): void {
    if (this.#written !== this.#sent) this.#saveAttachment();
    this.socket.send(caughtUpText(this.#sent));
    this.#sendProgress(now);
  }

  /** The same, once between two acknowledgements: a client acknowledges that at once, however few entries it got. */
  askForAck(now: number): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.caughtUp(now);
  }

  /** The same where the client was told nothing for long, and there is something to tell. */
  report(now: number): void {
    if (this.isAhead && now - this.#toldAt >= TAIL_PROGRESS_MS) this.caughtUp(now);
  }

  /** @returns false for something that the client cannot have: it was never sent */
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

  /** The client may have much to read before it hears of it. */
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

/** A user is one reader, whatever the session. */
export function readerText({ authority, address }: Pick<NewTail, "authority" | "address">): string {
  if (address !== undefined) return `a:${address}`;
  return authority.kind === "key" ? `k:${authority.hash}` : `u:${authority.userId}`;
}
