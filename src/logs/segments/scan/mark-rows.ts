import { detachBuffer } from "../../../platform/isolate-memory.ts";
import {
  type Booleans,
  type ColumnValues,
  type NumberColumn,
  releaseColumn,
  type TextColumn,
  type Texts,
} from "../decode/column-values.ts";
import type { NumberRange } from "../decode/segment-reader.ts";
import type { OpenGroup } from "./open-group.ts";
import { type Selection, SMALL } from "./selection.ts";
import type { TextTest } from "./text-test.ts";
import type { NumberTest, ValueTest } from "./value-test.ts";

/** What a test says about the values that columns have. */
type ColumnValueTest = Pick<ValueTest, "numbers" | "texts" | "false" | "true">;

/**
 * Marks the rows of a selection whose value in a column holds.
 * @param marks by row; those of other rows are not changed, or are marked as well
 */
export function markRows(column: ColumnValues, test: ColumnValueTest, selection: Selection, marks: Uint8Array): void {
  switch (column.kind) {
    case "numbers":
    case "indexedNumbers":
      if (test.numbers !== null) markNumbers(column, test.numbers, selection, marks);
      return;
    case "texts":
    case "indexedTexts":
      if (test.texts !== null) markTexts(column, test.texts, selection, marks);
      return;
    case "booleans":
      markBooleans(column, test, selection, marks);
  }
}

/**
 * Keeps the rows of a selection whose number holds.
 * @param range of all numbers; `null` if it is not known
 */
export function keepNumbers(
  column: NumberColumn,
  test: NumberTest,
  selection: Selection,
  range: NumberRange,
  isInteger: boolean,
): void {
  if (column.kind === "numbers" && column.validity === null && test.isInterval) {
    const isSmall = isInteger && range !== null && range.min >= -SMALL && range.max <= SMALL;
    selection.keepBetween(column.values, test.low, test.high, isSmall);
    return;
  }
  if (column.kind === "indexedNumbers") {
    const held = heldNumbers(column.dictionary, test);
    selection.keepHeld(column.indices, held);
    detachBuffer(held);
    return;
  }
  const marks = new Uint8Array(selection.size);
  markNumbers(column, test, selection, marks);
  selection.keep(marks);
  detachBuffer(marks);
}

/** Returns how many values of a column are tested for the rows of a selection. */
export function valuesIn(column: ColumnValues, { count }: Selection): number {
  return "dictionary" in column ? column.dictionary.length : count;
}

/** Returns which numbers of a dictionary hold; see `markHeld`. */
function heldNumbers(dictionary: Float64Array, test: NumberTest): Uint8Array {
  const held = new Uint8Array(dictionary.length + 1);
  for (let index = 0; index < dictionary.length; index++) held[index] = test.holds(dictionary[index] ?? 0) ? 1 : 0;
  return held;
}

function markNumbers(column: NumberColumn, test: NumberTest, selection: Selection, marks: Uint8Array): void {
  if (column.kind === "indexedNumbers") {
    markHeld(column.indices, heldNumbers(column.dictionary, test), selection, marks);
    return;
  }
  const { values, validity } = column;
  const { rows, size } = selection;
  const { low, high } = test;
  if (test.isInterval && rows === null) {
    if (validity === null) {
      for (let row = 0; row < size; row++) {
        const value = values[row] ?? 0;
        if (value >= low && value <= high) marks[row] = 1;
      }
      return;
    }
    for (let row = 0; row < size; row++) {
      const value = values[row] ?? 0;
      if (value >= low && value <= high && validity[row] === 1) marks[row] = 1;
    }
    return;
  }
  const count = rows?.length ?? size;
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    if (test.holds(values[row] ?? 0) && (validity === null || validity[row] === 1)) marks[row] = 1;
  }
}

/** Marks the rows of a selection whose string in a column holds. @throws MalformedFile */
export function markTextColumn(
  group: OpenGroup,
  index: number,
  test: TextTest,
  selection: Selection,
  marks: Uint8Array,
): void {
  const { inPages } = test;
  const column =
    inPages === null ? group.texts(index, selection.rows) : group.scan(index, selection.rows, inPages, marks);
  if (column === null) return;
  group.meter.add(valuesIn(column, selection) * test.valueWork);
  markTexts(column, test, selection, marks);
  releaseColumn(column);
}

function markTexts(column: TextColumn, test: TextTest, selection: Selection, marks: Uint8Array): void {
  if (column.kind === "indexedTexts") {
    const { dictionary, indices } = column;
    const held = new Uint8Array(dictionary.length + 1);
    for (let index = 0; index < dictionary.length; index++) held[index] = test.holds(dictionary, index) ? 1 : 0;
    markHeld(indices, held, selection, marks);
    return;
  }
  const { texts, validity } = column;
  const { rows } = selection;
  const count = rows?.length ?? selection.size;
  for (let at = 0; at < count; at++) {
    const row: number = rows === null ? at : (rows[at] ?? 0);
    if ((validity === null || validity[row] === 1) && test.holds(texts, row)) marks[row] = 1;
  }
}

/** @param held 0 or 1 by index in the dictionary, and 0 at its end for rows without a value, which have index -1 */
export function markHeld(indices: Int32Array, held: Uint8Array, selection: Selection, marks: Uint8Array): void {
  const { rows } = selection;
  const none = held.length - 1;
  // Without a branch on what holds, which a processor would often predict wrongly.
  if (rows === null) {
    for (let row = 0; row < indices.length; row++) {
      const index = indices[row] ?? -1;
      marks[row] = (marks[row] ?? 0) | (held[index < 0 ? none : index] ?? 0);
    }
    return;
  }
  for (let at = 0; at < rows.length; at++) {
    const row: number = rows[at] ?? 0;
    const index = indices[row] ?? -1;
    marks[row] = (marks[row] ?? 0) | (held[index < 0 ? none : index] ?? 0);
  }
}

function markBooleans({ values }: Booleans, test: ColumnValueTest, selection: Selection, marks: Uint8Array): void {
  const { rows } = selection;
  const count = rows?.length ?? selection.size;
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    const value = values[row] ?? -1;
    if ((value === 1 && test.true) || (value === 0 && test.false)) marks[row] = 1;
  }
}

/** Marks the rows of a selection that have a value in a column. */
export function markPresent(column: ColumnValues, { rows, size }: Selection, marks: Uint8Array): void {
  const count = rows?.length ?? size;
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    if (hasValue(column, row)) marks[row] = 1;
  }
}

export function hasValue(column: ColumnValues, row: number): boolean {
  switch (column.kind) {
    case "texts":
    case "numbers":
      return column.validity === null || column.validity[row] === 1;
    case "booleans":
      return (column.values[row] ?? -1) >= 0;
    default:
      return (column.indices[row] ?? -1) >= 0;
  }
}

/** Strings of a column: those of its dictionary, or of its rows. */
export function textsOf(column: TextColumn): Texts {
  return column.kind === "texts" ? column.texts : column.dictionary;
}
