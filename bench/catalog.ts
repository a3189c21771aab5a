import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { StartFailure } from "../scripts/lib/failure.ts";
import { filterOf } from "../src/logs/cold/compaction/filters.ts";
import { GOAL_ENTRIES } from "../src/logs/cold/compaction/policy.ts";
import { type TokenTest, tokenTestsOf } from "../src/logs/cold/filter/token-tests.ts";
import type { TokenHash } from "../src/logs/cold/filter/tokens.ts";
import {
  blockMayContain,
  FILTER_BLOCK_BYTES,
  rangeOfToken,
  SEGMENTS_OF_FILE,
} from "../src/logs/cold/filter/wide-filter.ts";
import { readBlockIndex } from "../src/logs/cold/format/batch-table.ts";
import { toHex } from "../src/logs/cold/store/hex.ts";
import { selectStatement } from "../src/logs/cold/store/selection.ts";
import { ALL_CATEGORIES_MASK, ALL_LEVELS_MASK, type LogFilter, OPEN_FILTER } from "../src/logs/query/filter.ts";
import { GroupBytes } from "../src/logs/segments/decode/group-bytes.ts";
import { SegmentReader } from "../src/logs/segments/decode/segment-reader.ts";
import { columnCountsOf } from "../src/logs/segments/decode/source-lines.ts";
import { mergeColumns } from "../src/logs/segments/encode/choose-columns.ts";
import { catalogFile, encodeFiles } from "../src/logs/segments/encode/encode-rows.ts";
import type { MergeStep } from "../src/logs/segments/merge/join-texts.ts";
import { SegmentMerger } from "../src/logs/segments/merge/segment-merger.ts";
import { coldBatches } from "./cold-data.ts";

/**
 * `npm run bench:catalog -- [--entries 200000000] [--distinct 2]`: merges real segments of benchmark entries, measures CPU
 * time and bytes, fills a catalog with as many rows of this kind as the entries need, and measures lookups. Prints; writes
 * nothing.
 */

const { values } = parseArgs({ options: { entries: { type: "string" }, distinct: { type: "string" } } });
const entries = Number(values.entries ?? 200_000_000);
/** Merged segments that are really made; the others repeat them. */
const distinct = Number(values.distinct ?? 2);
if (!(entries >= GOAL_ENTRIES && distinct >= 1 && distinct <= 16)) throw new StartFailure("--distinct: 1 to 16.");

const WORKSPACE = "ws_000000000001";
const PROJECT = "proj_000000000001";
const START = Date.UTC(2026, 10, 1);
/** 200 million entries over 30 days. */
const STEP_MS = (30 * 86_400_000) / entries;
const FLUSHED = 10_000;

async function done<T>(steps: Generator<MergeStep, T>, note: (cpuMs: number) => void = () => {}): Promise<T> {
  for (;;) {
    const before = process.threadCpuUsage();
    const step = steps.next();
    const { user, system } = process.threadCpuUsage(before);
    note((user + system) / 1000);
    if (step.done === true) return step.value;
    await step.value;
  }
}

interface Made {
  row: ReturnType<typeof catalogFile>["row"];
  fileBytes: number;
  filter: Uint8Array;
  flushedRowBytes: number;
}

const cpu = { flush: 0, merge: 0, filter: 0, longest: 0 };

