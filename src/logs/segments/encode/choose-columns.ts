import { columnName, type DataColumn, type DataType, isOwnColumn, pathKey } from "../columns.ts";
import { type LineShape, VALUE_CLASSES } from "./line-shape.ts";

/** Columns of `data` in one file. Each costs some 250 bytes a row group, so small files have fewer. */
const MAX_COLUMNS = 96;
const MIN_COLUMNS = 16;
/** Entries for each column beyond the fewest. */
const ENTRIES_PER_COLUMN = 16;
/** Share of the entries that must have a value for its path to get a column. */
const SMALLEST_SHARE = 0.02;
/** Longest name of a column, in UTF-16 code units. */
const MAX_NAME = 256;

/** Types in the order of a shape's classes of value. `number` counts those that are not integers. */
const COUNTED_TYPES: readonly DataType[] = ["text", "integer", "number", "boolean"];

interface PathCounts {
  path: readonly string[];
  /** Values by type; see `COUNTED_TYPES`. */
  counts: number[];
  /** Whether some of the strings are an own member. */
  isOwn: boolean;
}

interface Candidate {
  path: readonly string[];
  type: DataType;
  count: number;
  isOwn: boolean;
}

/**
 * Chooses the columns of `data`: the paths and types that most entries have.
 * @param rows entries that the shapes have counted
 */
export function chooseColumns(shapes: readonly LineShape[], rows: number): DataColumn[] {
  return pick([...countPaths(shapes).values()].flatMap(candidatesOf), rows, rows * SMALLEST_SHARE);
}

/** Columns of one file of a merge, with the number of values in each. */
export interface ColumnCounts {
  count: number;
  columns: readonly { column: DataColumn; values: number }[];
}

/**
 * Chooses the columns of the file that several files are merged into, from their metadata alone: those of all files, the
 * most frequent first. A path that is in `rest` of all files stays there.
 */
export function mergeColumns(files: readonly ColumnCounts[]): DataColumn[] {
  const paths = new Map<string, PathCounts>();
  let rows = 0;
  for (const { count, columns } of files) {
    rows += count;
    for (const { column, values } of columns) {
      const found = countsAt(paths, column.path, pathKey(column.path));
      const { counts } = found;
      if (isOwnColumn(column)) found.isOwn = true;
      const index = COUNTED_TYPES.indexOf(column.type);
      counts[index] = (counts[index] ?? 0) + values;
    }
  }
  // A column that only one of many files has stays, so that the rows of that file can be copied.
  return pick([...paths.values()].flatMap(candidatesOf), rows, 1);
}

/** @param fewest values that a column must have */
function pick(candidates: readonly Candidate[], rows: number, fewest: number): DataColumn[] {
  // Ties are decided by the text of the path, so that equal input gives equal files.
  const frequent = candidates
    .filter(({ count, isOwn }) => count >= fewest || isOwn)
    .map((candidate) => ({ ...candidate, key: pathKey(candidate.path) }))
    .sort(
      (a, b) =>
        Number(b.isOwn) - Number(a.isOwn) || b.count - a.count || compare(a.key, b.key) || compare(a.type, b.type),
    );
  const max = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, Math.floor(rows / ENTRIES_PER_COLUMN)));
  const named = new Set<string>();
  const columns: DataColumn[] = [];
  for (const { path, type, key, isOwn } of frequent) {
    if (isOwn) {
      columns.push({ name: path[0] ?? "", path, type });
      continue;
    }
    const name = columnName(path, named.has(key) ? type : null);
    // An encoder and a reader must name columns alike, so a path is left out as a whole or by its later types.
    if (name.length > MAX_NAME || columns.length === max) continue;
    named.add(key);
    columns.push({ name, path, type });
  }
  return columns;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countPaths(shapes: readonly LineShape[]): Map<string, PathCounts> {
  const paths = new Map<string, PathCounts>();
  for (const { data, counts, own } of shapes) {
    for (const [slot, { path, key }] of data.entries()) {
      // A mark for all of `data` is no member.
      if (path.length === 0) continue;
      const found = countsAt(paths, path, key);
      if (slot < own.length) found.isOwn = true;
      for (let index = 0; index < VALUE_CLASSES; index++) {
        found.counts[index] = (found.counts[index] ?? 0) + (counts[slot * VALUE_CLASSES + index] ?? 0);
      }
    }
  }
  return paths;
}

function countsAt(paths: Map<string, PathCounts>, path: readonly string[], key: string): PathCounts {
  const known = paths.get(key);
  if (known !== undefined) return known;
  const added = { path, counts: new Array<number>(VALUE_CLASSES).fill(0), isOwn: false };
  paths.set(key, added);
  return added;
}

/** Returns a path's columns. Integers share the column of other numbers if the path has both. */
function candidatesOf({
  path,
  isOwn,
  counts: [texts = 0, integers = 0, others = 0, booleans = 0],
}: PathCounts): Candidate[] {
  const numbers = integers + others;
  const candidates: Candidate[] = [
    { path, type: "text", count: texts, isOwn },
    { path, type: others > 0 ? "number" : "integer", count: numbers, isOwn: false },
    { path, type: "boolean", count: booleans, isOwn: false },
  ];
  return candidates.filter(({ count }) => count > 0);
}
