import { TAIL_LIMITS } from "./limits.ts";

/** Acknowledgements of tails: the message of the client, and the window of what it has not acknowledged. */

/** The only message that a client may send: it has every entry up to `seq`. */
export interface Ack {
  type: "ack";
  seq: number;
}

/** Parses a client's message; `null` if the message is not an acknowledgement. */
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
 * Whether the ack window allows a frame. `fits`: send it. `wait`: send it after the next acknowledgement. `ask`: like
 * `wait`, but the client has too few entries to be obliged to acknowledge any, so it must be asked to.
 */
export type WindowVerdict = "fits" | "wait" | "ask";

/** Entries at most that small frames add to one mark. */
const MARK_ENTRIES = 500;
/** Numbers per mark: `seq` of its last entry, entries, bytes. */
const MARK_LENGTH = 3;

/**
 * The entries and bytes that a tail has sent and its client has not acknowledged.
 *
 * The window is stored as a list of numbers in the socket's attachment. Small frames share a mark, so that the list
 * stays short. If a mark is acknowledged in part, its entries and bytes are counted in proportion to its `seq`s. With a
 * filter this is an estimate inside the mark; marks before and after it are exact.
 */
export class AckWindow {
  readonly #marks: number[];
  /** The `seq` up to which every entry is acknowledged or was never sent. */
  #floor: number;
  #entries = 0;
  #bytes = 0;

  /** @param state as returned by `state` */
  constructor([floor = 0, ...marks]: readonly number[] = []) {
    this.#floor = floor;
    this.#marks = marks;
    for (let at = 0; at < marks.length; at += MARK_LENGTH) {
      this.#entries += marks[at + 1] ?? 0;
      this.#bytes += marks[at + 2] ?? 0;
    }
  }

  /** The window as numbers, for the socket's attachment. */
  get state(): readonly number[] {
    return this.#marks.length === 0 ? [] : [this.#floor, ...this.#marks];
  }

  /** Bytes sent and not acknowledged. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Entries that may be sent before the next acknowledgement. */
  get room(): number {
    return Math.max(0, TAIL_LIMITS.unackedEntries - this.#entries);
  }

  verdict(entries: number, bytes: number): WindowVerdict {
    if (this.#entries === 0) return "fits";
    if (this.#entries + entries > TAIL_LIMITS.unackedEntries) return "wait";
    const total = this.#bytes + bytes;
    if (total > TAIL_LIMITS.unackedBytes && this.#entries >= TAIL_LIMITS.ackEveryEntries) return "wait";
    return total > TAIL_LIMITS.maxUnackedBytes ? "ask" : "fits";
  }

  /**
   * Records a sent frame.
   * @param after the tail's sent position before the frame
   * @param through the `seq` of the frame's last entry
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

  /** Records an acknowledgement. Releases only what was sent up to `seq`, whatever the client claims. */
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
    // Without a filter a mark has one entry per `seq`, so nothing is rounded.
    const [entriesLeft, bytesLeft] = [Math.ceil((entries * left) / span), Math.ceil((bytes * left) / span)];
    this.#entries -= entries - entriesLeft;
    this.#bytes -= bytes - bytesLeft;
    this.#marks.splice(0, MARK_LENGTH, last, entriesLeft, bytesLeft);
    this.#floor = seq;
  }
}
