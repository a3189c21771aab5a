import { type ColumnValues, releaseColumn, releaseRows, Texts } from "./column-values.ts";

/**
 * Copies the values of some rows, so that the column itself can be freed: a row group has up to 25,000 rows in a hundred
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
      const indices = rows.map((row) => column.indices[row] ?? -1);
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
        values: Float64Array.from(rows, (row) => column.values[row] ?? 0),
        validity: column.validity && Uint8Array.from(rows, (row) => column.validity?.[row] ?? 0),
      };
    case "indexedNumbers":
      return { ...column, indices: rows.map((row) => column.indices[row] ?? -1) };
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

/** @param at indices of strings; -1 for an empty one */
function gatherTexts({ bytes, offsets }: Texts, at: Int32Array): Texts {
  const ends = new Int32Array(at.length + 1);
  for (let index = 0; index < at.length; index++) {
    const own = at[index] ?? -1;
    const length = own < 0 ? 0 : (offsets[own + 1] ?? 0) - (offsets[own] ?? 0);
    ends[index + 1] = (ends[index] ?? 0) + length;
  }
  const taken = new Uint8Array(ends[at.length] ?? 0);
  for (let index = 0; index < at.length; index++) {
    const own = at[index] ?? -1;
    if (own >= 0) taken.set(bytes.subarray(offsets[own], offsets[own + 1]), ends[index]);
  }
  return new Texts(taken, ends);
}
