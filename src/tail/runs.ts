import type { BatchEncoding } from "../logs/batch.ts";

/** A batch that has been committed. */
export interface TailBatch {
  project: number;
  firstSeq: number;
  receivedAt: number;
  /** `size`: bytes of its lines, uncompressed. */
  batch: { count: number; encoding: BatchEncoding; size: number; body: Uint8Array };
}

/** Batches of one project that follow each other: entries with `after < seq <= until`. */
export interface BatchSequence {
  project: number;
  after: number;
  until: number;
  bytes: number;
  batches: TailBatch[];
}

/**
 * Bytes of lines of one run, unless a single batch has more: decompressed at once, and sent to each tail in one go. What
 * waits may hold a hundred times its size.
 */
const SEQUENCE_BYTES = 256 * 1024;

/** Each project's batches in order, some at a time. There is a gap where nobody listened for a while. */
export function sequencesOf(batches: readonly TailBatch[]): BatchSequence[] {
  const runs: BatchSequence[] = [];
  const last = new Map<number, BatchSequence>();
  for (const committed of batches) {
    const { project, firstSeq, batch } = committed;
    let run = last.get(project);
    if (run?.until !== firstSeq - 1 || run.bytes + batch.size > SEQUENCE_BYTES) {
      run = { project, after: firstSeq - 1, until: firstSeq - 1, bytes: 0, batches: [] };
      runs.push(run);
      last.set(project, run);
    }
    run.until += batch.count;
    run.bytes += batch.size;
    run.batches.push(committed);
  }
  return runs;
}
