import { queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import type { ReadMemory } from "../query/memory.ts";
import { ReceivedBytes } from "../query/received-bytes.ts";
import type { ExportFormat } from "./writer.ts";

const MIB = 1024 * 1024;

/**
 * Bytes that an export holds: a page of recent batches or a read of segments with its transport, decoded lines, a chunk. In
 * Parquet also the lines of a row group, their values, and the encoded row group.
 */
const EXPORT_BYTES: Readonly<Record<ExportFormat, number>> = { ndjson: 2 * MIB, parquet: 8 * MIB };

/** Milliseconds for which an export waits for memory, and between two attempts. */
const WAIT_MS = 30_000;
const ATTEMPT_MS = 250;

/** Bytes of `EXPORT_BYTES` for what is read. */
const INPUT_BYTES = 1536 * 1024;

/** The memory of one export. */
export class ExportMemory implements ReadMemory {
  readonly #lease: MemoryLease;
  readonly #bytes: number;
  readonly #received = new ReceivedBytes();
  #input = 0;
  #decoded = 0;

  /**
   * Leases the memory of an export. Exports run for minutes, so together they get half of the memory of queries, and only
   * while queries use little.
   * @returns `null` if there is no memory within half a minute
   */
  static async take(format: ExportFormat): Promise<ExportMemory | null> {
    for (let waited = 0; ; waited += ATTEMPT_MS) {
      const lease = queryMemory.tryTakeAhead(EXPORT_BYTES[format]);
      if (lease !== null) return new ExportMemory(lease);
      if (waited >= WAIT_MS) return null;
      await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS));
    }
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

  renew(): void {
    this.#lease.renew();
  }

  release(): void {
    this.#received.release();
    this.#lease.release();
  }

  /** Counts what exceeds the lease: a large row group is already in memory, and other reads wait for it. */
  #count(): void {
    const bytes = this.#bytes + Math.max(0, this.#input + this.#decoded - INPUT_BYTES);
    if (bytes !== this.#lease.bytes) this.#lease.resize(bytes);
  }
}
