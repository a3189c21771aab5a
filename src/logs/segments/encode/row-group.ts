import { isUtf8 } from "node:buffer";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { HEAD_BYTES, type SourceLine } from "../../cold/format/lines.ts";
import { parseStoredLine } from "../../entry.ts";
import { TEXT_MEMBERS } from "../columns.ts";
import { classOf, VALUE_CLASSES } from "./line-shape.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Values of `TEXT_MEMBERS` of a line that is stored whole; `null` if it does not have them. */
export type WholeMembers = readonly (string | null)[];

const NO_MEMBERS: WholeMembers = TEXT_MEMBERS.map(() => null);
const FIRST_ROWS = 1024;
/** See `EncodeOptions`. Programs with so many kinds of entries are rare, and their shapes take little. */
export const EXACT_SHAPES = 256;

/**
 * The lines of one row group, each split into its values but not copied: 40 bytes a line and 5 a value beside the
 * batches' bodies.
 */
export class RowGroup {
  readonly splitter: LineSplitter;
  rows = 0;
  /** Bytes of the lines. */
  rawBytes = 0;
  /** By row. */
  seq = new Float64Array(FIRST_ROWS);
  commit = new Float64Array(FIRST_ROWS);
  timestamp = new Float64Array(FIRST_ROWS);
  receivedAt = new Float64Array(FIRST_ROWS);
  /** Index of the shape; -1 if the line is stored whole. */
  shape = new Int32Array(FIRST_ROWS);
  /** Index of the first value in `ends` and `kinds`. */
  first = new Int32Array(FIRST_ROWS);
  start = new Int32Array(FIRST_ROWS);
  end = new Int32Array(FIRST_ROWS);
  readonly bodies: Uint8Array[] = [];
  /** By value. */
  ends = new Int32Array(FIRST_ROWS * 8);
  kinds = new Uint8Array(FIRST_ROWS * 8);
  #values = 0;
  readonly #whole = new Map<number, WholeMembers>();
  /** The body that was checked last, and whether it is UTF-8. */
  #checked: Uint8Array | null = null;
  #isUtf8 = true;

  constructor(exactShapes = EXACT_SHAPES) {
    this.splitter = new LineSplitter(exactShapes);
  }

  /** @throws RangeError if the line has no time at its position or is not an entry */
  add({ batch, seq, timestamp, isTimed, start, end }: SourceLine): void {
    if (!Number.isFinite(timestamp)) throw new RangeError("A line has no time at its position.");
    const row = this.rows++;
    if (row === this.seq.length) this.#growRows();
    const { body } = batch;
    this.rawBytes += end - start + 1;
    this.seq[row] = seq;
    this.commit[row] = batch.commit;
    this.timestamp[row] = timestamp;
    this.receivedAt[row] = batch.receivedAt;
    this.start[row] = start;
    this.end[row] = end;
    this.first[row] = this.#values;
    this.bodies[row] = body;
    const shape = isTimed && this.#isText(body) ? this.splitter.split(body, start, end) : -1;
    this.shape[row] = shape;
    if (shape < 0) this.#whole.set(row, wholeMembers(body.subarray(start, end)));
    else this.#record(shape);
  }

  /** Bytes of a row's line. */
  line(row: number): Uint8Array {
    return (this.bodies[row] ?? new Uint8Array()).subarray(this.start[row], this.end[row]);
  }

  /** Index of a value's first byte in its body. */
  valueStart(row: number, slot: number): number {
    const piece = this.splitter.shapes[this.shape[row] ?? 0]?.pieces[slot]?.length ?? 0;
    const before =
      slot === 0 ? (this.start[row] ?? 0) + HEAD_BYTES : (this.ends[(this.first[row] ?? 0) + slot - 1] ?? 0);
    return before + piece;
  }

  /** Stores a row whole although it was split. */
  makeWhole(row: number): void {
    this.shape[row] = -1;
    this.#whole.set(row, wholeMembers(this.line(row)));
  }

  /** Members of a row that is stored whole. */
  wholeMembers(row: number): WholeMembers {
    return this.#whole.get(row) ?? NO_MEMBERS;
  }

  /** Frees the bodies of its lines, which its caller owns. @param kept has lines of the next row group */
  releaseBodies(kept: Uint8Array | null): void {
    for (const body of new Set(this.bodies)) if (body !== kept) detachBuffer(body);
  }

  /** Frees its memory, after the row group was encoded. The bodies stay. */
  release(): void {
    const { seq, commit, timestamp, receivedAt, shape, first, start, end, ends, kinds, splitter } = this;
    const buffers = [seq, commit, timestamp, receivedAt, shape, first, start, end, ends, kinds];
    for (const buffer of [...buffers, splitter.ends, splitter.kinds]) detachBuffer(buffer);
  }

  #isText(body: Uint8Array): boolean {
    if (this.#checked !== body) {
      this.#checked = body;
      this.#isUtf8 = isUtf8(body);
    }
    return this.#isUtf8;
  }

  #record(index: number): void {
    const { ends, kinds, shapes } = this.splitter;
    const shape = shapes[index];
    if (shape === undefined) return;
    const { slots, firstData, counts } = shape;
    shape.lines++;
    if (this.#values + slots > this.ends.length) this.#growValues(slots);
    for (let slot = 0; slot < slots; slot++) {
      this.ends[this.#values + slot] = ends[slot] ?? 0;
      const kind = kinds[slot] ?? 0;
      this.kinds[this.#values + slot] = kind;
      const valueClass = classOf(kind);
      if (slot < firstData || valueClass < 0) continue;
      const at = (slot - firstData) * VALUE_CLASSES + valueClass;
      counts[at] = (counts[at] ?? 0) + 1;
    }
    this.#values += slots;
  }

  #growRows(): void {
    const length = this.seq.length * 2;
    this.seq = grown(this.seq, new Float64Array(length));
    this.commit = grown(this.commit, new Float64Array(length));
    this.timestamp = grown(this.timestamp, new Float64Array(length));
    this.receivedAt = grown(this.receivedAt, new Float64Array(length));
    this.shape = grown(this.shape, new Int32Array(length));
    this.first = grown(this.first, new Int32Array(length));
    this.start = grown(this.start, new Int32Array(length));
    this.end = grown(this.end, new Int32Array(length));
  }

  #growValues(more: number): void {
    const length = Math.max(this.ends.length * 2, this.#values + more);
    this.ends = grown(this.ends, new Int32Array(length));
    this.kinds = grown(this.kinds, new Uint8Array(length));
  }
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  detachBuffer(from);
  return to;
}

/** @throws RangeError if the line is not an entry */
function wholeMembers(line: Uint8Array): WholeMembers {
  const entry = parseStoredLine(utf8(line));
  if (entry === null) throw new RangeError("A line is not an entry.");
  const members: Record<string, unknown> = { ...entry };
  return TEXT_MEMBERS.map((name) => {
    const value = members[name];
    return typeof value === "string" ? value : null;
  });
}

export function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
