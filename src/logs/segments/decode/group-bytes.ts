import { detachBuffer } from "../../../platform/isolate-memory.ts";
import type { ByteRange, SegmentReader } from "./segment-reader.ts";

/** Bytes between two wanted columns up to which they are read as one range: a request costs more than these bytes. */
const JOINED_BYTES = 32 * 1024;

/** The bytes of a row group's columns that were read so far. Positions are those of the file. */
export class GroupBytes {
  readonly #reader: SegmentReader;
  readonly #group: number;
  readonly #parts: { start: number; bytes: Uint8Array }[] = [];

  constructor(reader: SegmentReader, group: number) {
    this.#reader = reader;
    this.#group = group;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Returns the fewest ranges with the columns that were not read yet, in order. */
  missing(columns: Iterable<number>): ByteRange[] {
    const wanted = [...new Set(columns)]
      .map((column) => this.#reader.range(this.#group, column))
      .filter((range) => this.#partOf(range) === undefined)
      .sort((a, b) => a.start - b.start);
    const joined: ByteRange[] = [];
    for (const { start, end } of wanted) {
      const last = joined.at(-1);
      if (last !== undefined && start - last.end <= JOINED_BYTES) last.end = Math.max(last.end, end);
      else joined.push({ start, end });
    }
    return joined;
  }

  /** Adds bytes that were read. */
  add(start: number, bytes: Uint8Array): void {
    this.#parts.push({ start, bytes });
  }

  /** Returns the bytes of a column that was read. */
  chunk(column: number): Uint8Array {
    const range = this.#reader.range(this.#group, column);
    const part = this.#partOf(range);
    if (part === undefined) throw new RangeError("The column was not read.");
    return part.bytes.subarray(range.start - part.start, range.end - part.start);
  }

  /** Frees the bytes. */
  release(): void {
    for (const { bytes } of this.#parts) detachBuffer(bytes);
    this.#parts.length = 0;
  }

  #partOf({ start, end }: ByteRange) {
    return this.#parts.find((part) => part.start <= start && part.start + part.bytes.length >= end);
  }
}