async function make(number: number): Promise<Made> {
  const firstSeq = number * GOAL_ENTRIES + 1;
  const parts = Array.from({ length: GOAL_ENTRIES / FLUSHED }, (_, at) => {
    const first = firstSeq + at * FLUSHED;
    const start = START + first * STEP_MS;
    const batches = [
      ...coldBatches({ projectId: PROJECT, firstSeq: first, count: FLUSHED, batch: 50, start, step: STEP_MS }),
    ];
    const before = process.threadCpuUsage();
    const [file] = [...encodeFiles(PROJECT, batches, { firstSeq: first, lastSeq: first + FLUSHED - 1 }, true)].filter(
      (step) => step !== null,
    );
    const { user, system } = process.threadCpuUsage(before);
    cpu.flush += (user + system) / 1000;
    if (file === undefined) throw new Error("A range has a file.");
    return file;
  });
  const opened = parts.map(({ row, parts: bytes, size }) => ({
    row,
    bytes: new Uint8Array(Buffer.concat(bytes)),
    reader: new SegmentReader(row.batchTable, size),
  }));
  const note = (kind: "merge" | "filter") => (ms: number) => {
    cpu[kind] += ms;
    cpu.longest = Math.max(cpu.longest, ms);
  };
  const columns = mergeColumns(opened.map(({ reader }) => columnCountsOf(reader)));
  const merger = new SegmentMerger(PROJECT, columns, { byColumnBytes: 0, rows: GOAL_ENTRIES });
  for (const { row, bytes, reader } of opened) {
    merger.addCounts(row);
    const blocks = readBlockIndex(row);
    for (const group of reader.rowGroups.keys()) {
      const block = blocks[group];
      const source = { reader, group, bytes: GroupBytes.ofFile(reader, group, bytes) };
      if (block !== undefined) await done(merger.addGroup(source, block), note("merge"));
    }
  }
  const merged = await done(merger.finish([]), note("merge"));
  const made = await done(filterOf(WORKSPACE, PROJECT, merged, true), note("filter"));
  const key = { projectId: PROJECT, firstSeq, lastSeq: firstSeq + GOAL_ENTRIES - 1, part: 16 };
  const { row } = catalogFile(key, merged, made.row);
  const flushedRowBytes = parts.reduce((sum, part) => sum + blobBytes(part.row), 0);
  return { row, fileBytes: merged.size, filter: made.file?.bytes ?? new Uint8Array(), flushedRowBytes };
}

function blobBytes({ blocks, levels, summary, batchTable, filter, blockFilter, body }: Made["row"]): number {
  return [blocks, levels, summary, batchTable, filter, blockFilter, body].reduce((sum, { length }) => sum + length, 0);
}

const made: Made[] = [];
for (let number = 0; number < distinct; number++) made.push(await make(number));
const [first] = made;
if (first === undefined) throw new StartFailure("--distinct: 1 to 16.");
const total = distinct * GOAL_ENTRIES;
const us = (ms: number) => ((ms * 1000) / total).toFixed(2);
console.log(`${distinct} segments of ${GOAL_ENTRIES} entries, each of ${GOAL_ENTRIES / FLUSHED} flushed ones`);
console.log(
  `CPU us an entry: flush ${us(cpu.flush)}, merge ${us(cpu.merge)}, filter ${us(cpu.filter)}; longest step ${cpu.longest.toFixed(1)} ms`,
);

const segments = Math.ceil(entries / GOAL_ENTRIES);
const db = new DatabaseSync(":memory:");
for (const name of ["0001_segments.sql", "0002_files.sql"]) {
  db.exec(readFileSync(path.join(import.meta.dirname, "../migrations-cold", name), "utf8"));
}
const insert =
  db.prepare(`INSERT INTO segments (workspace_id, project_id, first_seq, part, last_seq, count, min_ts, max_ts,
  min_commit, max_commit, level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, frames,
  levels, summary, directory, filter, frame_filter, body, format, file, filter_file, filter_slot)
  VALUES (?, ?, ?, 16, ?, ?, ?, ?, 1, 2, ?, ?, ?, ?, 0, 0, 0, unhex(?), unhex(?), unhex(?), unhex(?), x'', x'', x'', 1, ?, ?, ?)`);
const span = GOAL_ENTRIES * STEP_MS;
db.exec("BEGIN");
for (let number = 0; number < segments; number++) {
  const { row } = made[number % distinct] ?? first;
  const firstSeq = number * GOAL_ENTRIES + 1;
  const minTimestamp = Math.floor(START + number * span);
  const key = `v1/${WORKSPACE}/${PROJECT}/${firstSeq.toString(16).padStart(16, "0")}-16-0123456789abcdef`;
  const file = Math.floor(number / SEGMENTS_OF_FILE);
  const filterKey = `v1/${WORKSPACE}/${PROJECT}/i-8-8192-${file.toString(16).padStart(16, "0")}`;
  insert.run(
    ...[
      WORKSPACE,
      PROJECT,
      firstSeq,
      firstSeq + GOAL_ENTRIES - 1,
      row.count,
      minTimestamp,
      Math.floor(minTimestamp + span),
    ],
    ...[row.levelMask, row.categoryMask, row.rawBytes, row.storedBytes],
    ...[row.blocks, row.levels, row.summary, row.batchTable].map(toHex),
    ...[key, filterKey, number % SEGMENTS_OF_FILE],
  );
}
db.exec("COMMIT");
const pages = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get();
const catalogBytes = Number(pages?.bytes);
const perEntry = (bytes: number) => (bytes / GOAL_ENTRIES).toFixed(3);
console.log(`
Bytes an entry at rest
  file ${perEntry(first.fileBytes)}, filter ${perEntry(first.filter.length)}, D1 ${(catalogBytes / (segments * GOAL_ENTRIES)).toFixed(3)} with pages and indexes
  of a row in D1: footer ${first.row.batchTable.length} bytes, levels ${first.row.levels.length}, summary ${first.row.summary.length}, row groups ${first.row.blocks.length}
  before the compaction: D1 ${perEntry(first.flushedRowBytes)}`);

