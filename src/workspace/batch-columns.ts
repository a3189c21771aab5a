import type { ScanPosition } from "../logs/query/recent-scan.ts";
import type { Order } from "../logs/query/row-order.ts";
import { SlotOrder } from "./slot-order.ts";

/** What is known of a batch without reading its body. */
export interface BatchSummary {
  commit: number;
  /** The project's number; from 1. */
  project: number;
  firstSeq: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  levelMask: number;
  categoryMask: number;
  /** Bytes of the body as stored, all parts. */
  bodyBytes: number;
}

/** Which batches, and in what order; see `RecentScan`. */
export interface BatchSelection {
  asOf: number;
  /** Numbers of the projects searched. */
  projects: { has(project: number): boolean };
  from: number | null;
  to: number | null;
  levelMask: number;
  categoryMask: number;
  order: Order;
  /** The first batch that counts; null for all. */
  position: ScanPosition | null;
}

const FIRST_CAPACITY = 1024;
/** Stands in the project column of a batch that is gone. */
const REMOVED = 0;

/** One typed array per column, in commit order: 43 bytes a batch, and 4 per order asked for. */
export class BatchColumns {
  #length = 0;
  #removed = 0;
  #commit = new Float64Array(FIRST_CAPACITY);
  #project = new Uint32Array(FIRST_CAPACITY);
  #firstSeq = new Float64Array(FIRST_CAPACITY);
  #min = new Float64Array(FIRST_CAPACITY);
  #max = new Float64Array(FIRST_CAPACITY);
  #levels = new Uint8Array(FIRST_CAPACITY);
  #categories = new Uint16Array(FIRST_CAPACITY);
  #bytes = new Uint32Array(FIRST_CAPACITY);
  readonly #byMax = new SlotOrder();
  readonly #byMin = new SlotOrder();

  get lastCommit(): number {
    return this.#length === 0 ? 0 : (this.#commit[this.#length - 1] ?? 0);
  }

  /** @param batch with a commit above all others */
  append(batch: BatchSummary): void {
    if (this.#length === this.#commit.length) this.#grow();
    const slot = this.#length++;
    this.#commit[slot] = batch.commit;
    this.#project[slot] = batch.project;
    this.#firstSeq[slot] = batch.firstSeq;
    this.#min[slot] = batch.minTimestamp;
    this.#max[slot] = batch.maxTimestamp;
    this.#levels[slot] = batch.levelMask;
    this.#categories[slot] = batch.categoryMask;
    this.#bytes[slot] = batch.bodyBytes;
  }

  /** A commit that is not there is passed over. */
  remove(commit: number): void {
    const slot = this.#slotOf(commit);
    if (slot === null || this.#project[slot] === REMOVED) return;
    this.#project[slot] = REMOVED;
    this.#removed++;
  }

  /** Itself, or a copy without what was removed once that is most of it. */
  compacted(): BatchColumns {
    if (this.#removed < FIRST_CAPACITY || this.#removed * 2 < this.#length) return this;
    const columns = new BatchColumns();
    for (let slot = 0; slot < this.#length; slot++) {
      if (this.#project[slot] !== REMOVED) columns.append(this.#read(slot));
    }
    return columns;
  }

  *select(selection: BatchSelection): Generator<BatchSummary> {
    const isDescending = selection.order === "desc";
    const keys = isDescending ? this.#max : this.#min;
    const slots = (isDescending ? this.#byMax : this.#byMin).upTo(this.#length, keys);
    const { from, to } = selection;
    const step = isDescending ? -1 : 1;
    for (let at = this.#firstAt(slots, keys, selection); at >= 0 && at < slots.length; at += step) {
      const slot = slots[at] ?? 0;
      const key = keys[slot] ?? 0;
      if (isDescending ? from !== null && key < from : to !== null && key >= to) return;
      if (this.#isSelected(slot, selection)) yield this.#read(slot);
    }
  }

  /** A project's batches in order, from the one on that holds the entry behind `seq`. */
  *behind(project: number, seq: number): Generator<BatchSummary> {
    let first = this.#length;
    for (let slot = this.#length - 1; slot >= 0; slot--) {
      if (this.#project[slot] !== project) continue;
      first = slot;
      if ((this.#firstSeq[slot] ?? 0) <= seq + 1) break;
    }
    for (let slot = first; slot < this.#length; slot++) if (this.#project[slot] === project) yield this.#read(slot);
  }

  #isSelected(slot: number, { asOf, projects, from, to, levelMask, categoryMask }: BatchSelection): boolean {
    const project = this.#project[slot] ?? REMOVED;
    if (project === REMOVED || !projects.has(project)) return false;
    if ((this.#commit[slot] ?? 0) > asOf) return false;
    if (from !== null && (this.#max[slot] ?? 0) < from) return false;
    if (to !== null && (this.#min[slot] ?? 0) >= to) return false;
    return ((this.#levels[slot] ?? 0) & levelMask) !== 0 && ((this.#categories[slot] ?? 0) & categoryMask) !== 0;
  }

  /** Where a scan begins: the first slot at or behind its position, or its first of all. */
  #firstAt(slots: Uint32Array, keys: Float64Array, { order, position }: BatchSelection): number {
    if (position === null) return order === "desc" ? slots.length - 1 : 0;
    const { timestamp, commit } = position;
    const isBefore = (slot: number, orEqual: boolean) => {
      const key = keys[slot] ?? 0;
      const own = this.#commit[slot] ?? 0;
      return key < timestamp || (key === timestamp && (orEqual ? own <= commit : own < commit));
    };
    const descending = order === "desc";
    const count = countWhile(slots.length, (at) => isBefore(slots[at] ?? 0, descending));
    return descending ? count - 1 : count;
  }

  #slotOf(commit: number): number | null {
    const slot = countWhile(this.#length, (at) => (this.#commit[at] ?? 0) < commit);
    return slot < this.#length && this.#commit[slot] === commit ? slot : null;
  }

  #read(slot: number): BatchSummary {
    return {
      commit: this.#commit[slot] ?? 0,
      project: this.#project[slot] ?? 0,
      firstSeq: this.#firstSeq[slot] ?? 0,
      minTimestamp: this.#min[slot] ?? 0,
      maxTimestamp: this.#max[slot] ?? 0,
      levelMask: this.#levels[slot] ?? 0,
      categoryMask: this.#categories[slot] ?? 0,
      bodyBytes: this.#bytes[slot] ?? 0,
    };
  }

  #grow(): void {
    const capacity = this.#commit.length * 2;
    this.#commit = grown(this.#commit, new Float64Array(capacity));
    this.#project = grown(this.#project, new Uint32Array(capacity));
    this.#firstSeq = grown(this.#firstSeq, new Float64Array(capacity));
    this.#min = grown(this.#min, new Float64Array(capacity));
    this.#max = grown(this.#max, new Float64Array(capacity));
    this.#levels = grown(this.#levels, new Uint8Array(capacity));
    this.#categories = grown(this.#categories, new Uint16Array(capacity));
    this.#bytes = grown(this.#bytes, new Uint32Array(capacity));
  }
}

function grown<T extends { set(values: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** How many of the first numbers pass a test that all the later ones fail, by bisection. */
function countWhile(length: number, passes: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
