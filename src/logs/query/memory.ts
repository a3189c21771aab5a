import { queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import type { LogSource } from "./tiers.ts";

const KIB = 1024;

/**
 * What a read holds from its beginning: the first page of batches and the first read of segments, their transport, a piece
 * of decoded lines.
 */
const BASE_BYTES = 1024 * KIB;
/** Bytes of a row as most are, with what it takes beside its line. Rows that are larger ask for more. */
const USUAL_ROW_BYTES = 512;
/** A read takes more in steps of this size, so that it asks seldom. */
const STEP_BYTES = 256 * KIB;

/** Milliseconds that a read waits for memory. Thirty reads of a second each may come before it. */
const WAIT_MS = 30_000;

/** What a read may hold. */
export interface ReadMemory {
  /** Whether a read may hold so many bytes of rows. It may always hold what it was begun for. */
  canHoldRows(bytes: number): boolean;
  /** How many bytes of batches or segments may be asked for at a time: at most those wanted, at least `least`. */
  grantInput(wanted: number, least: number): number;
  /** So many bytes of batches or segments came. */
  recordInput(bytes: number): void;
  /** The read goes on. */
  renew(): void;
}

/** Memory without a bound, for tests of what does not concern it. */
export const UNBOUNDED_MEMORY: ReadMemory = {
  canHoldRows: () => true,
  grantInput: (wanted) => wanted,
  recordInput: () => undefined,
  renew: () => undefined,
};

/**
 * The part of an isolate's memory for queries that one of them has. It waits for the first of it; more is taken where
 * there is room and no other waits, and done without where not: then batches come in smaller pages, and rows that have no
 * room are left to the next page.
 */
export class LeasedMemory implements ReadMemory {
  readonly #base: MemoryLease;
  readonly #rowBytes: number;
  /** Taken on top of the base, for rows and for input. */
  readonly #further: MemoryLease[] = [];
  #extraRows = 0;
  #extraInput = 0;
  #oversize = 0;

  /** @param rows that the read may come to hold @returns null where there is no room within half a minute */
  static async take(rows: number): Promise<LeasedMemory | null> {
    const rowBytes = Math.ceil((rows * USUAL_ROW_BYTES) / STEP_BYTES) * STEP_BYTES;
    const lease = await queryMemory.take(BASE_BYTES + rowBytes, WAIT_MS);
    return lease && new LeasedMemory(lease, rowBytes);
  }

  private constructor(base: MemoryLease, rowBytes: number) {
    this.#base = base;
    this.#rowBytes = rowBytes;
  }

  canHoldRows(bytes: number): boolean {
    while (bytes > this.#rowBytes + this.#extraRows) {
      if (!this.#takeMore(STEP_BYTES)) return false;
      this.#extraRows += STEP_BYTES;
    }
    return true;
  }

  grantInput(wanted: number, least: number): number {
    while (wanted > least + this.#extraInput) {
      if (!this.#takeMore(STEP_BYTES)) break;
      this.#extraInput += STEP_BYTES;
    }
    return Math.min(wanted, least + this.#extraInput);
  }

  recordInput(bytes: number): void {
    // What alone is larger than was granted is here already: it counts, and others wait for it.
    const oversize = Math.max(0, bytes - BASE_BYTES - this.#extraInput);
    if (oversize !== this.#oversize) this.#base.resize(this.#base.bytes - this.#oversize + oversize);
    this.#oversize = oversize;
  }

  renew(): void {
    this.#base.renew();
    for (const lease of this.#further) lease.renew();
  }

  /** The read is over, and its answer holds so many bytes until it is sent. */
  keep(bytes: number): void {
    for (const lease of this.#further) lease.release();
    this.#base.resize(bytes);
  }

  release(): void {
    this.#base.release();
    for (const lease of this.#further) lease.release();
  }

  #takeMore(bytes: number): boolean {
    const lease = queryMemory.tryTake(bytes);
    if (lease === null) return false;
    this.#further.push(lease);
    return true;
  }
}

/** Bytes of the smallest page of batches or read of segments that a read asks for where there is no room for more. */
const MIN_INPUT_BYTES = 512 * KIB;

/** A source that gives as much at a time as the reader has memory for. */
export function boundedSource<S extends LogSource>(source: S, memory: ReadMemory): S {
  return {
    ...source,
    recent: async (scan) => {
      memory.renew();
      const page = await source.recent({ ...scan, maxBytes: memory.grantInput(scan.maxBytes, MIN_INPUT_BYTES) });
      memory.recordInput(page.batches.reduce((sum, { body }) => sum + body.length, 0));
      return page;
    },
    cold: {
      ...source.cold,
      findSegments: (selection) => source.cold.findSegments(selection),
      readBodies: async (workspaceId, ranges) => {
        memory.renew();
        const wanted = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
        let left = memory.grantInput(wanted, MIN_INPUT_BYTES);
        const fitting = ranges.findIndex(({ start, end }, index) => {
          left -= end - start;
          return index > 0 && left < 0;
        });
        return source.cold.readBodies(workspaceId, fitting < 0 ? ranges : ranges.slice(0, fitting));
      },
    },
  };
}
