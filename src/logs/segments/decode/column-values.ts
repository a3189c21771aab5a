import { detachBuffer } from "../../../platform/isolate-memory.ts";

/** Decoded columns: typed arrays, one element a row. */

/** Strings in one buffer. String `i` has the bytes from `offsets[i]` to `offsets[i + 1]`. UTF-8. */
export class Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;

  constructor(bytes: Uint8Array, offsets: Int32Array) {
    this.bytes = bytes;
    this.offsets = offsets;
  }

  get length(): number {
    return this.offsets.length - 1;
  }

  /** Returns a view of a string's bytes. */
  bytesAt(index: number): Uint8Array {
    return this.bytes.subarray(this.offsets[index], this.offsets[index + 1]);
  }

  at(index: number): string {
    const { buffer, byteOffset } = this.bytes;
    const start = this.offsets[index] ?? 0;
    return Buffer.from(buffer, byteOffset + start, (this.offsets[index + 1] ?? 0) - start).toString("utf8");
  }
}

/** Whether a row has a value: 1 or 0 by row; `null` if all rows have one. */
export type RowValidity = Uint8Array | null;

/** A column of strings as stored: each row has a string of its own. Rows without a value have an empty one. */
export interface PlainTexts {
  kind: "texts";
  texts: Texts;
  validity: RowValidity;
}

/** A column of strings that repeat. */
export interface IndexedTexts {
  kind: "indexedTexts";
  dictionary: Texts;
  /** Index in the dictionary by row; -1 without a value. */
  indices: Int32Array;
}

/** A column of numbers. Rows without a value have 0. */
export interface PlainNumbers {
  kind: "numbers";
  values: Float64Array;
  validity: RowValidity;
}

/** A column of numbers that repeat: a test of a number can be made once for each of the dictionary. */
export interface IndexedNumbers {
  kind: "indexedNumbers";
  dictionary: Float64Array;
  /** Index in the dictionary by row; -1 without a value. */
  indices: Int32Array;
}

/** A column of booleans: 1, 0, or -1 without a value. */
export interface Booleans {
  kind: "booleans";
  values: Int8Array;
}

export type TextColumn = PlainTexts | IndexedTexts;
export type NumberColumn = PlainNumbers | IndexedNumbers;
export type ColumnValues = TextColumn | NumberColumn | Booleans;

/** Frees the memory of a column immediately. Neither the column nor views of it may be used afterwards. */
export function releaseColumn(column: ColumnValues): void {
  switch (column.kind) {
    case "texts":
      detachBuffer(column.texts.bytes);
      detachBuffer(bytesOf(column.texts.offsets));
      if (column.validity !== null) detachBuffer(column.validity);
      return;
    case "numbers":
      detachBuffer(bytesOf(column.values));
      if (column.validity !== null) detachBuffer(column.validity);
      return;
    case "booleans":
      detachBuffer(bytesOf(column.values));
      return;
    default:
      detachBuffer(bytesOf(column.indices));
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
