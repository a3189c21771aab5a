import { detachBuffer } from "../../../platform/isolate-memory.ts";

/** Decoded columns: typed arrays, one element a row. */

/** Strings in one buffer. String `i` has the bytes from `offsets[i]` to `offsets[i + 1]`. UTF-8. */
export class Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
  /** Has the memory of `bytes`, which may be a part of it. */
  readonly owner: Uint8Array;
  /** Whether it is known that all characters are ASCII. */
  readonly isAscii: boolean;

  constructor(bytes: Uint8Array, offsets: Int32Array, owner = bytes, isAscii = false) {
    this.bytes = bytes;
    this.offsets = offsets;
    this.owner = owner;
    this.isAscii = isAscii;
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
  releaseRows(column);
  if (column.kind === "indexedTexts") releaseTexts(column.dictionary);
  else if (column.kind === "indexedNumbers") detachBuffer(column.dictionary);
}

/** Frees what a column has for each row, and not its dictionary. */
export function releaseRows(column: ColumnValues): void {
  switch (column.kind) {
    case "texts":
      releaseTexts(column.texts);
      if (column.validity !== null) detachBuffer(column.validity);
      return;
    case "numbers":
      detachBuffer(column.values);
      if (column.validity !== null) detachBuffer(column.validity);
      return;
    case "booleans":
      detachBuffer(column.values);
      return;
    default:
      detachBuffer(column.indices);
  }
}

export function releaseTexts({ owner, offsets }: Texts): void {
  detachBuffer(owner);
  detachBuffer(offsets);
}
