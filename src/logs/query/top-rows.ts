import { compareRows, type Order, type RowKey, type Tier } from "./feed.ts";

/** A row kept: its key and its line. */
export interface Row extends RowKey {
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Where it came from. */
  tier: Tier;
  /** The line's bytes, one character each: half of what a text with one wide character takes. */
  line: string;
}

/** Bytes of a row beside its line. */
const ROW_BYTES = 128;

/** What a row holds. */
export function rowBytes({ line }: Row): number {
  return line.length + ROW_BYTES;
}

/**
 * Keeps the first rows of an order out of any number offered, in any sequence: a heap with the last of them on top.
 * Holds at most `capacity` rows, and fewer when their lines are long: then `truncated` says that rows are missing behind
 * the last one kept, while those before it are still all there.
 */
export class TopRows {
  readonly #order: Order;
  readonly #mayHold: (bytes: number) => boolean;
  readonly #heap: Row[] = [];
  #capacity: number;
  #bytes = 0;
  #truncated = false;

  /** @param mayHold whether so many bytes of lines may be held; a single row is kept nevertheless */
  constructor(order: Order, capacity: number, mayHold: (bytes: number) => boolean) {
    this.#order = order;
    this.#capacity = capacity;
    this.#mayHold = mayHold;
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
    this.#bytes += rowBytes(row);
    if (this.#heap.length > this.#capacity) this.#pop();
    while (this.#heap.length > 1 && !this.#mayHold(this.#bytes)) {
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
