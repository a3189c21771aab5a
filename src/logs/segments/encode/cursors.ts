import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { HEAD_BYTES } from "../../cold/format/lines.ts";
import { type DataColumn, type DataType, FIRST_MEMBER_COLUMN, pathKey } from "../columns.ts";
import type { Validity } from "../parquet/chunk-writer.ts";
import { KIND, numberAt } from "../value-scanner.ts";
import type { NumberValues } from "./number-column.ts";
import type { RowGroup } from "./row-group.ts";
import type { TextCursor } from "./text-column.ts";
import { unescapeText } from "./unescape.ts";

/** Kinds of value that a column of each type takes. */
const KINDS: Record<DataType, readonly number[]> = {
  text: [KIND.text, KIND.escapedText],
  integer: [KIND.integer],
  number: [KIND.integer, KIND.number],
  boolean: [KIND.true, KIND.false],
};

/** Whether a column of a type takes a value of a kind. */
export function takes(type: DataType, kind: number): boolean {
  return KINDS[type].includes(kind);
}

/** Finds the values of one column in a row group, to which no line is added any more. */
class SlotFinder {
  readonly #shapes: Int32Array;
  readonly #firsts: Int32Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #kinds: Uint8Array;
  /** Slot of the column in each shape; -1 if the shape does not have its path. */
  readonly #slots: Int32Array;
  /** Bytes of each shape before the value. */
  readonly #pieces: Int32Array;
  /** Smallest and largest kind that the column takes. */
  readonly #min: number;
  readonly #max: number;
  start = 0;
  end = 0;
  kind = 0;

  constructor(group: RowGroup, slots: Int32Array, kinds: readonly number[]) {
    const { shape, first, start, ends, kinds: allKinds, splitter } = group;
    [this.#shapes, this.#firsts, this.#starts, this.#ends, this.#kinds] = [shape, first, start, ends, allKinds];
    this.#slots = slots;
    this.#pieces = Int32Array.from(splitter.shapes, ({ pieces }, index) => pieces[slots[index] ?? -1]?.length ?? 0);
    this.#min = Math.min(...kinds);
    this.#max = Math.max(...kinds);
  }

  find(row: number): boolean {
    const shape = this.#shapes[row] ?? -1;
    const slot = shape < 0 ? -1 : (this.#slots[shape] ?? -1);
    if (slot < 0) return false;
    const at = (this.#firsts[row] ?? 0) + slot;
    const kind = this.#kinds[at] ?? 0;
    if (kind < this.#min || kind > this.#max) return false;
    this.kind = kind;
    const before = slot === 0 ? (this.#starts[row] ?? 0) + HEAD_BYTES : (this.#ends[at - 1] ?? 0);
    this.start = before + (this.#pieces[shape] ?? 0);
    this.end = this.#ends[at] ?? 0;
    return true;
  }
}

function dataFinder(group: RowGroup, { path, type }: DataColumn): SlotFinder {
  const key = pathKey(path);
  const slots = group.splitter.shapes.map(({ data, firstData }) => {
    const slot = data.findIndex((known) => known.key === key);
    return slot < 0 ? -1 : firstData + slot;
  });
  return new SlotFinder(group, Int32Array.from(slots), KINDS[type]);
}

const encoder = new TextEncoder();

/** Gives the strings of a column. */
class FoundText implements TextCursor {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  readonly #group: RowGroup;
  readonly #finder: SlotFinder;
  /** Index in `TEXT_MEMBERS`, for lines that are stored whole; -1 for a column of `data`. */
  readonly #member: number;
  /** The last string without its escapes. */
  #unescaped = new Uint8Array(0);

  constructor(group: RowGroup, finder: SlotFinder, member: number) {
    this.#group = group;
    this.#finder = finder;
    this.#member = member;
  }

  find(row: number): boolean {
    const finder = this.#finder;
    if (!finder.find(row)) return this.#member >= 0 && (this.#group.shape[row] ?? 0) < 0 && this.#findWhole(row);
    const body = this.#group.bodies[row] ?? this.bytes;
    if (finder.kind === KIND.text) {
      this.bytes = body;
      this.start = finder.start + 1;
      this.end = finder.end - 1;
    } else this.#unescape(body, finder.start + 1, finder.end - 1);
    return true;
  }

  release(): void {
    detachBuffer(this.#unescaped);
  }

  #unescape(body: Uint8Array, start: number, end: number): void {
    if (end - start > this.#unescaped.length) {
      detachBuffer(this.#unescaped);
      this.#unescaped = new Uint8Array((end - start) * 2);
    }
    this.bytes = this.#unescaped;
    this.start = 0;
    this.end = unescapeText(body, start, end, this.#unescaped);
  }

  #findWhole(row: number): boolean {
    const text = this.#group.wholeMembers(row)[this.#member] ?? null;
    if (text !== null) this.#set(encoder.encode(text));
    return text !== null;
  }

  #set(text: Uint8Array): void {
    this.bytes = text;
    this.start = 0;
    this.end = text.length;
  }
}

/** @param column index of one of the columns that hold a text member of an entry */
export function memberText(group: RowGroup, column: number): TextCursor {
  const member = column - FIRST_MEMBER_COLUMN;
  const slots = group.splitter.shapes.map(({ members }) => members[member] ?? -1);
  return new FoundText(group, new SlotFinder(group, Int32Array.from(slots), KINDS.text), member);
}

export function dataText(group: RowGroup, column: DataColumn): TextCursor {
  return new FoundText(group, dataFinder(group, column), -1);
}

/** Gives the strings that were made for some rows. */
export class MadeText implements TextCursor {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  readonly #textOf: (row: number) => Uint8Array | null;

  constructor(textOf: (row: number) => Uint8Array | null) {
    this.#textOf = textOf;
  }

  find(row: number): boolean {
    const text = this.#textOf(row);
    if (text === null) return false;
    this.bytes = text;
    this.end = text.length;
    return true;
  }
}

export function dataNumbers(group: RowGroup, column: DataColumn): NumberValues {
  const finder = dataFinder(group, column);
  const values = new Float64Array(group.rows);
  const validity = new Uint8Array(group.rows);
  let present = 0;
  for (let row = 0; row < group.rows; row++) {
    if (!finder.find(row)) continue;
    validity[row] = 1;
    values[present++] = numberAt(group.bodies[row] ?? new Uint8Array(), finder.start, finder.end);
  }
  return { values, present, validity: partial(validity, present) };
}

export function dataBooleans(
  group: RowGroup,
  column: DataColumn,
): { values: Uint8Array; present: number; validity: Validity } {
  const finder = dataFinder(group, column);
  const values = new Uint8Array(group.rows);
  const validity = new Uint8Array(group.rows);
  let present = 0;
  for (let row = 0; row < group.rows; row++) {
    if (!finder.find(row)) continue;
    validity[row] = 1;
    values[present++] = finder.kind === KIND.true ? 1 : 0;
  }
  return { values, present, validity: partial(validity, present) };
}

/** Returns which rows have a value, or frees it if all have one. */
function partial(validity: Uint8Array, present: number): Validity {
  if (present < validity.length) return validity;
  detachBuffer(validity);
  return null;
}
