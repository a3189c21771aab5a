import { WorkerEntrypoint } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import type { RecentBatch, ReportUnreadable } from "../../logs/batch.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { BatchMatcher } from "../../logs/query/batch-matcher.ts";
import { ScanPacer } from "../../logs/query/budget.ts";
import { logEvent } from "../../platform/log.ts";
import { settingsOf } from "../../settings.ts";
import { readCold } from "../../tail/cold-range.ts";
import { readTailFilter, toLogFilter } from "../../tail/filter.ts";
import {
  type FrameList,
  framesOf,
  linesOfBatches,
  pacedEntriesOf,
  type SeqEntry,
  type SeqLines,
  type SeqRange,
} from "../../tail/frames.ts";
import { type FlushCall, type FlushOutcome, writeRange } from "../../workspace/flush/write-range.ts";

/**
 * What a workspace object hands a range of batches to: decoding, compressing and filters are work for the stateless side.
 * Nothing but this worker itself can call it.
 */
export class ColdWriter extends WorkerEntrypoint<Env> {
  async write(call: FlushCall): Promise<FlushOutcome> {
    return writeRange(new ColdTier(this.env), call, Date.now);
  }
}

/** What one step of a tail that is behind needs. */
export interface BacklogCall {
  workspaceId: string;
  projectId: string;
  /** As `tailFilterText` wrote it. */
  filter: string;
  /** Entries with an earlier timestamp are past the retention, epoch milliseconds. */
  oldest: number;
  range: SeqRange;
  /** Entries wanted at most. */
  most: number;
  /** The batches that hold the range; null where it is in the cold tier. */
  batches: RecentBatch[] | null;
  /** Of the request that opened the tail; absent where the object is of an older version. */
  requestId?: string;
}

/**
 * Characters of entries after which a step ends. With the page that they are read from, one batch of it in plain, and the
 * frames, a step takes about what it holds of the memory of all tails: 1.5 MiB.
 */
const STEP_CHARACTERS = 384 * 1024;

/**
 * Reads older entries for tails, outside the workspace object: that has one thread, and everybody's ingest waits for it.
 * Reached by the object alone, over the loopback of the worker's own exports.
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
    const entriesOf = (units: readonly SeqLines[], wanted: SeqRange) =>
      pacedEntriesOf(() => pacer.pause(), units, matcher, projectId, wanted, report);
    const bound = { entries: most, characters: STEP_CHARACTERS };
    if (batches) {
      const read = (batch: RecentBatch) => entriesOf(linesOfBatches([batch], report), range);
      const { entries, through } = await fromBatches(call, batches, read);
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
    // More than is wanted shows that something is left.
    if (characters > STEP_CHARACTERS || entries.length > most) {
      return { entries, through: Math.min(range.until, batch.firstSeq + batch.count - 1) };
    }
  }
  return { entries, through: range.until };
}
