import type { Order } from "../../logs/query/feed.ts";
import type { ScanPosition } from "../../logs/query/recent-feed.ts";
import { ByteReader, ByteWriter } from "../../platform/varint.ts";

/** Metadata of a batch, known without reading its body. */
export interface BatchMeta {
  commit: number;
  /** The project's number; from 1. */
  project: number;
  firstSeq: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  levelMask: number;
  categoryMask: number;
  /** Stored bytes of the body, all parts. */
  bodyBytes: number;
}

/** Numbers of projects: a set, or a map with such keys. */
export interface ProjectNumbers {
  has(project: number): boolean;
  keys(): Iterable<number>;
}

/** A selection of batches and their order; see `RecentScan`. */
export interface BatchSelection {
  asOf: number;
  projects: ProjectNumbers;
  from: number | null;
  to: number | null;
  levelMask: number;
  categoryMask: number;
  order: Order;
  /** The first batch to return; `null` for all. */
  position: ScanPosition | null;
}

const FIRST_CAPACITY = 64;
/** Bytes of one batch in memory. */
const BYTES_PER_BATCH = 43;

/** Metadata of batches in commit order, a typed array per column: 43 bytes per batch. */
export class BatchColumns {
  #length = 0;
  #commit: Float64Array;
  #project: Uint32Array;
  #firstSeq: Float64Array;
  #min: Float64Array;
  #max: Float64Array;
  #levels: Uint8Array;
  #categories: Uint16Array;
  #bytes: Uint32Array;

  /** @param capacity initial number of batches; grows */
  constructor(capacity = FIRST_CAPACITY) {
    this.#commit = new Float64Array(capacity);
    this.#project = new Uint32Array(capacity);
    this.#firstSeq = new Float64Array(capacity);
    this.#min = new Float64Array(capacity);
    this.#max = new Float64Array(capacity);
    this.#levels = new Uint8Array(capacity);
    this.#categories = new Uint16Array(capacity);
    this.#bytes = new Uint32Array(capacity);
  }

  /** @throws RangeError if `pack` did not write the bytes */
  static unpack(packed: Uint8Array): BatchColumns {
    const reader = new ByteReader(packed);
    const count = reader.varint();
    const columns = new BatchColumns(count);
    let commit = 0;
    let minTimestamp = 0;
    for (let slot = 0; slot < count; slot++) {
      commit += reader.varint();
      minTimestamp += signed(reader.varint());
      columns.append({
        commit,
        minTimestamp,
        maxTimestamp: minTimestamp + reader.varint(),
        project: reader.varint(),
        firstSeq: reader.varint(),
        levelMask: reader.varint(),
        categoryMask: reader.varint(),
        bodyBytes: reader.varint(),
      });
    }
    return columns;
  }

  get length(): number {
    return this.#length;
  }

  /** 0 without batches. */
  get lastCommit(): number {
    return this.#commit[this.#length - 1] ?? 0;
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#commit.length * BYTES_PER_BATCH;
  }

