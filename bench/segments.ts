import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { StartFailure } from "../scripts/lib/failure.ts";
import { type DecodedBatch, linesOf } from "../src/logs/cold/format/lines.ts";
import { SegmentReader } from "../src/logs/segments/decode/segment-reader.ts";
import { type CatalogFile, encodeFiles } from "../src/logs/segments/encode/encode-rows.ts";
import { encodeSegment, type SegmentFile } from "../src/logs/segments/encode/encode-segment.ts";
import { sliceOf } from "./cold-data.ts";
import { entryAt } from "./entries.ts";
import {
  DAY_ENTRIES,
  FILE_ENTRIES,
  mergeFlushes,
  QUERIES,
  type QueryFile,
  queryFiles,
  randomOf,
  requestBatches,
  runQuery,
} from "./segment-queries.ts";
import { countByHour, countInMessages, countSubstring, openFile, restoreAll, restoreSome } from "./segment-reads.ts";
import { aligned } from "./text-table.ts";

/**
 * `npm run bench:segments -- [--entries 100000] [--rounds 5] [file.ndjson ...]`: CPU time of encoding a segment file, its
 * bytes by column, and CPU time of decoding columns and restoring lines, each the best of some rounds; the same of a merge; CPU time of queries on
 * columns; and size and time of real logs, a JSON entry a line. Prints; writes nothing.
 */

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { entries: { type: "string" }, rounds: { type: "string" } },
});
const entries = Number(values.entries ?? 100_000);
const rounds = Number(values.rounds ?? 5);
if (!(entries >= 1000 && entries <= 1_000_000 && rounds >= 1)) throw new StartFailure("--entries: 1000 to 1000000.");

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 20);
/** Entries of the trial whose figures the decision record gives. */
const TRIAL_ENTRIES = 5_000_000;
const BATCH = 50;
/** Entries of a flush, and of a merge of flushes. */
const FLUSHED = 10_000;
const MERGED_ENTRIES = 250_000;
const WARM_PASSES = 5;

const batches = batchesOf();
const raw = batches.reduce((sum, { body }) => sum + body.length + 1, 0);
console.log(`${entries} entries of ${(raw / entries).toFixed(0)} bytes, ${BATCH} a batch, over 24 h`);

const encoded = [10_000, 25_000, 100_000].map((groupRows) => ({
  groupRows,
  ...best(() => encode(batches, entries, groupRows)),
}));
print(
  ["rows a row group", "row groups", "CPU us an entry", "bytes an entry", "footer", "longest step, CPU ms"],
  encoded.map(({ groupRows, us, result: { file, longest } }) => [
    groupRows,
    openFile(file).reader.rowGroups.length,
    (us / entries).toFixed(2),
    (file.size / entries).toFixed(2),
    file.footer.length,
    longest.toFixed(1),
  ]),
);

const flushed = best(() => flush(batches, 10_000));
const rowBytes = (of: (row: CatalogFile["row"]) => number) =>
  (sum(flushed.result.map(({ row }) => of(row))) / 10_000).toFixed(2);
console.log("\nA flush of 10,000 entries, with the filter and the row of the catalog");
print(
  ["CPU us an entry", "bytes an entry", "file", "filter", "footer", "counts and blocks"],
  [
    [
      (flushed.us / 10_000).toFixed(2),
      rowBytes(({ storedBytes }) => storedBytes),
      (sum(flushed.result.map(({ size }) => size)) / 10_000).toFixed(2),
      rowBytes(({ filter }) => filter.length),
      rowBytes(({ batchTable }) => batchTable.length),
      rowBytes(({ levels, summary, blocks }) => levels.length + summary.length + blocks.length),
    ],
  ],
);

const opened = openFile(encode(batches, entries, 25_000).file);
const { reader } = opened;
console.log("");
print(
  ["column", "bytes an entry", "uncompressed"],
  reader.columns.map(({ name }, column) => {
    const stored = sum(reader.rowGroups.map(({ chunks }) => chunks[column]?.storedBytes ?? 0));
    const plain = sum(reader.rowGroups.map(({ chunks }) => chunks[column]?.rawBytes ?? 0));
    return [name, (stored / entries).toFixed(3), (plain / entries).toFixed(3)];
  }),
);

console.log(`\nReading, one core, as ${TRIAL_ENTRIES / 1e6} million entries`);
report("filter a number, count by hour", () => countByHour(opened, START));
report("substring of a column with a dictionary, count", () => countSubstring(opened));
report("substring of messages, count", () => countInMessages(opened, "status 200 in 17 ms"));
report("restore all lines", () => restoreAll(opened));
report("restore 1 line in 1,000", () => restoreSome(opened));

const merged = await reportMerge();
reportQueries(merged);

if (files.length > 0) {
  console.log("");
  print(
    ["file", "entries", "bytes of a line", "CPU us an entry", "bytes an entry", "in rest", "columns of data", "shapes"],
    files.map(rowOfFile),
  );
}

