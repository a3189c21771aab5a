import { type ColumnValues, releaseColumn, releaseRows, Texts } from "./column-values.ts";

/**
 * Copies the values of some rows, so that the column itself can be freed: a row group has some 50,000 rows in a hundred
 * columns, of which a reader needs few rows at a time.
 *
 * @param rows of the row group
 * @returns a column with the value of `rows[i]` in row `i`
 */
export function gatherRows(column: ColumnValues, rows: Int32Array): ColumnValues {
  switch (column.kind) {
    case "texts":
      return {
        kind: "texts",
        texts: gatherTexts(column.texts, rows),
        validity: column.validity && Uint8Array.from(rows, (row) => column.validity?.[row] ?? 0),
      };
    case "indexedTexts": {
      const indices = indicesOf(column.indices, rows);
      if (column.dictionary.length <= rows.length) return { ...column, indices };
      return {
        kind: "texts",
        texts: gatherTexts(column.dictionary, indices),
        validity: Uint8Array.from(indices, (index) => (index < 0 ? 0 : 1)),
      };
    }
    case "numbers":
      return {
        kind: "numbers",
        values: numbersOf(column.values, rows),
        validity: column.validity && Uint8Array.from(rows, (row) => column.validity?.[row] ?? 0),
      };
    case "indexedNumbers":
      return { ...column, indices: indicesOf(column.indices, rows) };
    case "booleans":
      return { kind: "booleans", values: Int8Array.from(rows, (row) => column.values[row] ?? -1) };
  }
}

/** Like `gatherRows`, and frees what the result does not share with the column. */
export function takeRows(column: ColumnValues, rows: Int32Array): ColumnValues {
  const taken = gatherRows(column, rows);
  const sharesDictionary = taken.kind === "indexedTexts" || taken.kind === "indexedNumbers";
  if (sharesDictionary) releaseRows(column);
  else releaseColumn(column);
  return taken;
}

// Loops take a fraction of the time of `map` and `from` with a function.

function indicesOf(indices: Int32Array, rows: Int32Array): Int32Array {
  const taken = new Int32Array(rows.length);
  for (let at = 0; at < rows.length; at++) taken[at] = indices[rows[at] ?? 0] ?? -1;
  return taken;
}

function numbersOf(values: Float64Array, rows: Int32Array): Float64Array {
  const taken = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) taken[at] = values[rows[at] ?? 0] ?? 0;
  return taken;
}

/** @param at indices of strings; -1 for an empty one */
function gatherTexts(texts: Texts, at: Int32Array): Texts {
  const ends = new Int32Array(at.length + 1);
  for (let index = 0; index < at.length; index++) {
    const own = at[index] ?? -1;
    const length = own < 0 ? 0 : texts.endOf(own) - texts.startOf(own);
    ends[index + 1] = (ends[index] ?? 0) + length;
  }
  const taken = new Uint8Array(ends[at.length] ?? 0);
  for (let index = 0; index < at.length; index++) {
    const own = at[index] ?? -1;
    if (own >= 0) taken.set(texts.bytesAt(own), ends[index]);
  }
  return new Texts(taken, ends);
}
