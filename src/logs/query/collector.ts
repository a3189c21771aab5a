import type { Tier } from "./feed.ts";
import { compareRows, type Order, type RowKey } from "./row-order.ts";

/** A row kept: its key and its line, still unparsed. */
export interface Row extends RowKey {
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Where it came from. */
  tier: Tier;
  line: string;
}

/**
 * Keeps the first rows of an order out of any number offered, in any sequence: a heap with the last of them on top.
 * Holds at most `capacity` rows, and fewer when their lines are long: then `truncated` says that rows are missing behind
 * the last one kept, while those before it are still all there.
 */
export class Collector {
  readonly #order: Order;
  readonly #maxCharacters: number;
  readonly #heap: Row[] = [];
  #capacity: number;
  #characters = 0;
  #truncated = false;

  /** @param maxCharacters of all lines together; a single longer row is kept nevertheless */
  constructor(order: Order, capacity: number, maxCharacters: number) {
    this.#order = order;
    this.#capacity = capacity;
    this.#maxCharacters = maxCharacters;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  /** The last row kept, once no more fit: only what comes before it can still get in. Null before that. */
  get last(): Row | null {
    return this.#heap.length < this.#capacity ? null : (this.#heap[0] ?? null);
  }

  accepts(key: RowKey): boolean {
    const { last } = this;
    return last === null || compareRows(this.#order, key, last) < 0;
  }

  /** Adds a row that is accepted. */
  add(row: Row): void {
    this.#push(row);
    this.#characters += row.line.length;
    if (this.#heap.length > this.#capacity) this.#pop();
    while (this.#characters > this.#maxCharacters && this.#heap.length > 1) {
      this.#pop();
      this.#capacity = this.#heap.length;
      this.#truncated = true;
    }
  }

  /** The rows kept, in order. */
  rows(): Row[] {
    return [...this.#heap].sort((a, b) => compareRows(this.#order, a, b));
  }

  #isAfter(a: Row, b: Row): boolean {
    return compareRows(this.#order, a, b) > 0;
  }

  #push(row: Row): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(row);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (!parent || !this.#isAfter(row, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = row;
  }

  #pop(): void {
    const heap = this.#heap;
    this.#characters -= heap[0]?.line.length ?? 0;
    const row = heap.pop();
    if (!row || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = heap[below];
      const right = heap[below + 1];
      if (child && right && this.#isAfter(right, child)) {
        below++;
        child = right;
      }
      if (!child || !this.#isAfter(child, row)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = row;
  }
}
