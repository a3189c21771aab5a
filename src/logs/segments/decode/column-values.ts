import { detachBuffer } from "../../../platform/isolate-memory.ts";

/** Decoded columns: typed arrays, one element a row. */

/** Strings in one buffer, in UTF-8. String `i` has the bytes from `startOf(i)` to `endOf(i)`. */
export class Texts {
  readonly bytes: Uint8Array;
  /** Where each string begins, and where one behind the last would begin. */
  readonly starts: Int32Array;
  /** Has the memory of `bytes`, which may be a part of it. */
  readonly owner: Uint8Array;
  /** Bytes between a string and the next: those of a length if the strings are left where the file has them. */
  readonly gap: number;

  constructor(bytes: Uint8Array, starts: Int32Array, owner = bytes, gap = 0) {
    this.bytes = bytes;
    this.starts = starts;
    this.owner = owner;
    this.gap = gap;
  }

  get length(): number {
    return this.starts.length - 1;
  }

  startOf(index: number): number {
    return this.starts[index] ?? 0;
  }

  endOf(index: number): number {
    return (this.starts[index + 1] ?? 0) - this.gap;
  }

  /** Returns a view of a string's bytes. */
  bytesAt(index: number): Uint8Array {
    return this.bytes.subarray(this.startOf(index), this.endOf(index));
  }

  at(index: number): string {
    const { buffer, byteOffset } = this.bytes;
    const start = this.startOf(index);
    return Buffer.from(buffer, byteOffset + start, this.endOf(index) - start).toString("utf8");
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

export function releaseTexts({ owner, starts }: Texts): void {
  detachBuffer(owner);
  detachBuffer(starts);
}