const testsOf = (filter: Partial<LogFilter>): TokenTest[] => tokenTestsOf({ ...OPEN_FILTER, ...filter });
const wanted = {
  workspaceId: WORKSPACE,
  projects: new Map([[PROJECT, Number.MAX_SAFE_INTEGER]]),
  from: null,
  to: null,
  levelMask: ALL_LEVELS_MASK,
  categoryMask: ALL_CATEGORIES_MASK,
  asOf: null,
  tests: [] as TokenTest[],
  order: "desc" as const,
  after: null,
  limit: 256,
  maxScanned: 4096,
  readAt: Date.UTC(2026, 11, 1),
};

/** Time of the statements that find all segments, 256 a page, in milliseconds. */
function catalogMs(columns: string): { ms: number; statements: number } {
  const before = performance.now();
  let statements = 0;
  let found = 0;
  for (let before256 = Number.MAX_SAFE_INTEGER; found < segments; ) {
    const { sql, params } = selectStatement({ ...wanted, to: before256 }, columns);
    const rows = db.prepare(sql).all(...params);
    statements++;
    found += rows.length;
    before256 = Math.min(...rows.map((row) => Number(row.min_ts)));
    if (rows.length === 0) break;
  }
  return { ms: performance.now() - before, statements };
}

const META =
  "project_id, first_seq, part, last_seq, count, min_ts, max_ts, hex(frames), length(directory), length(body)";
const plain = catalogMs(META);
const placed = catalogMs(`${META}, filter_file, filter_slot`);
console.log(`
Catalog of ${entries / 1e6} million entries: ${segments} rows, ${(catalogBytes / 1e6).toFixed(0)} MB
  all rows: ${plain.ms.toFixed(0)} ms in ${plain.statements} statements; with the places of their filters ${placed.ms.toFixed(0)} ms`);

const files = Math.ceil(segments / SEGMENTS_OF_FILE);
const holds = (filter: Uint8Array, token: TokenHash): boolean => {
  const { start, end } = rangeOfToken({ filters: 1, blocks: filter.length / FILTER_BLOCK_BYTES }, token);
  return blockMayContain(filter.subarray(start, end), token);
};
const ABSENT: readonly [name: string, filter: Partial<LogFilter>][] = [
  ["trace id that does not occur", { traceId: "f".repeat(32) }],
  ["user.id-like member that does not occur", { data: [{ path: ["userId"], op: "eq", value: 123_456 }] }],
  ["rare word", { search: "stormglasspetrel" }],
];
for (const [name, filter] of ABSENT) {
  const tests = testsOf(filter)
    .flatMap(({ folded }) => (folded === null ? [] : [folded.anyOf]))
    .slice(0, 2);
  const ranges = files * tests.reduce((sum, { length }) => sum + length, 0);
  const passing = made
    .slice(1)
    .filter(({ filter }) => tests.every((anyOf) => anyOf.some((token) => holds(filter, token))));
  console.log(
    `  ${name}: ${ranges} ranges of ${SEGMENTS_OF_FILE * FILTER_BLOCK_BYTES} bytes in one round, ${Math.ceil(ranges / 6)} one after the other on each of 6 connections; ` +
      `${passing.length} of ${distinct - 1} real segments pass; $${((ranges * 0.36) / 1e6).toFixed(6)}`,
  );
}
let passed = 0;
const PROBED = 20_000;
for (let index = 0; index < PROBED; index++) {
  const [test] = testsOf({ traceId: index.toString(16).padStart(32, "e") });
  const [token] = test?.folded?.anyOf ?? [];
  if (token !== undefined && holds(first.filter, token)) passed++;
}
console.log(`  of ${PROBED} ids that do not occur ${((passed / PROBED) * 100).toFixed(2)} % pass a filter`);
