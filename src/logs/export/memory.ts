import { queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
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

/**
 * Leases the memory of an export. Exports run for minutes, so together they get half of the memory of queries, and only
 * while queries use little.
 * @returns `null` if there is no memory within half a minute
 */
export async function takeExportMemory(format: ExportFormat): Promise<MemoryLease | null> {
  for (let waited = 0; ; waited += ATTEMPT_MS) {
    const lease = queryMemory.tryTakeAhead(EXPORT_BYTES[format]);
    if (lease !== null || waited >= WAIT_MS) return lease;
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS));
  }
}
