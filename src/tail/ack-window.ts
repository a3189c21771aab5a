import { TAIL_LIMITS } from "./limits.ts";

/** What may be done with a frame: sent; sent once something has been acknowledged; never, as the client is too far behind. */
export type WindowVerdict = "fits" | "wait" | "close";

/** Entries of small frames that stand under one mark. */
const MARK_ENTRIES = 500;
/** Numbers of a mark: the `seq` before its first entry, its entries, its bytes. */
const MARK_LENGTH = 3;

/**
 * What a tail's client has been sent and has not acknowledged. As a list of numbers it goes into the socket's attachment,
 * so it stays small: small frames share a mark, and an acknowledgement of part of a mark counts for all of it. So a
 * client can get up to 500 entries more than the bound, never fewer.
 */
export class AckWindow {
  readonly #marks: number[];
  #entries = 0;
  #bytes = 0;

  /** @param marks as `marks` gave them */
  constructor(marks: readonly number[] = []) {
    this.#marks = [...marks];
    for (let at = 0; at < marks.length; at += MARK_LENGTH) {
      this.#entries += marks[at + 1] ?? 0;
      this.#bytes += marks[at + 2] ?? 0;
    }
  }

  get marks(): readonly number[] {
    return this.#marks;
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
    if (total > TAIL_LIMITS.unackedBytesMost) return "close";
    return total > TAIL_LIMITS.unackedBytes && this.#entries >= TAIL_LIMITS.ackEveryEntries ? "wait" : "fits";
  }

  /** @param after the `seq` that the tail had come to before this frame */
  sent(after: number, entries: number, bytes: number): void {
    const last = this.#marks.length - MARK_LENGTH;
    const counted = this.#marks[last + 1] ?? 0;
    if (last >= 0 && counted + entries <= MARK_ENTRIES) {
      this.#marks[last + 1] = counted + entries;
      this.#marks[last + 2] = (this.#marks[last + 2] ?? 0) + bytes;
    } else this.#marks.push(after, entries, bytes);
    this.#entries += entries;
    this.#bytes += bytes;
  }

  /** The client has everything up to this `seq`. */
  acked(seq: number): void {
    let done = 0;
    while (done < this.#marks.length && (this.#marks[done] ?? 0) < seq) {
      this.#entries -= this.#marks[done + 1] ?? 0;
      this.#bytes -= this.#marks[done + 2] ?? 0;
      done += MARK_LENGTH;
    }
    this.#marks.splice(0, done);
  }
}
