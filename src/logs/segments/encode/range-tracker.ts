import type { Block } from "../../cold/format/batch-table.ts";
import type { SourceLine } from "../../cold/format/lines.ts";
import type { RowGroup } from "./row-group.ts";

/** What a file's metadata and its row in the catalog say about all lines. */
export class RangeTracker {
  count = 0;
  firstSeq = 0;
  lastSeq = 0;
  minTimestamp = Number.POSITIVE_INFINITY;
  maxTimestamp = Number.NEGATIVE_INFINITY;
  minReceivedAt = Number.POSITIVE_INFINITY;
  maxReceivedAt = Number.NEGATIVE_INFINITY;
  minCommit = Number.POSITIVE_INFINITY;
  maxCommit = Number.NEGATIVE_INFINITY;
  rawBytes = 0;

  add({ seq, timestamp, start, end, batch: { commit, receivedAt } }: SourceLine): void {
    if (seq <= this.lastSeq) throw new RangeError("The lines are not in order of seq.");
    if (this.count++ === 0) this.firstSeq = seq;
    this.lastSeq = seq;
    this.rawBytes += end - start + 1;
    if (timestamp < this.minTimestamp) this.minTimestamp = timestamp;
    if (timestamp > this.maxTimestamp) this.maxTimestamp = timestamp;
    if (receivedAt < this.minReceivedAt) this.minReceivedAt = receivedAt;
    if (receivedAt > this.maxReceivedAt) this.maxReceivedAt = receivedAt;
    if (commit < this.minCommit) this.minCommit = commit;
    if (commit > this.maxCommit) this.maxCommit = commit;
  }
}

/** Describes the row groups of a file as blocks. */
export class BlockTracker {
  readonly blocks: Block[] = [];
  #rows = 0;
  #bytes = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #levelMask = 0;

  /** @param severity `null` if it is not known */
  add(timestamp: number, severity: number | null): void {
    if (timestamp < this.#min) this.#min = timestamp;
    if (timestamp > this.#max) this.#max = timestamp;
    if (severity !== null) this.#levelMask |= 1 << severity;
  }

  close({ rows, rawBytes }: RowGroup, bytes: number): void {
    this.blocks.push({
      firstIndex: this.#rows,
      lines: rows,
      rawBytes,
      start: this.#bytes,
      end: this.#bytes + bytes,
      minTimestamp: this.#min,
      maxTimestamp: this.#max,
      levelMask: this.#levelMask,
    });
    this.#rows += rows;
    this.#bytes += bytes;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    this.#levelMask = 0;
  }
}
