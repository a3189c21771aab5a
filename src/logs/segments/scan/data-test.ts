import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { WORK } from "../../query/budget.ts";
import { releaseColumn } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { keepNumbers, markPresent, markRows, markTextColumn, valuesIn } from "./mark-rows.ts";
import { hasRest, type OpenGroup } from "./open-group.ts";
import type { DataTest } from "./prepared-filter.ts";
import type { Selection } from "./selection.ts";

/** How a test of `data` is made in one row group. */
export interface DataTestPlan {
  kind: "some";
  test: DataTest;
  /** Columns with values that may hold. */
  held: readonly number[];
  /** Further columns, of which only whether they have a value is needed. */
  present: readonly number[];
  needsShapes: boolean;
  needsRest: boolean;
}

/** `all`: every row passes. `none`: none does. */
export type DataVerdict = DataTestPlan | { kind: "all" } | { kind: "none" };

/** Decides by statistics what a test of `data` has to read. Lines that are whole in `rest` are not considered. */
export function planDataTest(reader: SegmentReader, group: number, test: DataTest): DataVerdict {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const columns = reader.columnsOf(test.condition.path).filter(({ index }) => reader.nulls(group, index) < rows);
  const all = reader.columnsOf(test.condition.path);
  const [first] = all;
  const needsRest = first === undefined ? hasRest(reader, group) : reader.elsewhere(group, first.index) > 0;
  const values = columns.reduce((sum, { index }) => sum + rows - reader.nulls(group, index), 0);
  const isComplete = values === rows;
  // Whether a path exists follows from the shapes, and for optional members from whether a column has a value.
  const held = columns.map(({ index }) => index).filter((index) => !test.object && mayHold(reader, group, index, test));
  const isPositive = isComplete && columns.every(({ index }) => holdsForAll(reader, group, index, test));
  if (isPositive) return { kind: test.isNegated ? "none" : "all" };
  const needsShapes = needsRest || (!isComplete && (test.null || test.object));
  if (held.length === 0 && !needsShapes) return { kind: test.isNegated ? "all" : "none" };
  const present = (test.null || test.object) && !isComplete ? columns.map(({ index }) => index) : [];
  return {
    kind: "some",
    test,
    held,
    present: present.filter((index) => !held.includes(index)),
    needsShapes,
    needsRest,
  };
}

/** Narrows a selection to the rows that pass. @throws MalformedFile */
export function* runDataTest(
  { test, held, present, needsShapes }: DataTestPlan,
  group: OpenGroup,
  selection: Selection,
): Generator<void> {
  const { meter } = group;
  const [only] = held;
  if (only !== undefined && held.length === 1 && present.length === 0 && !needsShapes && !test.isNegated) {
    const type = group.reader.dataTypeOf(only);
    if (test.numbers !== null && (type === "integer" || type === "number")) {
      meter.add(selection.count * WORK.columnRow);
      const column = group.numbers(only, selection.rows);
      const range = group.reader.numberRange(group.group, only);
      keepNumbers(column, test.numbers, selection, range, type === "integer");
      releaseColumn(column);
      return;
    }
  }
  const marks = new Uint8Array(group.rows);
  const presence = present.length > 0 || test.null ? new Uint8Array(group.rows) : null;
  for (const index of [...held, ...present]) {
    meter.add(selection.count * WORK.columnRow);
    if (presence === null && test.texts !== null && group.reader.dataTypeOf(index) === "text") {
      markTextColumn(group, index, test.texts, selection, marks);
      if (meter.isDue) yield;
      continue;
    }
    const column = group.decode(index, selection.rows);
    if (group.reader.dataTypeOf(index) === "text")
      meter.add(valuesIn(column, selection) * (test.texts?.valueWork ?? 0));
    if (held.includes(index)) markRows(column, test, selection, marks);
    if (presence !== null) markPresent(column, selection, presence);
    releaseColumn(column);
    if (meter.isDue) yield;
  }
  const rest = needsShapes ? yield* markByShapes(test, group, selection, marks, presence) : null;
  if (test.isNegated) for (let row = 0; row < marks.length; row++) marks[row] = (marks[row] ?? 0) ^ 1;
  if (rest !== null && rest.length > 0) {
    for (const row of rest) marks[row] = 0;
    yield* test.rest.mark(group.rest(selection.rows), rest, marks);
  }
  selection.keep(marks);
  detachBuffer(marks);
  if (presence !== null) detachBuffer(presence);
}

/** Marks rows by the places of their values. @returns the rows whose value may be in `rest` */
function* markByShapes(
  test: DataTest,
  group: OpenGroup,
  selection: Selection,
  marks: Uint8Array,
  presence: Uint8Array | null,
): Generator<void, Int32Array> {
  const { rows, count } = selection;
  const shapes = yield* group.shapes(rows);
  const byShape = shapes.places(test.pathIndex);
  const { indices } = shapes;
  const inRest = new Int32Array(count);
  let found = 0;
  group.meter.add(count * WORK.columnRow);
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    const place = byShape[indices[row] ?? -1] ?? "absent";
    if (place === "rest") inRest[found++] = row;
    else if (place === "object") marks[row] = test.object ? 1 : 0;
    // Without a value in a column, an optional member is absent.
    else if (place === "optional" && test.object) marks[row] = presence === null ? 1 : (presence[row] ?? 0);
    // A place in a column without a value is null.
    else if (place === "column" && (test.object || (test.null && presence?.[row] === 0))) marks[row] = 1;
  }
  return inRest.subarray(0, found);
}

function mayHold(reader: SegmentReader, group: number, index: number, test: DataTest): boolean {
  switch (reader.dataTypeOf(index)) {
    case "text": {
      const range = reader.textRange(group, index);
      return test.texts !== null && (range === null || test.texts.mayHold(range.min, range.max));
    }
    case "boolean":
      return test.true || test.false;
    default: {
      const range = reader.numberRange(group, index);
      return test.numbers !== null && (range === null || test.numbers.mayHold(range.min, range.max));
    }
  }
}

function holdsForAll(reader: SegmentReader, group: number, index: number, test: DataTest): boolean {
  switch (reader.dataTypeOf(index)) {
    case "text":
      return test.texts?.holdsForAll ?? false;
    case "boolean":
      return test.true && test.false;
    default: {
      const range = reader.numberRange(group, index);
      if (range === null || test.numbers === null) return false;
      return test.numbers.holdsForAll(range.min, range.max);
    }
  }
}