/** Flushes of requests, and their merge, with its bytes by column. */
async function reportMerge(): Promise<QueryFile> {
  const random = randomOf(7);
  const flushes = Array.from({ length: MERGED_ENTRIES / FLUSHED }, (_, at) =>
    requestBatches(at * FLUSHED, FLUSHED, random),
  );
  const before = process.cpuUsage();
  const made = flushes.flatMap((own, at) => flush(own, (at + 1) * FLUSHED, at * FLUSHED + 1));
  const { user, system } = process.cpuUsage(before);
  let { segment, filterBytes, mergeUs, filterUs } = await mergeFlushes(made);
  for (let round = 1; round < rounds; round++) {
    const again = await mergeFlushes(made);
    mergeUs = Math.min(mergeUs, again.mergeUs);
    filterUs = Math.min(filterUs, again.filterUs);
  }
  const perEntry = (total: number) => (total / MERGED_ENTRIES).toFixed(2);
  console.log(`\nA merge of ${made.length} flushes of ${FLUSHED} requests of ${perEntry(segment.rawBytes)} bytes`);
  print(
    ["CPU us an entry: flush", "merge", "its filter", "together", "bytes an entry: file", "filter"],
    [
      [
        ...[user + system, mergeUs, filterUs, user + system + mergeUs + filterUs].map(perEntry),
        ...[segment.size, filterBytes].map(perEntry),
      ],
    ],
  );
  const opened = new SegmentReader(segment.footer, segment.size);
  print(
    ["column", "bytes an entry", "dictionary"],
    opened.columns.map(({ name }, column) => {
      const chunks = opened.rowGroups.flatMap((group) => group.chunks[column] ?? []);
      const dictionary = sum(chunks.map(({ offset, dataOffset }) => dataOffset - offset));
      return [name, perEntry(sum(chunks.map(({ storedBytes }) => storedBytes))), perEntry(dictionary)];
    }),
  );
  return { reader: opened, footer: segment.footer, bytes: segment.bytes };
}

/**
 * Queries on the columns of files, by row group, without input and without other requests.
 * @param merged whose row groups are joined
 */
function reportQueries(merged: QueryFile): void {
  console.log(
    `\nQueries on columns, one core, over ${DAY_ENTRIES / 1e6} million entries of 24 h: in row groups of 10,000, and in a merged file that is read again and again`,
  );
  const made = queryFiles(entries, 10_000);
  print(
    ["query", "CPU ms", "ns of a work unit", "result", "merged: CPU ms"],
    QUERIES.map((query) => {
      // The same files again and again: states grow as those of a day do, which a factor would not show.
      const files = Math.ceil((DAY_ENTRIES / FILE_ENTRIES) * query.share);
      const read = Array.from({ length: files }, (_, at) => made[at % made.length]).filter(
        (file) => file !== undefined,
      );
      const { us, result: run } = best(() => runQuery(read, query));
      const repeated = Array.from({ length: Math.round((DAY_ENTRIES / MERGED_ENTRIES) * query.share) }, () => merged);
      const { us: mergedUs } = best(() => runQuery(repeated, query));
      return [
        ...[query.name, (us / 1000).toFixed(0), ((us * 1000) / run.work).toFixed(2), run.result],
        (mergedUs / 1000).toFixed(0),
      ];
    }),
  );
}

function rowOfFile(file: string): (string | number)[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const slice = sliceOf(lines, START);
  const count = lines.length;
  const { us, result } = best(() => encode([slice], count, 25_000));
  const { reader, chunk } = openFile(result.file);
  const { start, end } = reader.range(0, reader.columns.length - 1);
  const shape = reader.columns.length - 2;
  const shapes = reader.texts(0, shape, chunk(0, shape));
  return [
    path.basename(file),
    count,
    (slice.body.length / count).toFixed(0),
    (us / count).toFixed(2),
    (result.file.size / count).toFixed(1),
    ((end - start) / count).toFixed(1),
    reader.properties.columns.length,
    shapes.kind === "texts" ? count : shapes.dictionary.length,
  ];
}

function batchesOf(): DecodedBatch[] {
  const step = (24 * HOUR_MS) / entries;
  return Array.from({ length: Math.ceil(entries / BATCH) }, (_, index) => {
    const first = index * BATCH;
    const count = Math.min(BATCH, entries - first);
    const lines = Array.from({ length: count }, (__, at) =>
      JSON.stringify(entryAt(first + at, Math.floor(START + (first + at) * step) + ((first + at) % 7))),
    );
    const receivedAt = Math.floor(START + (first + BATCH) * step) + (index % 90);
    return { firstSeq: first + 1, count, commit: index * 3 + 1, receivedAt, body: Buffer.from(lines.join("\n")) };
  });
}

function encode(
  from: readonly DecodedBatch[],
  lastSeq: number,
  groupRows: number,
): { file: SegmentFile; longest: number } {
  const steps = encodeSegment("proj_000000000001", linesOf(from, { firstSeq: 1, lastSeq }), { groupRows });
  let longest = 0;
  for (;;) {
    const before = process.threadCpuUsage();
    const step = steps.next();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    if (step.done === true) return { file: step.value, longest };
  }
}

function flush(from: readonly DecodedBatch[], lastSeq: number, firstSeq = 1): CatalogFile[] {
  return [...encodeFiles("proj_000000000001", from, { firstSeq, lastSeq }, true)].filter((step) => step !== null);
}

function report(name: string, work: () => number): void {
  // A pass takes few milliseconds; the first ones also compile.
  const { us, result } = best(work, rounds * WARM_PASSES);
  const ms = (us / 1000) * (TRIAL_ENTRIES / entries);
  console.log(
    `${name.padEnd(48)} ${ms.toFixed(0).padStart(6)} ms ${((us * 1000) / entries).toFixed(1).padStart(8)} ns an entry (${result})`,
  );
}

function best<T>(work: () => T, times = rounds): { us: number; result: T } {
  let us = Number.POSITIVE_INFINITY;
  let result = work();
  for (let round = 0; round < times; round++) {
    const before = process.cpuUsage();
    result = work();
    const { user, system } = process.cpuUsage(before);
    us = Math.min(us, user + system);
  }
  return { us, result };
}

function print(header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  console.log(
    aligned(
      header,
      rows.map((row) => row.map(String)),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
