import { WORK } from "../../query/budget.ts";
import { FIRST_MEMBER_COLUMN } from "../columns.ts";
import { type ColumnValues, releaseColumn } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { TEXT_MEMBERS } from "../members.ts";
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

const MESSAGE_COLUMN = FIRST_MEMBER_COLUMN + TEXT_MEMBERS.indexOf("message");

export function planSearch(reader: SegmentReader, group: number, search: PreparedSearch): SearchPlan {
  const { finder } = search;
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const columns = reader.properties.columns.flatMap(({ type }, index) => {
    const column = FIRST_DATA_COLUMN + index;
    if (type === "boolean") return finder.isInTrue || finder.isInFalse ? [column] : [];
    if (type === "text") return [column];
    const range = reader.numberRange(group, column);
    const isPossible = finder.mayBeInNumber(type === "integer" && range !== null ? range : null);
    return isPossible ? [column] : [];
  });
  const filled = [MESSAGE_COLUMN, ...columns].filter((column) => reader.nulls(group, column) < rows);
  return {
    search,
    columns: filled.sort((a, b) => reader.rawBytes(group, a) - reader.rawBytes(group, b)),
    needsRest: hasRest(reader, group),
  };
}

/** Narrows a selection to the rows that have the text. @throws MalformedFile */
export function* runSearch(
  { search, columns, needsRest }: SearchPlan,
  group: OpenGroup,
  selection: Selection,
): Generator<void> {
  const { meter } = group;
  const marks = new Uint8Array(group.rows);
  for (const index of columns) {
    const type = index === MESSAGE_COLUMN ? "text" : group.reader.dataTypeOf(index);
    if (type === "text") meter.add(group.reader.rawBytes(group.group, index) * search.finder.byteWork);
    const column =
      type === "text" ? group.scan(index, selection.rows, search.strings, marks) : group.decode(index, selection.rows);
    if (column !== null) {
      markFound(column, search.finder, selection, marks, group);
      releaseColumn(column);
    }
    if (meter.isDue) yield;
  }
  if (needsRest) {
    const rest = group.rest(selection.rows);
    const left = Int32Array.from(unmarked(selection, marks)).filter((row) => hasValue(rest, row));
    if (left.length > 0) yield* search.rest.mark(rest, left, marks);
  }
  selection.keep(marks);
}

function markFound(
  column: ColumnValues,
  finder: TextFinder,
  selection: Selection,
  marks: Uint8Array,
  { meter }: OpenGroup,
): void {
  meter.add(selection.count * WORK.columnRow);
  switch (column.kind) {
    case "indexedTexts": {
      const { dictionary } = column;
      const held = new Uint8Array(dictionary.length + 1);
      finder.find(dictionary, (index) => {
        held[index] = 1;
      });
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
