import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { type DataColumn, pathKey } from "../columns.ts";
import { releaseColumn } from "../decode/column-values.ts";
import type { GroupBytes } from "../decode/group-bytes.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import type { EncodedGroup } from "../encode/encode-group.ts";
import { encodeBooleans, encodeNumbers } from "../encode/number-column.ts";
import { type EncodedColumn, encodeText, type Pause } from "../encode/text-column.ts";
import { type ChunkMeta, type SchemaColumn, TYPE } from "../parquet/metadata.ts";
import { findPages } from "../parquet/page-places.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { parseTemplate, placeOf, type Template } from "../template.ts";

/**
 * Whether a file with the given columns of `data` can hold the bytes of a row group. It cannot if a column of the row group
 * is missing or has a type that its values do not fit.
 */
export function canCopy(reader: SegmentReader, group: number, columns: readonly DataColumn[]): boolean {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  return reader.properties.columns.every((own, index) => {
    if (reader.nulls(group, FIRST_DATA_COLUMN + index) === rows) return true;
    return columns.some((column) => isSamePath(column, own) && (column.type === own.type || isWidened(own, column)));
  });
}

/** A row group of another file. */
export interface GroupOfFile {
  reader: SegmentReader;
  group: number;
  /** The bytes of all its columns. The copy refers to them. */
  bytes: GroupBytes;
}

/**
 * Copies a row group into a file with other columns: the stored bytes of each column, columns of nulls where the row group
 * has none, and encoded again only integers whose column also has fractions.
 * @param columns of `data`, for which `canCopy` is true
 * @param schema of the file, with these columns
 * @param offset of the row group in the file
 */
export function* copyGroup(
  source: GroupOfFile,
  columns: readonly DataColumn[],
  schema: readonly SchemaColumn[],
  offset: number,
): Generator<Pause, EncodedGroup> {
  const { reader, group, bytes } = source;
  const { rows, chunks: own } = reader.rowGroups[group] ?? { rows: 0, chunks: [] };
  const parts: Uint8Array[] = [];
  const chunks: ChunkMeta[] = [];
  let at = offset;
  let shapes: ShapeCounts | null = null;
  const encoded = ({ writer, min, max }: EncodedColumn) => {
    const { parts: made, meta } = writer.finish(at, min, max);
    parts.push(...made);
    chunks.push(meta);
    at += meta.storedBytes;
  };
  for (const [index, { type }] of schema.entries()) {
    const column = columns[index - FIRST_DATA_COLUMN];
    const from = column === undefined ? sameColumn(reader, index, schema) : columnOf(reader, column);
    const chunk = own[from];
    if (chunk !== undefined && chunk.type === type) {
      const copied = bytes.chunk(from);
      parts.push(copied);
      // Files of earlier versions do not have the places of their pages.
      const pages = reader.pages(group, from) ?? findPages(copied);
      const { min, max } = chunk;
      chunks.push({ ...chunk, min, max, pages, offset: at, dataOffset: at + chunk.dataOffset - chunk.offset });
      at += chunk.storedBytes;
    } else if (chunk !== undefined) {
      const widened = widen(source, from);
      widened.writer.elsewhere = chunk.elsewhere;
      encoded(widened);
      yield null;
    } else {
      const nulls = yield* encodeNulls(rows, type);
      shapes ??= new ShapeCounts(source);
      nulls.writer.elsewhere = column === undefined ? 0 : shapes.elsewhere(column.path);
      encoded(nulls);
    }
  }
  yield null;
  return { parts, meta: { rows, chunks }, bytes: at - offset };
}

/** Returns the index of a column of every file: those after `data` are counted from the end. */
function sameColumn({ columns }: SegmentReader, index: number, schema: readonly SchemaColumn[]): number {
  return index < FIRST_DATA_COLUMN ? index : columns.length - (schema.length - index);
}

/** Returns the index of the column that has the values of a column, or -1. */
function columnOf({ properties }: SegmentReader, wanted: DataColumn): number {
  const index = properties.columns.findIndex(
    (own) => isSamePath(own, wanted) && (own.type === wanted.type || isWidened(own, wanted)),
  );
  return index < 0 ? -1 : FIRST_DATA_COLUMN + index;
}

function isSamePath(a: DataColumn, b: DataColumn): boolean {
  return pathKey(a.path) === pathKey(b.path);
}

function isWidened(from: DataColumn, to: DataColumn): boolean {
  return from.type === "integer" && to.type === "number";
}

/** Encodes a column of integers as numbers with fractions. */
function widen({ reader, group, bytes }: GroupOfFile, column: number): EncodedColumn {
  const decoded = reader.numbers(group, column, bytes.chunk(column));
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const values = new Float64Array(rows);
  const validity = new Uint8Array(rows);
  let present = 0;
  for (let row = 0; row < rows; row++) {
    const value =
      decoded.kind === "numbers"
        ? decoded.validity?.[row] === 0
          ? undefined
          : decoded.values[row]
        : decoded.dictionary[decoded.indices[row] ?? -1];
    if (value === undefined) continue;
    validity[row] = 1;
    values[present++] = value;
  }
  const numbers = { values, present, validity: present === rows ? null : validity };
  const encoded = encodeNumbers(rows, numbers, TYPE.double, false);
  releaseColumn(decoded);
  detachBuffer(values);
  detachBuffer(validity);
  return encoded;
}

/** Encodes a column without a value. */
export function* encodeNulls(rows: number, type: SchemaColumn["type"]): Generator<Pause, EncodedColumn> {
  if (type === TYPE.bytes) {
    return yield* encodeText(rows, { find: () => false, bytes: new Uint8Array(0), start: 0, end: 0 });
  }
  const validity = new Uint8Array(rows);
  const encoded =
    type === TYPE.boolean
      ? encodeBooleans(rows, validity, 0, validity)
      : encodeNumbers(rows, { values: new Float64Array(0), present: 0, validity }, type, false);
  detachBuffer(validity);
  return encoded;
}

/** The shapes of a row group, with the number of rows of each. */
class ShapeCounts {
  /** `null` for lines that are stored whole. */
  readonly #shapes: { template: Template | null; rows: number }[] = [];

  constructor({ reader, group, bytes }: GroupOfFile) {
    const column = reader.columns.length - 2;
    const texts = reader.texts(group, column, bytes.chunk(column));
    if (texts.kind === "indexedTexts") {
      const counts = new Int32Array(texts.dictionary.length);
      for (const index of texts.indices) if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
      for (const [index, rows] of counts.entries()) {
        this.#shapes.push({ template: parseTemplate(texts.dictionary.bytesAt(index)), rows });
      }
      detachBuffer(texts.indices);
      return;
    }
    for (let row = 0; row < texts.texts.length; row++) {
      if (texts.validity?.[row] === 0) continue;
      this.#shapes.push({ template: parseTemplate(texts.texts.bytesAt(row)), rows: 1 });
    }
  }

  /** Returns how many rows may have a value of a path in `rest`. */
  elsewhere(path: readonly string[]): number {
    return this.#shapes.reduce(
      (sum, { template, rows }) => (template === null || placeOf(template, path) === "rest" ? sum + rows : sum),
      0,
    );
  }
}
