import { WorkerEntrypoint } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { operation } from "../http/log.ts";
import type { StoredBatch } from "../logs/batch.ts";
import { SegmentStore } from "../logs/cold/store.ts";
import { BatchMatcher } from "../logs/query/batch-matcher.ts";
import { settingsOf } from "../settings.ts";
import { readCold } from "../tail/cold-range.ts";
import { entriesOf, type SeqEntry, type SeqRange } from "../tail/entries.ts";
import { readTailFilter, toLogFilter } from "../tail/filter.ts";
import { type Framed, framesOf } from "../tail/frames.ts";
import { unitOfBatch } from "../tail/unit.ts";

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
  batches: StoredBatch[] | null;
}

/** Characters of entries after which a step ends: the workspace object holds several steps' frames at a time. */
const STEP_CHARACTERS = 4 * 1024 * 1024;

/**
 * Reads older entries for tails, outside the workspace object: that has one thread, and everybody's ingest waits for it.
 * Reached by the object alone, over the loopback of the worker's own exports.
 */
export class TailBacklog extends WorkerEntrypoint<Env> {
  async read(call: BacklogCall): Promise<Framed> {
    const matcher = new BatchMatcher(toLogFilter(readTailFilter(call.filter), call.oldest));
    const { entries, through } = call.batches
      ? fromBatches(call, call.batches, matcher)
      : await this.#fromCold(call, matcher);
    return framesOf(entries, through, call.most);
  }

  async #fromCold(call: BacklogCall, matcher: BatchMatcher): Promise<{ entries: SeqEntry[]; through: number }> {
    const { workspaceId, projectId, range } = call;
    const report = ({ message: fault }: Error) => {
      const line = { event: "workspace.tail.read", outcome: "unreadable", workspaceId, projectId, fault };
      operation(settingsOf(this.env).LOG_LEVEL, "error", line);
    };
    const cold = await readCold(new SegmentStore(this.env.DB), { workspaceId, projectId, report }, range);
    const { after } = range;
    return {
      entries: entriesOf(cold.units, matcher, projectId, { after, until: cold.through }),
      through: cold.through,
    };
  }
}

function fromBatches(
  { projectId, range, most }: BacklogCall,
  batches: readonly StoredBatch[],
  matcher: BatchMatcher,
): { entries: SeqEntry[]; through: number } {
  const entries: SeqEntry[] = [];
  let characters = 0;
  for (const batch of batches) {
    for (const entry of entriesOf([unitOfBatch(batch)], matcher, projectId, range)) {
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
