import type { ColumnValues, TextColumn, Texts } from "./column-values.ts";
import type { LineWriter } from "./line-writer.ts";

/** Values of rows, and how they are written in a line. */

const encoder = new TextEncoder();
const NULL = encoder.encode("null");
const WORDS = [encoder.encode("false"), encoder.encode("true")];

export function textsOf(column: TextColumn): Texts {
  return column.kind === "texts" ? column.texts : column.dictionary;
}

/** Returns the index of a row's string, or -1. */
export function textAt(column: TextColumn, row: number): number {
  if (column.kind === "indexedTexts") return column.indices[row] ?? -1;
  return column.validity?.[row] === 0 ? -1 : row;
}

export function writeText(writer: LineWriter, texts: Texts, at: number): void {
  writer.quoted(texts.bytes, texts.startOf(at), texts.endOf(at));
}

/** Writes the value of the first column that has one; `null` if none has. */
export function writeValue(writer: LineWriter, columns: readonly ColumnValues[], row: number): void {
  for (const column of columns) {
    if (column.kind === "texts" || column.kind === "indexedTexts") {
      const at = textAt(column, row);
      if (at < 0) continue;
      writeText(writer, textsOf(column), at);
      return;
    }
    if (column.kind === "booleans") {
      const word = WORDS[column.values[row] ?? -1];
      if (word === undefined) continue;
      writer.bytes(word);
      return;
    }
    if (!hasValue(column, row)) continue;
    const value = column.kind === "numbers" ? column.values[row] : column.dictionary[column.indices[row] ?? 0];
    writer.ascii(String(value));
    return;
  }
  writer.bytes(NULL);
}

export function hasValue(column: ColumnValues, row: number): boolean {
  switch (column.kind) {
    case "booleans":
      return column.values[row] !== -1;
    case "numbers":
    case "texts":
      return column.validity?.[row] !== 0;
    default:
      return (column.indices[row] ?? -1) >= 0;
  }
}
