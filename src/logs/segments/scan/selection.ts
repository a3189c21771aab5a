import { detachBuffer } from "../../../platform/isolate-memory.ts";

/** Bound of integers whose differences fit 32 bits. */
export const SMALL = 2 ** 30 - 1;

/** The rows of a row group that are left, in rising order. */
export class Selection {
  readonly size: number;
  /** Rows up to `count`; unused while all rows are left. */
  #rows: Int32Array | null = null;
  count: number;

  /** @param size rows of the row group */
  constructor(size: number) {
    this.size = size;
    this.count = size;
  }

  get isAll(): boolean {
    return this.#rows === null;
  }

  /** Rows that are left; a view that the next change overwrites. `null`: all. */
  get rows(): Int32Array | null {
    return this.#rows === null ? null : this.#rows.subarray(0, this.count);
  }

  /** Keeps the rows that have a mark. @param marks by row */
  keep(marks: Uint8Array): void {
    const from = this.#rows;
    const to = from ?? new Int32Array(this.size);
    let kept = 0;
    if (from === null) {
      for (let row = 0; row < this.size; row++) {
        to[kept] = row;
        kept += marks[row] ?? 0;
      }
    } else {
      for (let at = 0; at < this.count; at++) {
        const row = from[at] ?? 0;
        to[kept] = row;
        kept += marks[row] ?? 0;
      }
    }
    this.#set(to, kept);
  }

  /** Keeps the rows whose number is from `low` to `high`. @param isSmall whether all numbers are integers below 2^30 */
  keepBetween(values: Float64Array, low: number, high: number, isSmall: boolean): void {
    const from = this.#rows;
    const to = from ?? new Int32Array(this.size);
    let kept = 0;
    if (from !== null) {
      for (let at = 0; at < this.count; at++) {
        const row = from[at] ?? 0;
        const value = values[row] ?? 0;
        to[kept] = row;
        if (value >= low && value <= high) kept++;
      }
    } else if (isSmall) {
      // Without a branch, which a processor would often predict wrongly.
      const [least, most] = [Math.ceil(Math.max(low, -SMALL)), Math.floor(Math.min(high, SMALL))];
      for (let row = 0; row < this.size; row++) {
        const value = (values[row] ?? 0) | 0;
        to[kept] = row;
        kept += 1 + (((value - least) | (most - value)) >> 31);
      }
    } else {
      for (let row = 0; row < this.size; row++) {
        const value = values[row] ?? 0;
        to[kept] = row;
        if (value >= low && value <= high) kept++;
      }
    }
    this.#set(to, kept);
  }

  /** Keeps the rows whose index holds. @param held see `markHeld` */
  keepHeld(indices: Int32Array, held: Uint8Array): void {
    const from = this.#rows;
    const to = from ?? new Int32Array(this.size);
    const none = held.length - 1;
    const { size, count } = this;
    let kept = 0;
    if (from === null) {
      for (let row = 0; row < size; row++) {
        const index = indices[row] ?? -1;
        to[kept] = row;
        kept += held[index < 0 ? none : index] ?? 0;
      }
    } else {
      for (let at = 0; at < count; at++) {
        const row = from[at] ?? 0;
        const index = indices[row] ?? -1;
        to[kept] = row;
        kept += held[index < 0 ? none : index] ?? 0;
      }
    }
    this.#set(to, kept);
  }

  /** Returns a selection of the same rows that changes separately. */
  copy(): Selection {
    const copy = new Selection(this.size);
    if (this.#rows !== null) copy.#set(this.#rows.slice(0, this.count), this.count);
    return copy;
  }

  clear(): void {
    this.#set(this.#rows ?? new Int32Array(0), 0);
  }

  /** Removes rows and returns those that were left. @param marks 1 for a row to remove */
  take(marks: Uint8Array): Int32Array {
    const taken = new Int32Array(this.count);
    let count = 0;
    const kept = new Uint8Array(this.size);
    for (let at = 0; at < this.count; at++) {
      const row = this.#rows === null ? at : (this.#rows[at] ?? 0);
      if (marks[row] === 1) taken[count++] = row;
      else kept[row] = 1;
    }
    if (count > 0) this.keep(kept);
    return taken.slice(0, count);
  }

  /** Returns the rows in memory of their own, together with others. @param others in rising order, none of them left */
  toRows(others: Int32Array): Int32Array {
    if (others.length === 0) {
      if (this.#rows !== null) return this.#rows.slice(0, this.count);
      const every = new Int32Array(this.size);
      for (let row = 0; row < every.length; row++) every[row] = row;
      return every;
    }
    const all = new Int32Array(this.count + others.length);
    for (let at = 0; at < this.count; at++) all[at] = this.#rows === null ? at : (this.#rows[at] ?? 0);
    all.set(others, this.count);
    return all.sort();
  }

  /** Frees its memory. */
  release(): void {
    if (this.#rows !== null) detachBuffer(this.#rows);
  }

  #set(rows: Int32Array, count: number): void {
    this.#rows = rows;
    this.count = count;
  }
}
