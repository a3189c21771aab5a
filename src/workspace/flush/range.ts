/** A batch by what decides whether it goes into a range. */
export interface UnflushedBatch {
  commit: number;
  firstSeq: number;
  count: number;
  /** Bytes uncompressed, and as stored. */
  size: number;
  bodyBytes: number;
}

/** A run of a project's batches, whole ones, without a gap in `seq`. Both ends included. */
export interface FlushRange {
  firstSeq: number;
  lastSeq: number;
  firstCommit: number;
  lastCommit: number;
}

/** What one step takes at most. A batch that is larger by itself is a range by itself. */
export interface RangeLimits {
  entries: number;
  /** Uncompressed, and as stored. */
  bytes: number;
  storedBytes: number;
  batches: number;
}

/**
 * As many batches from the first one on as a range takes, up to a gap.
 * @param batches of one project, in order of `seq`
 */
export function chooseRange(batches: Iterable<UnflushedBatch>, limits: RangeLimits): FlushRange | null {
  let range: FlushRange | null = null;
  let bytes = 0;
  let storedBytes = 0;
  let taken = 0;
  for (const { commit, firstSeq, count, size, bodyBytes } of batches) {
    const lastSeq = firstSeq + count - 1;
    bytes += size;
    storedBytes += bodyBytes;
    taken++;
    if (range === null) {
      range = { firstSeq, lastSeq, firstCommit: commit, lastCommit: commit };
      continue;
    }
    const entries = lastSeq - range.firstSeq + 1;
    if (firstSeq !== range.lastSeq + 1 || taken > limits.batches) break;
    if (entries > limits.entries || bytes > limits.bytes || storedBytes > limits.storedBytes) break;
    range.lastSeq = lastSeq;
    range.lastCommit = commit;
  }
  return range;
}
