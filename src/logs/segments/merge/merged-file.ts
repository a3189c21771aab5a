import { createHash } from "node:crypto";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import type { Block } from "../../cold/format/batch-table.ts";
import { type ChunkMeta, MAGIC, type RowGroupMeta } from "../parquet/metadata.ts";
import type { Section } from "../properties.ts";

/** Smallest and largest value of a column. */
export interface Span {
  min: number;
  max: number;
}

/** What a row group adds to its file. */
export interface GroupFacts {
  /** Hashes of its lines. */
  sections: readonly Section[];
  /** Bytes of its lines, each with a line feed. */
  rawBytes: number;
  levelMask: number;
  seq: Span;
  commit: Span;
  timestamp: Span;
  receivedAt: Span;
}

/** Bytes that are hashed between two pauses. */
const HASHED_BYTES = 1024 * 1024;

/** A column of a row group. */
export interface Chunk {
  meta: ChunkMeta;
  bytes: Uint8Array;
}

/** A file that is built of row groups. Each column of a row group is held in a buffer of its own until the end. */
export class MergedFile {
  /** By row group and column. */
  readonly #groups: { rows: number; chunks: Chunk[] }[] = [];
  /** All columns in the order of the file. */
  #placed: Chunk[] = [];
  readonly blocks: Block[] = [];
  readonly sections: Section[] = [];
  size = MAGIC.length;
  count = 0;
  rawBytes = 0;
  firstSeq = 0;
  lastSeq = 0;
  readonly commit = emptySpan();
  readonly timestamp = emptySpan();
  readonly receivedAt = emptySpan();

  /**
   * @param chunks its columns in order, which the file frees
   * @throws RangeError if the row group does not follow those before it
   */
  add(rows: number, chunks: Chunk[], facts: GroupFacts): void {
    const { rawBytes, levelMask, seq, timestamp } = facts;
    if (seq.min <= this.lastSeq) throw new RangeError("The row groups are not in order of seq.");
    const start = this.size - MAGIC.length;
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
    this.#groups.push({ rows, chunks });
    this.size += bytes;
    this.blocks.push({
      firstIndex: this.count,
      lines: rows,
      rawBytes,
      start,
      end: start + bytes,
      minTimestamp: timestamp.min,
      maxTimestamp: timestamp.max,
      levelMask,
    });
    this.sections.push(...facts.sections);
    if (this.count === 0) this.firstSeq = seq.min;
    this.lastSeq = seq.max;
    this.count += rows;
    this.rawBytes += rawBytes;
    widen(this.commit, facts.commit);
    widen(this.timestamp, timestamp);
    widen(this.receivedAt, facts.receivedAt);
  }

  /**
   * Puts the columns in their order in the file. Column by column, a column of all row groups is one range of the file; its
   * row groups are then in many. After the last row group.
   */
  place(isByColumn: boolean): RowGroupMeta[] {
    const columns = this.#groups[0]?.chunks.length ?? 0;
    this.#placed = isByColumn
      ? Array.from({ length: columns }, (_, column) =>
          this.#groups.flatMap(({ chunks }) => chunks[column] ?? []),
        ).flat()
      : this.#groups.flatMap(({ chunks }) => chunks);
    let at = MAGIC.length;
    for (const chunk of this.#placed) {
      const { offset, dataOffset, storedBytes } = chunk.meta;
      chunk.meta = { ...chunk.meta, offset: at, dataOffset: at + dataOffset - offset };
      at += storedBytes;
    }
    return this.#groups.map(({ rows, chunks }) => ({ rows, chunks: chunks.map(({ meta }) => meta) }));
  }

  /** Returns the whole file, after `place`. */
  *finish(footer: Uint8Array): Generator<null, { bytes: Uint8Array; sha256: string }> {
    const file = new Uint8Array(this.size + footer.length);
    file.set(MAGIC);
    for (const { meta, bytes } of this.#placed) {
      file.set(bytes, meta.offset);
      detachBuffer(bytes);
    }
    file.set(footer, this.size);
    yield null;
    const hash = createHash("sha256");
    for (let at = 0; at < file.length; at += HASHED_BYTES) {
      hash.update(file.subarray(at, at + HASHED_BYTES));
      yield null;
    }
    return { bytes: file, sha256: hash.digest("hex") };
  }
}

/** Yields each column of a row group with a copy of its bytes. @param parts of all columns in order */
export function* copiesOf(parts: readonly Uint8Array[], chunks: readonly ChunkMeta[]): Generator<Chunk> {
  let part = 0;
  for (const meta of chunks) {
    const bytes = new Uint8Array(meta.storedBytes);
    for (let at = 0; at < bytes.length; part++) {
      const next = parts[part] ?? new Uint8Array();
      bytes.set(next, at);
      at += next.length;
    }
    yield { meta, bytes };
  }
}

function emptySpan(): Span {
  return { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
}

/** Returns what row groups add together. */
export function joinedFacts(all: readonly GroupFacts[]): GroupFacts {
  const spans = { seq: emptySpan(), commit: emptySpan(), timestamp: emptySpan(), receivedAt: emptySpan() };
  for (const facts of all) {
    widen(spans.seq, facts.seq);
    widen(spans.commit, facts.commit);
    widen(spans.timestamp, facts.timestamp);
    widen(spans.receivedAt, facts.receivedAt);
  }
  return {
    ...spans,
    sections: all.flatMap(({ sections }) => sections),
    rawBytes: all.reduce((sum, { rawBytes }) => sum + rawBytes, 0),
    levelMask: all.reduce((mask, { levelMask }) => mask | levelMask, 0),
  };
}

function widen(span: Span, { min, max }: Span): void {
  if (min < span.min) span.min = min;
  if (max > span.max) span.max = max;
}
