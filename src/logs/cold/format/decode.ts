import { detachBuffer } from "../../../platform/isolate-memory.ts";
import type { LineSource } from "../../query/feed.ts";
import { piecesOf } from "../../query/lines.ts";
import { type BatchRun, type Block, readBatchTable, unpack } from "./batch-table.ts";
import { CorruptSegment, type SegmentKey, type SegmentMeta } from "./segment.ts";

/** The lines of a block, decoded. */
export interface DecodedBlock extends LineSource {
  /** All lines. */
  body: Uint8Array;
  count: number;
}

/** States which entries a segment holds, and in which batches they came, without its body. */
export class BatchTable {
  readonly #runs: readonly BatchRun[];
  /** Index of each run's first entry. */
  readonly #starts: readonly number[];
  readonly count: number;
  /** The run that was found last. Indices are mostly requested in order. */
  #last = 0;

  /** @throws CorruptSegment */
  constructor(meta: SegmentMeta, packed: Uint8Array) {
    this.#runs = decoded(meta, "its directory cannot be read", () => readBatchTable(packed));
    let count = 0;
    this.#starts = this.#runs.map((run) => {
      count += run.count;
      return count - run.count;
    });
    this.count = count;
    if (count !== meta.count) throw new CorruptSegment(meta, "its directory counts other entries");
  }

  seqAt(index: number): number {
    const run = this.#runAt(index);
    return (this.#runs[run]?.firstSeq ?? 0) + index - (this.#starts[run] ?? 0);
  }

  receivedAtOf(index: number): number {
    return this.#runs[this.#runAt(index)]?.receivedAt ?? 0;
  }

  commitOf(index: number): number {
    return this.#runs[this.#runAt(index)]?.commit ?? 0;
  }

  /** Returns how many entries, from the first one, were committed by `asOf`. Commits rise with `seq`. */
  visibleCount(asOf: number | null): number {
    if (asOf === null) return this.count;
    const run = this.#runs.findIndex(({ commit }) => commit > asOf);
    return run < 0 ? this.count : (this.#starts[run] ?? 0);
  }

  /** Returns the index of the first entry with this `seq` or a later one; `count` if there is none. */
  indexOfSeq(seq: number): number {
    const run = this.#runs.findIndex(({ firstSeq, count }) => firstSeq + count > seq);
    const { firstSeq } = this.#runs[run] ?? { firstSeq: 0 };
    return run < 0 ? this.count : (this.#starts[run] ?? 0) + Math.max(0, seq - firstSeq);
  }

  #runAt(index: number): number {
    let run = this.#last;
    if (index < (this.#starts[run] ?? 0)) run = 0;
    if (index >= (this.#starts[run + 1] ?? this.count)) {
      let high = this.#starts.length - 1;
      while (run < high) {
        const middle = (run + high + 1) >> 1;
        if ((this.#starts[middle] ?? 0) <= index) run = middle;
        else high = middle - 1;
      }
    }
    this.#last = run;
    return run;
  }
}

/**
 * Decodes the lines of one block.
 * @param bytes of the block: from `block.start` to `block.end` of the body
 * @param asOf commit number of the snapshot; `null` for all
 * @param afterCommit entries of this commit and earlier ones are not visible either
 * @throws CorruptSegment
 */
export function decodeBlock(
  key: SegmentKey,
  batchTable: BatchTable,
  block: Block,
  bytes: Uint8Array,
  asOf: number | null,
  afterCommit = 0,
): DecodedBlock {
  const body = decoded(key, "a block cannot be decompressed", () => unpack(bytes));
  if (body.length !== block.rawBytes) throw new CorruptSegment(key, "a block has another length");
  const hidden = batchTable.visibleCount(afterCommit) - block.firstIndex;
  const visible = batchTable.visibleCount(asOf) - block.firstIndex;
  return {
    projectId: key.projectId,
    body,
    pieces: () => piecesOf(body),
    count: block.lines,
    seqAt: (index) => batchTable.seqAt(block.firstIndex + index),
    receivedAtOf: (index) => batchTable.receivedAtOf(block.firstIndex + index),
    isVisible: (index) => index >= hidden && index < visible,
    close: () => detachBuffer(body),
  };
}

function decoded<T>(key: SegmentKey, failure: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new CorruptSegment(key, failure, error);
  }
}
