import { createHash } from "node:crypto";
import type { Block } from "../../cold/format/batch-table.ts";
import type { EncodedGroup } from "../encode/encode-group.ts";
import { MAGIC, type RowGroupMeta } from "../parquet/metadata.ts";
import type { Section } from "../properties.ts";

/** Smallest and largest value of a column. */
export interface Span {
  min: number;
  max: number;
}

/** What a row group adds to its file. */
export interface GroupFacts {
  /** SHA-256 of its lines; see `Section`. */
  sha256: string;
  /** Bytes of its lines, each with a line feed. */
  rawBytes: number;
  levelMask: number;
  seq: Span;
  commit: Span;
  timestamp: Span;
  receivedAt: Span;
}

/** A file that is built of row groups. */
export class MergedFile {
  readonly parts: Uint8Array[] = [MAGIC];
  readonly groups: RowGroupMeta[] = [];
  readonly blocks: Block[] = [];
  readonly sections: Section[] = [];
  readonly #hash = createHash("sha256").update(MAGIC);
  size = MAGIC.length;
  count = 0;
  rawBytes = 0;
  firstSeq = 0;
  lastSeq = 0;
  readonly commit = emptySpan();
  readonly timestamp = emptySpan();
  readonly receivedAt = emptySpan();

  /** @throws RangeError if the row group does not follow those before it */
  add({ parts, meta, bytes }: EncodedGroup, facts: GroupFacts): void {
    const { rawBytes, levelMask, seq, timestamp } = facts;
    if (seq.min <= this.lastSeq) throw new RangeError("The row groups are not in order of seq.");
    for (const part of parts) {
      this.parts.push(part);
      this.#hash.update(part);
    }
    const start = this.size - MAGIC.length;
    this.blocks.push({
      firstIndex: this.count,
      lines: meta.rows,
      rawBytes,
      start,
      end: start + bytes,
      minTimestamp: timestamp.min,
      maxTimestamp: timestamp.max,
      levelMask,
    });
    this.groups.push(meta);
    this.sections.push({ rows: meta.rows, sha256: facts.sha256 });
    if (this.count === 0) this.firstSeq = seq.min;
    this.lastSeq = seq.max;
    this.count += meta.rows;
    this.rawBytes += rawBytes;
    this.size += bytes;
    widen(this.commit, facts.commit);
    widen(this.timestamp, timestamp);
    widen(this.receivedAt, facts.receivedAt);
  }

  finish(footer: Uint8Array): { parts: Uint8Array[]; size: number; sha256: string } {
    const sha256 = this.#hash.update(footer).digest("hex");
    return { parts: [...this.parts, footer], size: this.size + footer.length, sha256 };
  }
}

function emptySpan(): Span {
  return { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
}

function widen(span: Span, { min, max }: Span): void {
  if (min < span.min) span.min = min;
  if (max > span.max) span.max = max;
}
