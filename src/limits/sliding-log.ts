import { ByteReader, ByteWriter } from "../platform/varint.ts";

/** Exact counts in a sliding window: the clock, the form on disk and the form in memory. */

/**
 * A clock that never runs backwards, whatever the machine's clock does.
 *
 * It stamps the counters. When the wall clock steps back, the virtual clock pauses for that moment and then advances
 * with the wall clock, so that windows keep sliding instead of freezing until the wall clock catches up.
 */
export class VirtualClock {
  #offset = 0;
  #lastWall = Number.NEGATIVE_INFINITY;

  /** Returns virtual milliseconds for wall-clock epoch milliseconds `wall`; never less than any earlier result. */
  now(wall: number): number {
    if (wall < this.#lastWall) this.#offset += this.#lastWall - wall;
    this.#lastWall = wall;
    return wall + this.#offset;
  }

  /** Starts the clock at `stamp` or later. Call after a restart with the newest stamp on disk. */
  resumeAt(stamp: number, wall: number): void {
    const behind = stamp - this.now(wall);
    if (behind > 0) this.#offset += behind;
  }

  /** Converts a virtual time to the current wall clock. */
  toWall(virtual: number): number {
    return virtual - this.#offset;
  }
}

/**
 * One counter's admitted units within one second, packed for one row: pairs of (millisecond within the second, units),
 * in order of time. At most 1,000 pairs: about 5 KB at the largest limit.
 */
export class PackedSecond {
  readonly #writer = new ByteWriter();
  /** Offset of the newest pair, so that another unit in the same millisecond rewrites only this pair. */
  #lastAt = 0;
  #lastMs = -1;
  #lastCount = 0;

  static from(blob: ArrayBuffer): PackedSecond {
    const packed = new PackedSecond();
    forEachPacked(blob, (ms, count) => packed.add(ms, count));
    return packed;
  }

  /** Counts `cost` units at millisecond `ms` (0..999), which must not be less than in any earlier call. */
  add(ms: number, cost: number): void {
    if (ms === this.#lastMs) {
      this.#writer.length = this.#lastAt;
      this.#lastCount += cost;
    } else {
      this.#lastAt = this.#writer.length;
      this.#lastMs = ms;
      this.#lastCount = cost;
    }
    this.#writer.varint(ms);
    this.#writer.varint(this.#lastCount);
  }

  toBlob(): Uint8Array {
    return this.#writer.toBytes();
  }
}

export function forEachPacked(blob: ArrayBuffer, visit: (ms: number, count: number) => void): void {
  const reader = new ByteReader(new Uint8Array(blob));
  while (!reader.done) {
    const ms = reader.varint();
    visit(ms, reader.varint());
  }
}

/**
 * An exact log of admitted units over a sliding window, in memory.
 *
 * Time is in whole milliseconds, so one count per millisecond is exact. A unit admitted at `t` counts in `[t, t +
 * windowMs)`. Slots are in order; `#head` marks the oldest slot in the window. The arrays are compacted when more than
 * half of the slots have expired, so that memory is bounded by min(limit, windowMs) slots.
 */
export class SlidingLog {
  readonly windowMs: number;
  #stamps: number[] = [];
  #counts: number[] = [];
  #head = 0;
  #total = 0;

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  /** Units that count at `now`. `now` must not be less than in any earlier call. */
  used(now: number): number {
    this.#expire(now);
    return this.#total;
  }

  /** Counts `cost` units at `now`. */
  add(now: number, cost: number): void {
    if (cost === 0) return;
    const last = this.#stamps.length - 1;
    if (last >= this.#head && this.#stamps[last] === now) this.#counts[last] = (this.#counts[last] ?? 0) + cost;
    else {
      this.#stamps.push(now);
      this.#counts.push(cost);
    }
    this.#total += cost;
  }

  /** Returns when the oldest counted unit leaves the window; `now` if nothing is counted. */
  oldestLeavesAt(now: number): number {
    this.#expire(now);
    const oldest = this.#stamps[this.#head];
    return oldest === undefined ? now : oldest + this.windowMs;
  }

  /** Returns the earliest time at which `cost` more units fit below `limit`; `now` if they fit now. `cost <= limit`. */
  fitsAt(now: number, cost: number, limit: number): number {
    this.#expire(now);
    let excess = this.#total + cost - limit;
    if (excess <= 0) return now;
    for (let i = this.#head; i < this.#stamps.length; i++) {
      excess -= this.#counts[i] ?? 0;
      if (excess <= 0) return (this.#stamps[i] ?? now) + this.windowMs;
    }
    return now + this.windowMs;
  }

  #expire(now: number): void {
    const bound = now - this.windowMs;
    while (this.#head < this.#stamps.length && (this.#stamps[this.#head] ?? 0) <= bound) {
      this.#total -= this.#counts[this.#head] ?? 0;
      this.#head++;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#stamps.length) {
      this.#stamps = this.#stamps.slice(this.#head);
      this.#counts = this.#counts.slice(this.#head);
      this.#head = 0;
    }
  }
}
