import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { releaseColumn } from "../decode/column-values.ts";
import { decodeChunk } from "../decode/decode-chunk.ts";
import type { EncodedGroup } from "../encode/encode-group.ts";
import { encodeNumbers } from "../encode/number-column.ts";
import type { EncodedColumn } from "../encode/text-column.ts";
import { type SchemaColumn, TYPE } from "../parquet/metadata.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { encodeNulls } from "./copy-group.ts";
import { copyAll, hasDictionary, numberOf, rangeOf } from "./copy-pages.ts";
import { joinTexts, type MergeStep } from "./join-texts.ts";
import { type Chunk, copiesOf, type GroupFacts, joinedFacts, type MergedFile } from "./merged-file.ts";

/**
 * Joins row groups into a larger one. The pages of most columns are copied as they are. Columns with values that repeat get one dictionary of
 * sorted strings, which is much smaller than the dictionaries or the strings of all row groups.
 */

/** A row group in memory. */
export interface JoinableGroup {
  rows: number;
  /** In the order of the schema's columns. */
  chunks: Chunk[];
  facts: GroupFacts;
}

/** Bytes of the lines of a joined row group: readers decode its columns as a whole. */
const JOINED_BYTES = 20 * 1024 * 1024;
/** Rows of a joined row group, as a multiple of the goal, at most. */
const MAX_JOINED = 1.25;
/** Span of integers from which on their differences are surely smaller than a dictionary. */
const MAX_SPAN = 65_536;

/** Returns the row group, or `null` if there is one, or the joined one would not be smaller. Both refer to the same bytes. */
export function* joinGroups(
  groups: readonly JoinableGroup[],
  schema: readonly SchemaColumn[],
): Generator<MergeStep, JoinableGroup | null> {
  if (groups.length < 2) return null;
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const joined: Chunk[] = [];
  let [before, after] = [0, 0];
  for (const [index, column] of schema.entries()) {
    const chunks = groups.flatMap((group) => group.chunks[index] ?? []);
    const { writer, min, max } = yield* joinColumn(column, chunks, rows);
    writer.elsewhere = chunks.reduce((sum, { meta }) => sum + meta.elsewhere, 0);
    const { parts, meta } = writer.finish(0, min, max);
    joined.push({ meta, bytes: bytesOf(parts) });
    // Copied pages are those of the row groups, which may be needed.
    const kept = new Set(chunks.map(({ bytes }) => bytes));
    for (const part of parts) if (!kept.has(part)) detachBuffer(part);
    before += chunks.reduce((sum, { meta: { storedBytes } }) => sum + storedBytes, 0);
    after += meta.storedBytes;
    yield null;
  }
  if (after >= before) {
    for (const { bytes } of joined) detachBuffer(bytes);
    return null;
  }
  return { rows, chunks: joined, facts: joinedFacts(groups.map(({ facts }) => facts)) };
}

function bytesOf(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function* joinColumn(
  column: SchemaColumn,
  chunks: readonly Chunk[],
  rows: number,
): Generator<MergeStep, EncodedColumn> {
  if (chunks.every(({ meta }) => meta.nulls === meta.values)) return yield* encodeNulls(rows, column.type);
  if (column.type === TYPE.bytes) return yield* joinTexts(column, chunks, rows);
  if (column.type === TYPE.boolean || !isRecoded(column, chunks)) return copyAll(column, chunks);
  return joinNumbers(column, chunks, rows);
}

/** Whether a dictionary of all numbers may be smaller than their pages, or has to be made. */
function isRecoded({ type, isRequired }: SchemaColumn, chunks: readonly Chunk[]): boolean {
  if (chunks.some(hasDictionary)) return true;
  if (isRequired || type !== TYPE.int64) return false;
  const { min, max } = rangeOf(type, chunks);
  return min !== null && max !== null && numberOf(max, type) - numberOf(min, type) < MAX_SPAN;
}

function joinNumbers(column: SchemaColumn, chunks: readonly Chunk[], rows: number): EncodedColumn {
  const values = new Float64Array(rows);
  const validity = new Uint8Array(rows);
  let [present, row] = [0, 0];
  for (const { meta, bytes } of chunks) {
    const decoded = decodeChunk(column, meta, bytes);
    if (decoded.kind !== "numbers" && decoded.kind !== "indexedNumbers")
      throw new MalformedFile("Numbers are missing.");
    for (let own = 0; own < meta.values; own++, row++) {
      const index = decoded.kind === "numbers" ? own : (decoded.indices[own] ?? -1);
      if (index < 0 || (decoded.kind === "numbers" && decoded.validity?.[own] === 0)) continue;
      validity[row] = 1;
      values[present++] = (decoded.kind === "numbers" ? decoded.values[index] : decoded.dictionary[index]) ?? 0;
    }
    releaseColumn(decoded);
  }
  const type = column.type === TYPE.double ? TYPE.double : TYPE.int64;
  const numbers = { values, present, validity: present === rows ? null : validity };
  const encoded = encodeNumbers(rows, numbers, type, column.isRequired, true);
  detachBuffer(values);
  detachBuffer(validity);
  return encoded;
}

export interface JoinOptions {
  /** Rows of a row group that others are joined to, about; 0 joins none. */
  joinRows: number;
  /** Rows of the file if they are known, so that joined row groups have equal sizes; otherwise 0. */
  rows: number;
}

/** Collects row groups of a file, and joins neighbors. */
export class GroupJoiner {
  readonly #file: MergedFile;
  readonly #options: JoinOptions;
  #waiting: JoinableGroup[] = [];
  #rows = 0;
  #rawBytes = 0;

  constructor(file: MergedFile, options: JoinOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Adds a copy of a row group. */
  *add({ parts, meta }: EncodedGroup, facts: GroupFacts, schema: readonly SchemaColumn[]): Generator<MergeStep, void> {
    if (this.#rows > 0 && this.#isFull(meta.rows, facts.rawBytes)) yield* this.join(schema);
    this.#waiting.push({ rows: meta.rows, chunks: [...copiesOf(parts, meta.chunks)], facts });
    this.#rows += meta.rows;
    this.#rawBytes += facts.rawBytes;
  }

  /** Puts the row groups in the file: joined, if that takes fewer bytes. */
  *join(schema: readonly SchemaColumn[]): Generator<MergeStep, void> {
    const groups = this.#waiting;
    [this.#waiting, this.#rows, this.#rawBytes] = [[], 0, 0];
    const joined = yield* joinGroups(groups, schema);
    if (joined === null) for (const { rows, chunks, facts } of groups) this.#file.add(rows, chunks, facts);
    else {
      this.#file.add(joined.rows, joined.chunks, joined.facts);
      for (const { bytes } of groups.flatMap(({ chunks }) => chunks)) detachBuffer(bytes);
    }
  }

  /** Whether the row group that is being joined ends before the next one. */
  #isFull(rows: number, rawBytes: number): boolean {
    const { joinRows, rows: all } = this.#options;
    const end = this.#rows + rows;
    if (joinRows === 0 || end > MAX_JOINED * joinRows || this.#rawBytes + rawBytes > JOINED_BYTES) return true;
    // Row groups of equal size: filters of a file have the bytes of the largest one.
    const goal = all === 0 ? joinRows : all / Math.ceil(all / joinRows);
    const start = this.#file.count;
    const wanted = goal * (Math.round(start / goal) + 1);
    return Math.abs(start + end - wanted) >= Math.abs(start + this.#rows - wanted);
  }
}
