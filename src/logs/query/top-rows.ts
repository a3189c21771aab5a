import { compareRows, type Order, type RowKey, type Tier } from "./feed.ts";

/** A row with its key and its line. */
export interface Row extends RowKey {
  /** Epoch milliseconds. */
  receivedAt: number;
  /** The tier that it came from. */
  tier: Tier;
  /** The line's bytes, one character each: half the memory of a text with one wide character. */
  line: string;
}

/** Bytes of a row in addition to its line. */
const ROW_BYTES = 128;

/** Returns the bytes that a row holds. */
export function rowBytes({ line }: Row): number {
  return line.length + ROW_BYTES;
}

/**
 * Keeps the first rows of an order, offered in any sequence, in a heap with the last of them on top. Holds at most
 * `capacity` rows, and fewer if their lines are long. `truncated` then states that rows are missing after the last one
 * kept; those before it are complete.
 */
export class TopRows {
  readonly #order: Order;
  readonly #mayHold: (bytes: number) => boolean;
  readonly #heap: Row[] = [];
  #capacity: number;
  #bytes = 0;
  #truncated = false;

  /** @param mayHold whether the given bytes of lines may be held; a single row is always kept */
  constructor(order: Order, capacity: number, mayHold: (bytes: number) => boolean) {
    this.#order = order;
    this.#capacity = capacity;
    this.#mayHold = mayHold;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  /** The last row if no more fit, otherwise `null`. Only rows before it can still be added. */
  get last(): Row | null {
    return this.#heap.length < this.#capacity ? null : (this.#heap[0] ?? null);
  }

  accepts(key: RowKey): boolean {
    const { last } = this;
    return last === null || compareRows(this.#order, key, last) < 0;
  }

  /** Adds a row that was accepted. */
  add(row: Row): void {
    this.#push(row);
    this.#bytes += rowBytes(row);
    if (this.#heap.length > this.#capacity) this.#pop();
    while (this.#heap.length > 1 && !this.#mayHold(this.#bytes)) {
      this.#pop();
      this.#capacity = this.#heap.length;
      this.#truncated = true;
    }
  }

  /** Returns the rows in order. */
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
    const [first] = heap;
    if (first) this.#bytes -= rowBytes(first);
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
