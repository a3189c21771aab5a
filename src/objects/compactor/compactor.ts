import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import { type CompactionCall, type CompactionOutcome, compactIn } from "../../logs/cold/compaction/compact.ts";
import { coldDatabasesOf } from "../../logs/cold/store/sources.ts";
import { bucketForWrites, bucketOf } from "../../platform/bucket.ts";
import { isStorageFailure, storageFaultOf } from "../../platform/failures.ts";
import { COMPACTION_BYTES, queryMemory } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import { pause } from "../../platform/turns.ts";
import type { CompactorRpc } from "../../rpc/compactor.ts";

/** Attempts to get memory, and milliseconds between them. Queries do not wait behind a compaction that waits. */
const ATTEMPTS = 30;
const ATTEMPT_MS = 1000;

/**
 * Merges segments for a workspace object, whose thread all ingest calls of the workspace share. One object for each
 * workspace; it stores nothing, because the workspace object repeats what did not end.
 */
export class CompactorObject extends DurableObject<Env> implements CompactorRpc {
  async compact(call: CompactionCall): Promise<CompactionOutcome> {
    const lease = await takeMemory();
    if (lease === null) return { outcome: "failed", reason: "Queries and other compactions use all memory" };
    try {
      const ports = {
        bucket: bucketOf(this.env),
        isInD1Only: bucketForWrites(this.env) === null,
        now: Date.now,
        pause: async () => {
          lease.renew();
          await pause();
        },
      };
      const databases = coldDatabasesOf(this.env).map(({ db }) => db);
      return await compactIn(databases, call, ports);
    } catch (error) {
      // Messages of other errors may contain content of entries.
      const reason = isStorageFailure(error) ? storageFaultOf(error) : error instanceof Error ? error.name : "unknown";
      return { outcome: "failed", reason };
    } finally {
      lease.release();
    }
  }
}

async function takeMemory(): Promise<MemoryLease | null> {
  for (let attempt = 1; ; attempt++) {
    const lease = queryMemory.tryTake(COMPACTION_BYTES);
    if (lease !== null || attempt === ATTEMPTS) return lease;
    await scheduler.wait(ATTEMPT_MS);
  }
}
