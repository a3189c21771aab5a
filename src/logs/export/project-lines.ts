import { detachBuffer } from "../../platform/isolate-memory.ts";
import { decodeBlocks, type RecentBatch, type ReportUnreadable, UnreadableItem } from "../batch.ts";
import type { SourceLine } from "../cold/format/lines.ts";
import { wholeLines } from "../query/lines.ts";
import { lineLists, type SeqRange } from "./line-lists.ts";
import { type ColdLines, type ColdScope, openCold } from "./segment-lines.ts";

/** A page of the recent tier; see `SeqPage` of the workspace object. */
export interface RecentRange {
  lastSeq: number;
  flushedSeq: number;
  oldest: number;
  through: number;
  batches: readonly RecentBatch[];
}

/** The two tiers of a project. */
export interface ProjectSource {
  /** Reads a page of recent batches. Checks the caller's credential. */
  recent(range: SeqRange): Promise<RecentRange>;
  cold: ColdLines;
  scope: ColdScope;
}

/** Lines in order of `seq`. Everything of the range up to `through` has been yielded with them. */
export interface LinesThrough {
  /** Their bodies are valid until the next item is requested. */
  lines: readonly SourceLine[];
  through: number;
}

/**
 * Yields the lines of a project's range in order of `seq`, from both tiers. A batch leaves the object only after the cold
 * tier has it, so what the object's page does not have up to the watermark is in the cold tier.
 *
 * @param range `until` is at most the project's last `seq`
 * @param flushedSeq the project's watermark
 */
export async function* projectLines(
  source: ProjectSource,
  { after, until }: SeqRange,
  flushedSeq: number,
): AsyncGenerator<LinesThrough> {
  let position = after;
  let watermark = flushedSeq;
  while (position < until) {
    // Below the watermark the object has only batches that the cold tier cannot take.
    const page = await source.recent({
      after: position,
      until: position < watermark ? Math.min(until, watermark) : until,
    });
    watermark = page.flushedSeq;
    const [first] = page.batches;
    const coldEnd = Math.min(until, watermark, first ? first.firstSeq - 1 : page.through);
    if (position < coldEnd) {
      const stretch = await openCold(source.cold, source.scope, { after: position, until: coldEnd });
      for await (const lines of stretch.lists) yield { lines, through: lines.at(-1)?.seq ?? position };
      position = stretch.until;
      yield { lines: [], through: position };
      continue;
    }
    for (const batch of page.batches) {
      // What is between two batches below the watermark is in the cold tier. Above it, expired batches were deleted.
      if (batch.firstSeq > position + 1 && position < watermark) break;
      const last = Math.min(until, batch.firstSeq + batch.count - 1);
      for (const lines of batchLines(batch, { after: position, until }, source.scope.report)) {
        yield { lines, through: lines.at(-1)?.seq ?? position };
      }
      detachBuffer(batch.body);
      position = Math.max(position, last);
    }
    if (position >= watermark || page.batches.length === 0) position = Math.max(position, page.through);
    yield { lines: [], through: position };
  }
}

/** Yields the lines of a batch in pieces. A damaged batch is reported, and left out from the damage on. */
function* batchLines(batch: RecentBatch, range: SeqRange, report: ReportUnreadable): Generator<SourceLine[]> {
  const { commit, firstSeq, count, receivedAt, encoding, body } = batch;
  const origins = {
    seqAt: (index: number) => firstSeq + index,
    commitOf: () => commit,
    receivedAtOf: () => receivedAt,
  };
  let read = Math.max(firstSeq - 1, range.after);
  try {
    for (const lines of lineLists(wholeLines(decodeBlocks(encoding, body)), origins, range)) {
      read = lines.at(-1)?.seq ?? read;
      yield lines;
    }
  } catch (error) {
    report(new UnreadableItem(`Batch ${commit} does not decode.`, { cause: error }), firstSeq + count - 1 - read);
  }
}
