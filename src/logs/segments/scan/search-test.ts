import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { WORK } from "../../query/budget.ts";
import { FIRST_MEMBER_COLUMN, TEXT_MEMBERS } from "../columns.ts";
import { type ColumnValues, releaseColumn } from "../decode/column-values.ts";
import type { RowChoice } from "../decode/decode-chunk.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { hasValue, markHeld } from "./mark-rows.ts";
import { hasRest, type OpenGroup } from "./open-group.ts";
import type { PreparedFilter } from "./prepared-filter.ts";
import type { Selection } from "./selection.ts";
import type { TextFinder } from "./text-finder.ts";

export type PreparedSearch = NonNullable<PreparedFilter["search"]>;

/** How a search is made in one row group. */
export interface SearchPlan {
  search: PreparedSearch;
  /** Columns of values, those that take the least work first. */
  columns: readonly number[];
  needsRest: boolean;
}

export const MESSAGE_COLUMN = FIRST_MEMBER_COLUMN + TEXT_MEMBERS.indexOf("message");

export function planSearch(reader: SegmentReader, group: number, search: PreparedSearch): SearchPlan {
  return { search, columns: columnsOfTexts(reader, group, search.finder), needsRest: hasRest(reader, group) };
}

/**
 * Returns the columns of values that a text is searched for in, those that take the least work first.
 * @param finder of what each value contains; `null` if that is not known
 */
export function columnsOfTexts(reader: SegmentReader, group: number, finder: TextFinder | null): number[] {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const columns = reader.properties.columns.flatMap(({ type }, index) => {
    const column = FIRST_DATA_COLUMN + index;
    if (type === "text" || finder === null) return [column];
    if (type === "boolean") return finder.isInTrue || finder.isInFalse ? [column] : [];
    const range = reader.numberRange(group, column);
    const isPossible = finder.mayBeInNumber(type === "integer" && range !== null ? range : null);
    return isPossible ? [column] : [];
  });
  const filled = [MESSAGE_COLUMN, ...columns].filter((column) => reader.nulls(group, column) < rows);
  return filled.sort((a, b) => reader.rawBytes(group, a) - reader.rawBytes(group, b));
}

/** Narrows a selection to the rows that have the text. @throws MalformedFile */
export function* runSearch(plan: SearchPlan, group: OpenGroup, selection: Selection): Generator<void> {
  const marks = new Uint8Array(group.rows);
  yield* markSearch(plan, group, selection, marks, selection.rows);
  selection.keep(marks);
  detachBuffer(marks);
}

/**
 * Marks the rows of a selection that have the text.
 * @param readRows rows of which `rest` is decoded, at least those of the selection
 * @throws MalformedFile
 */
export function* markSearch(
  { search, columns, needsRest }: SearchPlan,
  group: OpenGroup,
  selection: Selection,
  marks: Uint8Array,
  readRows: RowChoice,
): Generator<void> {
  const { meter } = group;
  for (const index of columns) {
    const type = index === MESSAGE_COLUMN ? "text" : group.reader.dataTypeOf(index);
    if (type === "text") meter.add(group.reader.rawBytes(group.group, index) * search.finder.byteWork);
    const column =
      type === "text" ? group.scan(index, selection.rows, search.strings, marks) : group.decode(index, selection.rows);
    if (column !== null) {
      markFound(column, search, selection, marks, group);
      releaseColumn(column);
    }
    if (meter.isDue) yield;
  }
  if (needsRest) {
    const rest = group.rest(readRows);
    const left = Int32Array.from(unmarked(selection, marks)).filter((row) => hasValue(rest, row));
    if (left.length > 0) yield* search.rest.mark(rest, left, marks);
  }
}

function markFound(
  column: ColumnValues,
  { finder, strings }: PreparedSearch,
  selection: Selection,
  marks: Uint8Array,
  { meter }: OpenGroup,
): void {
  meter.add(selection.count * WORK.columnRow);
  switch (column.kind) {
    case "indexedTexts": {
      const { dictionary } = column;
      const held = new Uint8Array(dictionary.length + 1);
      for (const index of strings.foundIn(dictionary)) held[index] = 1;
      markHeld(column.indices, held, selection, marks);
      return;
    }
    case "indexedNumbers": {
      const { dictionary } = column;
      meter.add(dictionary.length * WORK.columnText);
      const held = new Uint8Array(dictionary.length + 1);
      for (let index = 0; index < dictionary.length; index++) {
        held[index] = finder.isInNumber(dictionary[index] ?? 0) ? 1 : 0;
      }
      markHeld(column.indices, held, selection, marks);
      return;
    }
    default: {
      for (const row of unmarked(selection, marks)) {
        if (!hasValue(column, row)) continue;
        if (column.kind === "booleans") {
          if (column.values[row] === 1 ? finder.isInTrue : finder.isInFalse) marks[row] = 1;
        } else if (column.kind === "numbers") {
          meter.add(WORK.columnText);
          if (finder.isInNumber(column.values[row] ?? 0)) marks[row] = 1;
        }
      }
    }
  }
}

function* unmarked({ rows, size }: Selection, marks: Uint8Array): Generator<number> {
  const count = rows?.length ?? size;
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    if (marks[row] === 0) yield row;
  }
}
