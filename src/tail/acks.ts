import { TAIL_LIMITS } from "./limits.ts";

/** What a client may say: it has everything up to this `seq`. */
export interface Ack {
  type: "ack";
  seq: number;
}

/** Reads a client's message; null for anything that is none. */
export function readMessage(message: string | ArrayBuffer): Ack | null {
  if (typeof message !== "string" || message.length > TAIL_LIMITS.messageCharacters) return null;
  const value = parsed(message);
  if (typeof value !== "object" || value === null || !("type" in value) || !("seq" in value)) return null;
  const { type, seq } = value;
  if (type !== "ack" || typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0) return null;
  return { type, seq };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * What may be done with a frame: sent; sent once something has been acknowledged; the same, and the client need not
 * acknowledge anything before it has got more.
 */
export type WindowVerdict = "fits" | "wait" | "late";

/** Entries of small frames that stand under one mark. */
const MARK_ENTRIES = 500;
/** Numbers of a mark: the `seq` of its last entry, its entries, its bytes. */
const MARK_LENGTH = 3;

/**
 * What a tail's client has been sent and has not acknowledged. As a list of numbers it goes into the socket's attachment,
 * so it stays small: small frames share a mark. Of a mark that is acknowledged in part, entries and bytes count by the
 * part of its `seq`s. With a filter that is an estimate; what lies before the mark and behind it is exact.
 */
export class AckWindow {
  readonly #marks: number[];
  /** Everything up to this `seq` has been acknowledged, or was never sent. */
  #floor: number;
  #entries = 0;
  #bytes = 0;

  /** @param state as `state` gave it */
  constructor([floor = 0, ...marks]: readonly number[] = []) {
    this.#floor = floor;
    this.#marks = marks;
    for (let at = 0; at < marks.length; at += MARK_LENGTH) {
      this.#entries += marks[at + 1] ?? 0;
      this.#bytes += marks[at + 2] ?? 0;
    }
  }

  /** What outlives the object's memory. */
  get state(): readonly number[] {
    return this.#marks.length === 0 ? [] : [this.#floor, ...this.#marks];
  }

  /** Bytes sent and not acknowledged. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Entries that may still be sent. */
  get room(): number {
    return Math.max(0, TAIL_LIMITS.unackedEntries - this.#entries);
  }

  verdict(entries: number, bytes: number): WindowVerdict {
    if (this.#entries === 0) return "fits";
    if (this.#entries + entries > TAIL_LIMITS.unackedEntries) return "wait";
    const total = this.#bytes + bytes;
    if (total > TAIL_LIMITS.unackedBytes && this.#entries >= TAIL_LIMITS.ackEveryEntries) return "wait";
    return total > TAIL_LIMITS.unackedBytesMost ? "late" : "fits";
  }

  /**
   * A frame has been sent.
   * @param after the `seq` that the tail had come to before
   * @param through the `seq` of its last entry
   */
  sent(after: number, through: number, entries: number, bytes: number): void {
    const last = this.#marks.length - MARK_LENGTH;
    if (last < 0) this.#floor = after;
    const counted = this.#marks[last + 1] ?? 0;
    if (last >= 0 && counted + entries <= MARK_ENTRIES) {
      this.#marks[last] = through;
      this.#marks[last + 1] = counted + entries;
      this.#marks[last + 2] = (this.#marks[last + 2] ?? 0) + bytes;
    } else this.#marks.push(through, entries, bytes);
    this.#entries += entries;
    this.#bytes += bytes;
  }

  /** The client has everything up to this `seq`. Frees what was sent up to there, and nothing else, whatever it says. */
  acked(seq: number): void {
    let done = 0;
    for (; done < this.#marks.length; done += MARK_LENGTH) {
      const last = this.#marks[done] ?? 0;
      if (last > seq) break;
      this.#entries -= this.#marks[done + 1] ?? 0;
      this.#bytes -= this.#marks[done + 2] ?? 0;
      this.#floor = last;
    }
    this.#marks.splice(0, done);
    if (this.#marks.length > 0 && seq > this.#floor) this.#ackedInPart(seq);
  }

  #ackedInPart(seq: number): void {
    const [last = 0, entries = 0, bytes = 0] = this.#marks;
    const [left, span] = [last - seq, last - this.#floor];
    // Without a filter there are as many entries as `seq`s, and nothing is rounded.
    const [entriesLeft, bytesLeft] = [Math.ceil((entries * left) / span), Math.ceil((bytes * left) / span)];
    this.#entries -= entries - entriesLeft;
    this.#bytes -= bytes - bytesLeft;
    this.#marks.splice(0, MARK_LENGTH, last, entriesLeft, bytesLeft);
    this.#floor = seq;
  }
}