  /** @param batch with a higher commit number than all others */
  append(batch: BatchMeta): void {
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

  /** Returns new columns with the batches whose commit numbers pass. */
  filter(passes: (commit: number) => boolean): BatchColumns {
    const columns = new BatchColumns();
    for (let slot = 0; slot < this.#length; slot++) {
      if (passes(this.#commit[slot] ?? 0)) columns.append(this.#read(slot));
    }
    return columns;
  }

  /**
   * LEB128: the count, then each batch; commit numbers and minimum timestamps as differences. About 20 bytes per batch.
   */
  pack(): Uint8Array {
    const writer = new ByteWriter();
    writer.varint(this.#length);
    let commit = 0;
    let min = 0;
    for (const batch of this) {
      writer.varint(batch.commit - commit);
      writer.varint(unsigned(batch.minTimestamp - min));
      writer.varint(batch.maxTimestamp - batch.minTimestamp);
      writer.varint(batch.project);
      writer.varint(batch.firstSeq);
      writer.varint(batch.levelMask);
      writer.varint(batch.categoryMask);
      writer.varint(batch.bodyBytes);
      commit = batch.commit;
      min = batch.minTimestamp;
    }
    return writer.finish();
  }

  *[Symbol.iterator](): Generator<BatchMeta> {
    for (let slot = 0; slot < this.#length; slot++) yield this.#read(slot);
  }

  /** Adds the batches of a selection at or after its position, in any order. */
  addMatchesTo(nearest: FirstBatches, selection: BatchSelection): void {
    const { order, position } = selection;
    const keys = order === "desc" ? this.#max : this.#min;
    for (let slot = 0; slot < this.#length; slot++) {
      const commit = this.#commit[slot] ?? 0;
      const timestamp = keys[slot] ?? 0;
      if (position !== null && comparePositions(order, timestamp, commit, position) < 0) continue;
      if (this.#isSelected(slot, selection) && nearest.accepts(timestamp, commit)) nearest.add(this.#read(slot));
    }
  }

  /** The `seq` at which the project's first batch begins; `null` without one. */
  firstSeqOf(project: number): number | null {
    const slot = this.#project.subarray(0, this.#length).indexOf(project);
    return slot < 0 ? null : (this.#firstSeq[slot] ?? 0);
  }

  #isSelected(slot: number, { asOf, projects, from, to, levelMask, categoryMask }: BatchSelection): boolean {
    if ((this.#commit[slot] ?? 0) > asOf || !projects.has(this.#project[slot] ?? 0)) return false;
    if (from !== null && (this.#max[slot] ?? 0) < from) return false;
    if (to !== null && (this.#min[slot] ?? 0) >= to) return false;
    return ((this.#levels[slot] ?? 0) & levelMask) !== 0 && ((this.#categories[slot] ?? 0) & categoryMask) !== 0;
  }

  #read(slot: number): BatchMeta {
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
    const capacity = Math.max(FIRST_CAPACITY, this.#commit.length * 2);
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

/** Keeps the first batches of an order. */
export class FirstBatches {
  readonly #order: Order;
  readonly #maxBatches: number;
  #batches: BatchMeta[] = [];
  /** Set once `maxBatches` are kept: later ones are not needed. */
  #last: ScanPosition | null = null;

  /** @param maxBatches maximum number of batches to keep */
  constructor(order: Order, maxBatches: number) {
    this.#order = order;
    this.#maxBatches = maxBatches;
  }

  /** Position of the last kept batch; `null` while there is room. Later batches are not needed. */
  get last(): ScanPosition | null {
    if (this.#last === null && this.#batches.length >= this.#maxBatches) this.#cut();
    return this.#last;
  }

  accepts(timestamp: number, commit: number): boolean {
    return this.#last === null || comparePositions(this.#order, timestamp, commit, this.#last) < 0;
  }

  add(batch: BatchMeta): void {
    this.#batches.push(batch);
    // Sorted occasionally instead of kept in order, because most batches come from few chunks.
    if (this.#batches.length >= 2 * this.#maxBatches) this.#cut();
  }

  /** Returns the kept batches in order. */
  batches(): BatchMeta[] {
    this.#cut();
    return this.#batches;
  }

  #cut(): void {
    const positionIn = (batch: BatchMeta) => positionOf(this.#order, batch);
    this.#batches.sort((a, b) => comparePositions(this.#order, positionIn(a).timestamp, a.commit, positionIn(b)));
    this.#batches.length = Math.min(this.#batches.length, this.#maxBatches);
    const last = this.#batches[this.#maxBatches - 1];
    if (last) this.#last = positionIn(last);
  }
}

/** A batch's position in an order. */
export function positionOf(order: Order, { minTimestamp, maxTimestamp, commit }: BatchMeta): ScanPosition {
  return { timestamp: order === "desc" ? maxTimestamp : minTimestamp, commit };
}

/** Negative if the first position is before the other one. */
function comparePositions(order: Order, timestamp: number, commit: number, other: ScanPosition): number {
  const difference = timestamp - other.timestamp || commit - other.commit;
  return order === "desc" ? -difference : difference;
}

function grown<T extends { set(values: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}

function unsigned(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function signed(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
