/**
 * An exact log of admitted units over a sliding window, in memory.
 *
 * Time is in whole milliseconds, so one count per millisecond loses nothing against one record per request. A unit
 * admitted at `t` counts in `[t, t + windowMs)`. Slots are kept in order; `#head` marks the oldest live one, and the
 * arrays are compacted when more than half of them is dead, so memory is bounded by min(limit, windowMs) slots.
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

  /** When the oldest counted unit leaves the window; `now` if nothing is counted. */
  oldestLeavesAt(now: number): number {
    this.#expire(now);
    const oldest = this.#stamps[this.#head];
    return oldest === undefined ? now : oldest + this.windowMs;
  }

  /** The earliest time at which `cost` more units fit below `limit`; `now` if they fit at once. `cost <= limit`. */
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
