import type { NumberColumn } from "../decode/column-values.ts";
import type { FieldCodes } from "./field-codes.ts";

/** Returns the numbers of chosen rows by position, NaN for a row without one. */
export function numbersOf(column: NumberColumn, rows: Int32Array): Float64Array {
  const numbers = new Float64Array(rows.length);
  if (column.kind === "numbers") {
    const { values } = column;
    // All rows are chosen.
    if (rows.length === values.length) return values;
    for (let at = 0; at < rows.length; at++) numbers[at] = values[rows[at] ?? 0] ?? 0;
    return numbers;
  }
  const { dictionary, indices } = column;
  for (let at = 0; at < rows.length; at++) {
    const index = indices[rows[at] ?? 0] ?? -1;
    numbers[at] = index < 0 ? Number.NaN : (dictionary[index] ?? 0);
  }
  return numbers;
}

/** Returns the numbers of a field by position. @param byCode its numbers */
export function numbersByRow({ codes, isByRow }: FieldCodes, byCode: Float64Array, rows: number): Float64Array {
  if (isByRow) return byCode;
  const numbers = new Float64Array(rows);
  if (codes === null) return numbers.fill(byCode[0] ?? Number.NaN);
  for (let at = 0; at < rows; at++) {
    const code = codes[at] ?? -1;
    numbers[at] = code < 0 ? Number.NaN : (byCode[code] ?? Number.NaN);
  }
  return numbers;
}
