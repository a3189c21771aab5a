import { WorkerEntrypoint } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import type { RecentBatch, ReportUnreadable } from "../../logs/batch.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { BatchMatcher } from "../../logs/query/batch-matcher.ts";
import { ScanPacer } from "../../logs/query/budget.ts";
import { bucketForWrites } from "../../platform/bucket.ts";
import { detachBuffer, flushMemory } from "../../platform/isolate-memory.ts";
import { logEvent } from "../../platform/log.ts";
import { settingsOf } from "../../settings.ts";
import { readCold } from "../../tail/cold-range.ts";
import { readTailFilter } from "../../tail/filter.ts";
import {
  type FrameList,
  framesOf,
  linesOfBatches,
  pacedEntriesOf,
  type SeqEntry,
  type SeqLines,
  type SeqRange,
} from "../../tail/frames.ts";
import { toLogFilter } from "../../tail/log-filter.ts";
import { heldBytes } from "../../workspace/flush/schedule.ts";
import { type FlushCall, type FlushOutcome, writeRange } from "../../workspace/flush/write-range.ts";

/** Milliseconds that a flush waits for memory. */
const MEMORY_WAIT_MS = 20_000;

/** Returns the bytes that a flush holds until its range is encoded. One large batch may need more than there are. */
function memoryOf({ batches }: FlushCall): number {
  const held = batches.reduce(
    (sum, { size, body }) => sum + heldBytes(size ?? Number.POSITIVE_INFINITY, body.length),
    0,
  );
  return Math.min(flushMemory.capacity, held);
}

/**
 * Encodes and stores ranges of batches for workspace objects. Decoding, compression and filters run here, because this
 * entrypoint is stateless. Only this worker can call it.
 */
export class ColdWriter extends WorkerEntrypoint<Env> {
  async write(call: FlushCall): Promise<FlushOutcome> {
    const { env } = this;
    const store = new ColdTier(env, call.database);
    const lease = await flushMemory.take(memoryOf(call), MEMORY_WAIT_MS);
    if (lease === null) return { outcome: "failed", reason: "Other flushes use all memory" };
    const encoded = (bytes: number) => lease.resize(bytes);
    const outcome = await writeRange({ store, bucket: bucketForWrites(env), now: Date.now, encoded }, call);
    // The call has copies of its own.
    for (const { body } of call.batches) detachBuffer(body);
    lease.release();
    return outcome.outcome === "stored" ? { ...outcome, databaseBytes: store.databaseBytes } : outcome;
  }
}

/** Arguments of one step of a tail that is behind. */
export interface BacklogCall {
  workspaceId: string;
  projectId: string;
  /** Written by `tailFilterText`. */
  filter: string;
  /** Entries with an earlier timestamp are expired, epoch milliseconds. */
  oldest: number;
  range: SeqRange;
  /** Maximum number of entries. */
  most: number;
  /** The batches of the range; `null` if it is in the cold tier. */
  batches: RecentBatch[] | null;
  /** The id of the request that opened the tail; absent from objects of an older version. */
  requestId?: string;
}

/**
 * Characters of entries after which a step ends. With the page that it reads, one decoded batch of it, and the frames,
 * a step uses about its share of the memory of all tails: 1.5 MiB.
 */
const STEP_CHARACTERS = 384 * 1024;

/**
 * Reads older entries for tails, outside of the workspace object, whose single thread all ingest calls of the workspace
 * share. Only the object can call it, over the loopback binding of the worker's own exports.
 */
export class TailBacklog extends WorkerEntrypoint<Env> {
  async read(call: BacklogCall): Promise<FrameList> {
    const { workspaceId, projectId, range, batches, most, requestId } = call;
    const report: ReportUnreadable = ({ message: fault }, entries) => {
      const line = {
        event: "workspace.tail.read",
        outcome: "unreadable",
        workspaceId,
        projectId,
        requestId,
        fault,
        unreadable: entries,
      };
      logEvent(settingsOf(this.env).LOG_LEVEL, "error", line);
    };
    const pacer = new ScanPacer();
    const matcher = new BatchMatcher(toLogFilter(readTailFilter(call.filter), call.oldest), pacer.meter);
    const entriesOf = async (units: readonly SeqLines[], wanted: SeqRange) => {
      const entries = await pacedEntriesOf(() => pacer.pause(), units, matcher, projectId, wanted, report);
      for (const { close } of units) close?.();
      return entries;
    };
    const bound = { entries: most, characters: STEP_CHARACTERS };
    if (batches) {
      const read = (batch: RecentBatch) => entriesOf(linesOfBatches([batch], report), range);
      const { entries, through } = await fromBatches(call, batches, read);
      for (const { body } of batches) detachBuffer(body);
      return framesOf(entries, through, bound);
    }
    const scope = { workspaceId, projectId, report };
    const { units, through } = await readCold(new ColdTier(this.env), scope, range);
    return framesOf(await entriesOf(units, { after: range.after, until: through }), through, bound);
  }
}

async function fromBatches(
  { range, most }: BacklogCall,
  batches: readonly RecentBatch[],
  read: (batch: RecentBatch) => Promise<SeqEntry[]>,
): Promise<{ entries: SeqEntry[]; through: number }> {
  const entries: SeqEntry[] = [];
  let characters = 0;
  for (const batch of batches) {
    for (const entry of await read(batch)) {
      entries.push(entry);
      characters += entry.text.length;
    }
    // More entries than requested mean that some are left.
    if (characters > STEP_CHARACTERS || entries.length > most) {
      return { entries, through: Math.min(range.until, batch.firstSeq + batch.count - 1) };
    }
  }
  return { entries, through: range.until };
}
