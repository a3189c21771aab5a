import { ByteTimestampParser, type DecodedBatch, type SourceLine } from "../../cold/format/lines.ts";
import type { ColumnCounts } from "../encode/choose-columns.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { type NumberColumn, releaseColumn } from "./column-values.ts";
import { LineRestorer } from "./line-restorer.ts";
import type { ChunkSource, SegmentReader } from "./segment-reader.ts";

/** The lines of files as input of the encoder: what a compaction merges. */

/** Lines of one list. The encoder may pause between two lists. */
const LIST_LINES = 512;

/** Rows whose strings are decoded at once. Joined row groups have more. */
const WINDOW_ROWS = 16_384;

/**
 * Yields the lines of a row group in order of `seq`. Decodes the columns of many rows first: some 10 ms.
 * @throws MalformedFile
 */
export function* sourceLinesOf(reader: SegmentReader, group: number, source: ChunkSource): Generator<SourceLine[]> {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const numbers = (name: string): NumberColumn => {
    const column = reader.indexOf(name);
    return reader.numbers(group, column, source(group, column));
  };
  const [seqs, commits, receipts, timestamps] = ["seq", "commit", "received_at", "timestamp"].map(numbers);
  if (!seqs || !commits || !receipts || !timestamps) return;
  let restorer: LineRestorer | null = null;
  const clock = new ByteTimestampParser();
  for (let from = 0; from < rows; from += LIST_LINES) {
    const to = Math.min(rows, from + LIST_LINES);
    if (restorer === null || from % WINDOW_ROWS === 0) {
      restorer?.release();
      restorer = new LineRestorer(reader, group, source, windowOf(from, rows));
    }
    const ends = writeLines(restorer, from, to);
    const body = restorer.take();
    let batch: DecodedBatch = { firstSeq: 0, count: 0, commit: 0, receivedAt: 0, body };
    let start = 0;
    yield ends.map((end, index): SourceLine => {
      const row = from + index;
      const commit = numberAt(commits, row);
      const receivedAt = numberAt(receipts, row);
      const seq = numberAt(seqs, row);
      if (index === 0 || batch.commit !== commit || batch.receivedAt !== receivedAt) {
        batch = { firstSeq: seq, count: 0, commit, receivedAt, body };
      }
      batch.count++;
      const isTimed = !Number.isNaN(clock.read(body, start, end));
      const own = { batch, seq, timestamp: numberAt(timestamps, row), isTimed, start, end };
      start = end + 1;
      return own;
    });
  }
  restorer?.release();
  for (const column of [seqs, commits, receipts, timestamps]) releaseColumn(column);
}

/** Returns the rows that are decoded together; `null` for all of a row group. */
function windowOf(from: number, rows: number): Int32Array | null {
  if (rows <= WINDOW_ROWS) return null;
  return Int32Array.from({ length: Math.min(WINDOW_ROWS, rows - from) }, (_, index) => from + index);
}

/** @returns the end of each line */
function writeLines(restorer: LineRestorer, from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => restorer.write(from + index));
}

/** Returns the columns and counts of a file as input of `mergeColumns`. */
export function columnCountsOf({ properties, rowGroups }: SegmentReader): ColumnCounts {
  const columns = properties.columns.map((column, index) => ({
    column,
    values: rowGroups.reduce(
      (sum, { rows, chunks }) => sum + rows - (chunks[FIRST_DATA_COLUMN + index]?.nulls ?? 0),
      0,
    ),
  }));
  return { count: properties.count, columns };
}

function numberAt(column: NumberColumn, row: number): number {
  if (column.kind === "numbers") return column.values[row] ?? 0;
  return column.dictionary[column.indices[row] ?? -1] ?? 0;
}
