import { detachBuffer, pageMemory, queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";

const KIB = 1024;

/**
 * Memory that a read holds from its start: the first page of batches and the first read of segments, their transport, a
 * piece of decoded lines.
 */
const BASE_BYTES = 1024 * KIB;
/** Bytes of a typical row, including the memory beside its line. Larger rows reserve more. */
const USUAL_ROW_BYTES = 512;
/** Bytes that a read reserves at once, so that it rarely has to ask. */
const STEP_BYTES = 256 * KIB;

/** Bytes that the states of one table may hold. A table that needs more ends its scan. */
export const STATE_BYTES = 16 * 1024 * KIB;
/** Bytes that a read which runs again may read at once, besides the first read. */
const AGAIN_INPUT_BYTES = 1024 * KIB;

/** Milliseconds for which a read waits for memory. Thirty reads of a second each may run before it. */
const WAIT_MS = 30_000;
/** Milliseconds for which a table waits for `STATE_BYTES`. Other reads wait behind it; a compaction takes some seconds. */
const WAIT_AGAIN_MS = 15_000;

/** Ends a read whose state needs memory that others hold. It runs again when they have returned it. */
export class ShortOfMemory extends Error {
  override name = "ShortOfMemory";
}

/** The memory that a read may use. */
export interface ReadMemory {
  /** Whether a read may hold the given bytes of rows. The initial reservation is always available. */
  canHoldRows(bytes: number): boolean;
  /**
   * Like `canHoldRows`, for a state without which the answer is incomplete.
   * @throws ShortOfMemory if the read can run again
   */
  canHoldState(bytes: number): boolean;
  /** Returns the bytes of batches or segments that may be requested at once: at most `wanted`, at least `minBytes`. */
  grantInput(wanted: number, minBytes: number): number;
  /** Records the received bytes of batches or segments. */
  recordInput(bytes: number): void;
  /** Records the bytes of the columns that are decoded at the moment. */
  recordDecoded(bytes: number): void;
  /** Takes bytes that the read has received, and frees them at its end unless they were freed before. */
  receive(bytes: Uint8Array): void;
  /** Extends the lease while the read makes progress. */
  renew(): void;
}

/** Unbounded memory, for tests that do not concern memory. */
export const UNBOUNDED_MEMORY: ReadMemory = {
  canHoldRows: () => true,
  canHoldState: () => true,
  grantInput: (wanted) => wanted,
  recordInput: () => undefined,
  recordDecoded: () => undefined,
  receive: () => undefined,
  renew: () => undefined,
};

/**
 * A query's part of the isolate's memory for queries. Waits for the initial reservation. Reserves more if memory is
 * free and no other query waits. If it gets none, pages of batches are smaller, rows without memory are left to the
 * next page, and a table runs again with all that it may need (`withLeasedMemory`).
 */
export class LeasedMemory implements ReadMemory {
  readonly #base: MemoryLease;
  readonly #rowBytes: number;
  readonly #runsAgain: boolean;
  /** Leases in addition to the base, for rows and for input. */
  readonly #further: MemoryLease[] = [];
  readonly #received = new ReceivedBytes();
  #extraRows = 0;
  #extraInput = 0;
  #input = 0;
  #decoded = 0;
  #oversize = 0;

  /**
   * @param rows maximum number of rows that the read may hold
   * @param runsAgain whether the read runs again if a state needs more memory than is free
   * @returns `null` if there is no memory within half a minute
   */
  static async take(rows: number, runsAgain = false): Promise<LeasedMemory | null> {
    const rowBytes = bytesOfRows(rows);
    const lease = await queryMemory.take(BASE_BYTES + rowBytes, WAIT_MS);
    return lease && new LeasedMemory(lease, rowBytes, 0, runsAgain);
  }

  /**
   * Takes all memory that a table may need, from the start. Does not wait for exports, which run for minutes and have at
   * most half of the memory.
   * @returns `null` if others do not return it within `WAIT_AGAIN_MS`
   */
  static async takeWhole(rows: number): Promise<LeasedMemory | null> {
    const usual = BASE_BYTES + AGAIN_INPUT_BYTES;
    const most = queryMemory.capacity - queryMemory.heldAhead - usual;
    const rowBytes = Math.min(Math.max(bytesOfRows(rows), STATE_BYTES), most);
    const lease = await queryMemory.take(usual + rowBytes, WAIT_AGAIN_MS);
    return lease && new LeasedMemory(lease, rowBytes, AGAIN_INPUT_BYTES, false);
  }

  /**
   * Like `take`, for a page of entries. While other reads hold all memory, it takes what is reserved for pages. If pages hold
   * that, too, it takes what is free first.
   */
  static async takePage(rows: number): Promise<LeasedMemory | null> {
    const bytes = BASE_BYTES + bytesOfRows(rows);
    if (bytes > pageMemory.capacity) return LeasedMemory.take(rows);
    const lease = await pageMemory.take(bytes, WAIT_MS, () => queryMemory.tryTake(bytes));
    return lease && new LeasedMemory(lease, bytes - BASE_BYTES, 0, false);
  }

  /** Like `take`, without waiting. */
  static tryTake(rows: number): LeasedMemory | null {
    const rowBytes = bytesOfRows(rows);
    const lease = queryMemory.tryTake(BASE_BYTES + rowBytes);
    return lease && new LeasedMemory(lease, rowBytes, 0, false);
  }

  private constructor(base: MemoryLease, rowBytes: number, extraInput: number, runsAgain: boolean) {
    this.#base = base;
    this.#rowBytes = rowBytes;
    this.#extraInput = extraInput;
    this.#runsAgain = runsAgain;
  }

  canHoldRows(bytes: number): boolean {
    while (bytes > this.#rowBytes + this.#extraRows) {
      if (!this.#takeMore(STEP_BYTES) && !this.#takeUnusedInput(STEP_BYTES)) return false;
      this.#extraRows += STEP_BYTES;
    }
    return true;
  }

  canHoldState(bytes: number): boolean {
    if (this.canHoldRows(bytes)) return true;
    if (this.#runsAgain) throw new ShortOfMemory();
    return false;
  }

  grantInput(wanted: number, minBytes: number): number {
    while (wanted > minBytes + this.#extraInput) {
      if (!this.#takeMore(STEP_BYTES)) break;
      this.#extraInput += STEP_BYTES;
    }
    return Math.min(wanted, minBytes + this.#extraInput);
  }

  recordInput(bytes: number): void {
    this.#input = bytes;
    this.#count();
  }

  recordDecoded(bytes: number): void {
    this.#decoded = bytes;
    this.#count();
  }

  receive(bytes: Uint8Array): void {
    this.#received.add(bytes);
  }

  renew(): void {
    this.#base.renew();
    for (const lease of this.#further) lease.renew();
  }

  #count(): void {
    // A single item larger than the grant is already in memory. It is counted, and other queries wait for it.
    const oversize = Math.max(0, this.#input + this.#decoded - BASE_BYTES - this.#extraInput);
    if (oversize !== this.#oversize) this.#base.resize(this.#base.bytes - this.#oversize + oversize);
    this.#oversize = oversize;
  }

  /** Frees what a part of the read has received, before the next part. */
  endPart(): void {
    this.#received.release();
    this.#input = 0;
    this.#decoded = 0;
    this.#count();
  }

  /** Ends the read and keeps the given bytes for its response until that is sent. */
  keep(bytes: number): void {
    this.#received.release();
    for (const lease of this.#further) lease.release();
    this.#base.resize(bytes);
  }

  release(): void {
    this.#received.release();
    this.#base.release();
    for (const lease of this.#further) lease.release();
  }

  /** What was granted for reads ahead must not end the read. */
  #takeUnusedInput(bytes: number): boolean {
    const used = Math.max(0, this.#input + this.#decoded - BASE_BYTES);
    if (this.#extraInput - used < bytes) return false;
    this.#extraInput -= bytes;
    return true;
  }

  #takeMore(bytes: number): boolean {
    const lease = queryMemory.tryTake(bytes);
    if (lease === null) return false;
    this.#further.push(lease);
    return true;
  }
}

/** How a read gets its memory. */
export interface ReadNeeds {
  /** Maximum number of rows that the read holds. */
  rows: number;
  /** Whether it reads a page of entries, for which memory is reserved. */
  isPage?: boolean;
}

/**
 * Runs a read with the memory that it needs, waiting while others hold it. A read whose state outgrows what is free
 * returns all of its memory and runs again when all that states may take is free. Reads that waited for more with a part
 * each would wait for each other.
 * @param read releases the memory when its answer was sent. Called again after `ShortOfMemory`
 * @returns `null` if there is no memory within half a minute
 */
export async function withLeasedMemory<T>(
  { rows, isPage = false }: ReadNeeds,
  read: (memory: LeasedMemory) => Promise<T>,
): Promise<T | null> {
  const whole = async () => (await LeasedMemory.takeWhole(rows)) ?? (await LeasedMemory.take(rows));
  for (const take of isPage ? [LeasedMemory.takePage] : [LeasedMemory.take, whole]) {
    const memory = await take(rows, take === LeasedMemory.take);
    if (memory === null) return null;
    try {
      return await read(memory);
    } catch (error) {
      memory.release();
      if (!(error instanceof ShortOfMemory)) throw error;
    }
  }
  return null;
}

function bytesOfRows(rows: number): number {
  return Math.ceil((rows * USUAL_ROW_BYTES) / STEP_BYTES) * STEP_BYTES;
}

/** Buffers after which those that were freed are forgotten. */
const MANY_BUFFERS = 256;

/** The bytes that a read has received. What was read ahead and not needed would wait for a garbage collection. */
export class ReceivedBytes {
  #buffers: Uint8Array[] = [];
  #checkedAt = MANY_BUFFERS;

  add(bytes: Uint8Array): void {
    this.#buffers.push(bytes);
    if (this.#buffers.length < this.#checkedAt) return;
    this.#buffers = this.#buffers.filter(({ byteLength }) => byteLength > 0);
    this.#checkedAt = MANY_BUFFERS + 2 * this.#buffers.length;
  }

  release(): void {
    for (const bytes of this.#buffers) detachBuffer(bytes);
    this.#buffers = [];
  }
}
