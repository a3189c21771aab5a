import { queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import { type ReadMemory, ReceivedBytes } from "../query/memory.ts";
import type { ExportFormat } from "./writer.ts";

const MIB = 1024 * 1024;

/**
 * Bytes that an export holds: a page of recent batches or a read of segments with its transport, decoded lines, a chunk. In
 * Parquet also the lines of a row group, their values, and the encoded row group.
 */
const EXPORT_BYTES: Readonly<Record<ExportFormat, number>> = { ndjson: 2 * MIB, parquet: 8 * MIB };

/** Milliseconds for which an export waits for memory at its start, and between two attempts. */
const WAIT_MS = 30_000;
const ATTEMPT_MS = 250;
/** Milliseconds for which it waits after it was suspended: less than the silence after which `taffrail export` takes a connection for lost. */
const RESUME_WAIT_MS = 240_000;

/** Bytes of `EXPORT_BYTES` for what is read. */
const INPUT_BYTES = 1536 * 1024;

// Module state: one instance per isolate, shared by all its exports.
/** Leases of suspended exports. */
const suspended = new Set<MemoryLease>();

/** The memory of one export. */
export class ExportMemory implements ReadMemory {
  readonly #lease: MemoryLease;
  readonly #bytes: number;
  readonly #received = new ReceivedBytes();
  #input = 0;
  #decoded = 0;
  #isSuspended = false;

  /**
   * Leases the memory of an export. Exports run for minutes, so together they get half of the memory of queries, and only
   * while queries use little. What suspended exports keep does not count for that half, up to a quarter.
   * @returns `null` if there is no memory within half a minute
   */
  static async take(format: ExportFormat): Promise<ExportMemory | null> {
    const lease = await repeated(() => queryMemory.tryTakeAhead(EXPORT_BYTES[format], idleBytes(null)), WAIT_MS);
    return lease && new ExportMemory(lease);
  }

  private constructor(lease: MemoryLease) {
    this.#lease = lease;
    this.#bytes = lease.bytes;
  }

  canHoldRows(): boolean {
    return true;
  }

  canHoldState(): boolean {
    return true;
  }

  grantInput(wanted: number, minBytes: number): number {
    return Math.min(wanted, Math.max(minBytes, INPUT_BYTES));
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

  /** Returns what is read, for as long as the client does not read. @param bytes that the export still holds */
  suspend(bytes: number): void {
    this.#received.release();
    this.#input = 0;
    this.#decoded = 0;
    this.#isSuspended = true;
    this.#lease.resize(Math.min(bytes, this.#bytes));
    suspended.add(this.#lease);
  }

  /** Takes the memory of a suspended export again. @returns `false` if there is none within four minutes, or after its release */
  async resume(): Promise<boolean> {
    const lease = this.#lease;
    await repeated(() => {
      lease.renew();
      return !lease.isLive || queryMemory.tryGrowAhead(lease, this.#bytes, idleBytes(lease)) ? lease : null;
    }, RESUME_WAIT_MS);
    this.#isSuspended = lease.bytes < this.#bytes;
    if (!this.#isSuspended) suspended.delete(lease);
    return lease.isLive && !this.#isSuspended;
  }

  renew(): void {
    this.#lease.renew();
  }

  release(): void {
    this.#received.release();
    this.#lease.release();
  }

  /** Counts what exceeds the lease: a large row group is already in memory, and other reads wait for it. */
  #count(): void {
    // What a run that was ended records last.
    if (this.#isSuspended) return;
    const bytes = this.#bytes + Math.max(0, this.#input + this.#decoded - INPUT_BYTES);
    if (bytes !== this.#lease.bytes) this.#lease.resize(bytes);
  }
}

/** Returns the bytes that suspended exports keep, up to a quarter of the memory of queries. @param own lease that is left out */
function idleBytes(own: MemoryLease | null): number {
  let bytes = 0;
  for (const lease of suspended) {
    // It was released, or reclaimed because its request has ended without notice.
    if (!lease.isLive) suspended.delete(lease);
    else if (lease !== own) bytes += lease.bytes;
  }
  return Math.min(bytes, queryMemory.capacity / 4);
}

/** Attempts something until it succeeds. @returns `null` if it does not within the given milliseconds */
async function repeated<T>(attempt: () => T | null, timeoutMs: number): Promise<T | null> {
  for (let waited = 0; ; waited += ATTEMPT_MS) {
    const made = attempt();
    if (made !== null || waited >= timeoutMs) return made;
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS));
  }
}
