import { createHash } from "node:crypto";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
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

/** Bytes by which a buffer that is too small grows. */
const GROWTH_BYTES = 1024 * 1024;

/** A file that is built of row groups in one buffer, into which their bytes are copied. */
export class MergedFile {
  #buffer: Uint8Array;
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

  /** @param expected bytes of the file */
  constructor(expected: number) {
    this.#buffer = new Uint8Array(Math.max(expected, MAGIC.length));
    this.#buffer.set(MAGIC);
  }

  /** @throws RangeError if the row group does not follow those before it */
  add({ parts, meta, bytes }: EncodedGroup, facts: GroupFacts): void {
    const { rawBytes, levelMask, seq, timestamp } = facts;
    if (seq.min <= this.lastSeq) throw new RangeError("The row groups are not in order of seq.");
    const start = this.size - MAGIC.length;
    for (const part of parts) this.#write(part);
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
    widen(this.commit, facts.commit);
    widen(this.timestamp, timestamp);
    widen(this.receivedAt, facts.receivedAt);
  }

  /** Returns the whole file. */
  finish(footer: Uint8Array): { bytes: Uint8Array; sha256: string } {
    this.#write(footer);
    return { bytes: this.#buffer.subarray(0, this.size), sha256: this.#hash.digest("hex") };
  }

  #write(part: Uint8Array): void {
    const end = this.size + part.length;
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(end + GROWTH_BYTES);
      grown.set(this.#buffer.subarray(0, this.size));
      detachBuffer(this.#buffer);
      this.#buffer = grown;
    }
    this.#buffer.set(part, this.size);
    this.#hash.update(part);
    this.size = end;
  }
}

function emptySpan(): Span {
  return { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
}

function widen(span: Span, { min, max }: Span): void {
  if (min < span.min) span.min = min;
  if (max > span.max) span.max = max;
}
