import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { type DataColumn, FIRST_MEMBER_COLUMN, LEADING_COLUMNS } from "../columns.ts";
import type { RowGroupMeta } from "../parquet/metadata.ts";
import { TYPE } from "../parquet/metadata.ts";
import { dataBooleans, dataNumbers, dataText, MadeText, memberText } from "./cursors.ts";
import { encodeBooleans, encodeNumbers } from "./number-column.ts";
import type { RowGroup } from "./row-group.ts";
import { Variants } from "./shape-column.ts";
import { type EncodedColumn, encodeText, type Pause } from "./text-column.ts";

/** Index of the column that no version fills yet. */
const PATTERN_COLUMN = LEADING_COLUMNS.length - 1;

/** Values that are encoded between two pauses, about: a few milliseconds. Columns of fewer rows are encoded together. */
const PAUSE_VALUES = 16_384;

/** The stored bytes of a row group, and its metadata. */
export interface EncodedGroup {
  parts: Uint8Array[];
  meta: RowGroupMeta;
  bytes: number;
}

/**
 * Encodes the lines of a row group column by column, in steps of some 16,384 values.
 * @param offset of the row group in the file
 */
export function* encodeGroup(
  group: RowGroup,
  columns: readonly DataColumn[],
  offset: number,
): Generator<Pause, EncodedGroup> {
  const parts: Uint8Array[] = [];
  const chunks: RowGroupMeta["chunks"][number][] = [];
  let bytes = 0;
  const close = ({ writer, min, max }: EncodedColumn) => {
    const { parts: own, meta } = writer.finish(offset + bytes, min, max);
    parts.push(...own);
    chunks.push(meta);
    bytes += meta.storedBytes;
  };
  const { rows } = group;
  let unpaused = 0;
  const isPauseDue = () => {
    unpaused += rows;
    if (unpaused < PAUSE_VALUES) return false;
    unpaused = 0;
    return true;
  };
  const variants = yield* Variants.choose(group, columns);
  for (const values of [group.seq, group.commit, group.timestamp, group.receivedAt]) {
    close(encodeNumbers(rows, { values, present: rows, validity: null }, TYPE.int64, true));
    if (isPauseDue()) yield null;
  }
  for (let column = FIRST_MEMBER_COLUMN; column < LEADING_COLUMNS.length; column++) {
    const cursor = column === PATTERN_COLUMN ? new MadeText(() => null) : memberText(group, column);
    close(yield* encodeText(rows, cursor));
    if (isPauseDue()) yield null;
  }
  for (const column of columns) {
    const encoded = yield* encodeData(group, column);
    encoded.writer.elsewhere = variants.elsewhere(column.path);
    close(encoded);
    if (isPauseDue()) yield null;
  }
  close(yield* variants.encodeShapes());
  close(yield* variants.encodeRest());
  variants.release();
  return { parts, meta: { rows, chunks }, bytes };
}

function* encodeData(group: RowGroup, column: DataColumn): Generator<Pause, EncodedColumn> {
  const { rows } = group;
  if (column.type === "text") return yield* encodeText(rows, dataText(group, column));
  if (column.type === "boolean") {
    const { values, present, validity } = dataBooleans(group, column);
    const encoded = encodeBooleans(rows, values, present, validity);
    detachBuffer(values);
    if (validity !== null) detachBuffer(validity);
    return encoded;
  }
  const numbers = dataNumbers(group, column);
  yield null;
  const encoded = encodeNumbers(rows, numbers, column.type === "integer" ? TYPE.int64 : TYPE.double, false);
  detachBuffer(numbers.values);
  if (numbers.validity !== null) detachBuffer(numbers.validity);
  return encoded;
}
