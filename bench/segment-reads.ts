import { releaseColumn } from "../src/logs/segments/decode/column-values.ts";
import { LineRestorer } from "../src/logs/segments/decode/line-restorer.ts";
import { SegmentReader } from "../src/logs/segments/decode/segment-reader.ts";
import type { SegmentFile } from "../src/logs/segments/encode/encode-segment.ts";

/** Work on the columns of a segment file that is in memory. Each function returns a result that depends on all it read. */

const HOUR_MS = 3_600_000;

/** A file, and the bytes of its column chunks. */
export interface OpenSegment {
  reader: SegmentReader;
  chunk: (group: number, column: number) => Uint8Array;
}

export function openFile({ parts, footer, size }: SegmentFile): OpenSegment {
  const reader = new SegmentReader(footer, size);
  const bytes = Buffer.concat(parts);
  const chunk = (group: number, column: number) => {
    const { start, end } = reader.range(group, column);
    return bytes.subarray(start, end);
  };
  return { reader, chunk };
}

/** @param start epoch milliseconds of the first hour of a day */
export function countByHour({ reader, chunk }: OpenSegment, start: number): number {
  const counts = new Int32Array(25);
  const time = reader.indexOf("timestamp");
  const duration = reader.indexOf("data.durationMs");
  for (const group of reader.rowGroups.keys()) {
    const times = reader.numbers(group, time, chunk(group, time));
    const durations = reader.numbers(group, duration, chunk(group, duration));
    if (times.kind !== "numbers" || durations.kind !== "numbers") throw new Error("The columns have another encoding.");
    for (let row = 0; row < times.values.length; row++) {
      if ((durations.values[row] ?? 0) < 300) continue;
      const hour = Math.floor(((times.values[row] ?? 0) - start) / HOUR_MS);
      counts[hour] = (counts[hour] ?? 0) + 1;
    }
    releaseColumn(times);
    releaseColumn(durations);
  }
  return counts.reduce((total, count) => total + count, 0);
}

/** Counts a substring of a column with a dictionary. */
export function countSubstring({ reader, chunk }: OpenSegment): number {
  let found = 0;
  const route = reader.indexOf("data.route");
  for (const group of reader.rowGroups.keys()) {
    const column = reader.texts(group, route, chunk(group, route));
    if (column.kind !== "indexedTexts") throw new Error("The column has no dictionary.");
    const { dictionary, indices } = column;
    const matches = Uint8Array.from({ length: dictionary.length }, (_, at) =>
      Number(dictionary.at(at).includes("orders")),
    );
    for (let row = 0; row < indices.length; row++) found += matches[indices[row] ?? -1] ?? 0;
    releaseColumn(column);
  }
  return found;
}

/** Counts how often a text occurs in messages. */
export function countInMessages({ reader, chunk }: OpenSegment, text: string): number {
  let found = 0;
  const message = reader.indexOf("message");
  for (const group of reader.rowGroups.keys()) {
    const column = reader.texts(group, message, chunk(group, message));
    if (column.kind !== "texts") throw new Error("The column has a dictionary.");
    const all = Buffer.from(column.texts.bytes.buffer, column.texts.bytes.byteOffset, column.texts.bytes.length);
    for (let at = all.indexOf(text); at >= 0; at = all.indexOf(text, at + 1)) found++;
    releaseColumn(column);
  }
  return found;
}

/** @returns characters of all lines */
export function restoreAll({ reader, chunk }: OpenSegment): number {
  let length = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const restorer = new LineRestorer(reader, group, chunk);
    for (let row = 0; row < rows; row++) length += restorer.line(row).length;
  }
  return length;
}

/** @returns characters of every thousandth line */
export function restoreSome({ reader, chunk }: OpenSegment): number {
  let length = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const chosen = Int32Array.from({ length: Math.floor(rows / 1000) }, (_, at) => at * 1000);
    const restorer = new LineRestorer(reader, group, chunk, chosen);
    for (const row of chosen) length += restorer.line(row).length;
  }
  return length;
}
