import { type DecodedBatch, linesOf } from "../../../src/logs/cold/format/lines.ts";
import type { ColumnValues } from "../../../src/logs/segments/decode/column-values.ts";
import { LineRestorer } from "../../../src/logs/segments/decode/line-restorer.ts";
import { SegmentReader } from "../../../src/logs/segments/decode/segment-reader.ts";
import { type CatalogFile, encodeFiles } from "../../../src/logs/segments/encode/encode-rows.ts";
import {
  type EncodeOptions,
  encodeSegment,
  type SegmentFile,
} from "../../../src/logs/segments/encode/encode-segment.ts";

export const PROJECT = "proj_000000000001";
const FIRST_RECEIVED = Date.UTC(2026, 10, 22, 9);

/** Returns batches of one project that hold the lines in order, from seq 1, under rising commits. */
export function batchesOf(lines: readonly (string | Uint8Array)[], perBatch = 7): DecodedBatch[] {
  const batches: DecodedBatch[] = [];
  for (let at = 0; at < lines.length; at += perBatch) {
    const own = lines.slice(at, at + perBatch).map((line) => Buffer.from(line));
    const body = Buffer.concat(own.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from("\n"), line])));
    const commit = 10 + batches.length * 3;
    // The clock steps back at times.
    const receivedAt = FIRST_RECEIVED + batches.length * 1000 - (batches.length % 3) * 2500;
    batches.push({ firstSeq: at + 1, count: own.length, commit, receivedAt, body });
  }
  return batches;
}

export function encode(
  lines: readonly (string | Uint8Array)[],
  options: Partial<EncodeOptions> & { perBatch?: number; projectId?: string } = {},
): SegmentFile {
  const batches = batchesOf(lines, options.perBatch);
  const steps = encodeSegment(
    options.projectId ?? PROJECT,
    linesOf(batches, { firstSeq: 1, lastSeq: lines.length }),
    options,
  );
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Encodes lines as the flush does: files with their rows of the catalog. */
export function encodeRows(
  lines: readonly (string | Uint8Array)[],
  { hasBucket = true, perBatch = 7 }: { hasBucket?: boolean; perBatch?: number } = {},
): CatalogFile[] {
  const range = { firstSeq: 1, lastSeq: lines.length };
  return [...encodeFiles(PROJECT, batchesOf(lines, perBatch), range, hasBucket)].filter((step) => step !== null);
}

export function bytesOf(file: Pick<SegmentFile, "parts">): Uint8Array {
  return new Uint8Array(Buffer.concat(file.parts));
}

/** A file that is read from its bytes. */
export function open(bytes: Uint8Array): {
  reader: SegmentReader;
  chunk: (group: number, column: number) => Uint8Array;
} {
  const opened = SegmentReader.open(bytes, bytes.length);
  if (typeof opened === "number") throw new Error("The whole file is enough.");
  const chunk = (group: number, column: number) => {
    const { start, end } = opened.range(group, column);
    return bytes.subarray(start, end);
  };
  return { reader: opened, chunk };
}

/** Returns all lines of a file. */
export function linesIn(bytes: Uint8Array): Buffer[] {
  const { reader, chunk } = open(bytes);
  return reader.rowGroups.flatMap(({ rows }, group) => {
    const restorer = new LineRestorer(reader, group, chunk);
    return Array.from({ length: rows }, (_, row) => Buffer.from(restorer.line(row)));
  });
}

/** Returns the values of a column by row; `null` without a value. */
export function valuesIn(bytes: Uint8Array, name: string): (string | number | boolean | null)[] {
  const { reader, chunk } = open(bytes);
  const column = reader.indexOf(name);
  return reader.rowGroups.flatMap(({ rows }, group) => {
    const values = reader.decode(group, column, chunk(group, column));
    return Array.from({ length: rows }, (_, row) => valueAt(values, row));
  });
}

/** Returns the value of a row; `null` without one. */
export function valueAt(values: ColumnValues, row: number): string | number | boolean | null {
  switch (values.kind) {
    case "texts":
      return values.validity?.[row] === 0 ? null : values.texts.at(row);
    case "numbers":
      return values.validity?.[row] === 0 ? null : (values.values[row] ?? null);
    case "booleans":
      return values.values[row] === -1 ? null : values.values[row] === 1;
    case "indexedTexts": {
      const index = values.indices[row] ?? -1;
      return index < 0 ? null : values.dictionary.at(index);
    }
    case "indexedNumbers":
      return values.dictionary[values.indices[row] ?? -1] ?? null;
  }
}

/** Returns a line with the given data, written as ingest writes it or, if `data` is a text, with that text. */
export function line(data: unknown, members: Record<string, unknown> = {}, at = 0): string {
  const { category = "http", type = "request", level = "info", message = `message ${at}`, ...others } = members;
  const timestamp = new Date(Date.UTC(2026, 10, 22, 8) + at * 137).toISOString();
  const head = JSON.stringify({ timestamp, level, category, type, message, ...others });
  if (data === undefined) return head;
  return `${head.slice(0, -1)},"data":${typeof data === "string" ? data : JSON.stringify(data)}}`;
}
