import { randomBytes } from "node:crypto";
import { Aggregator } from "../src/logs/aggregate/aggregator.ts";
import { tableOf } from "../src/logs/aggregate/table.ts";
import { filterOf } from "../src/logs/cold/compaction/filters.ts";
import { readBlockIndex } from "../src/logs/cold/format/batch-table.ts";
import { type DecodedBatch, linesOf } from "../src/logs/cold/format/lines.ts";
import { WorkMeter } from "../src/logs/query/budget.ts";
import { QueryBody } from "../src/logs/query/schema.ts";
import { GroupBytes } from "../src/logs/segments/decode/group-bytes.ts";
import { SegmentReader } from "../src/logs/segments/decode/segment-reader.ts";
import { columnCountsOf } from "../src/logs/segments/decode/source-lines.ts";
import { mergeColumns } from "../src/logs/segments/encode/choose-columns.ts";
import type { CatalogFile } from "../src/logs/segments/encode/encode-rows.ts";
import { encodeSegment } from "../src/logs/segments/encode/encode-segment.ts";
import type { MergeStep } from "../src/logs/segments/merge/join-texts.ts";
import { type MergedSegment, SegmentMerger } from "../src/logs/segments/merge/segment-merger.ts";
import { ColumnAggregator } from "../src/logs/segments/scan/column-aggregator.ts";
import { RowGroupFilter } from "../src/logs/segments/scan/row-group-filter.ts";
import { TableBody } from "../src/logs/stats/table-schema.ts";

/** Queries on the columns of segment files, as a scan of the cold tier makes them, without input. */

const PROJECT = "proj_000000000001";
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 20);
/** Entries of a day, of which each file has the part that its number of entries is. */
export const DAY_ENTRIES = 5_000_000;
export const FILE_ENTRIES = 100_000;
const BATCH = 100;

const ROUTES = [
  ...["/api/v1/orders", "/checkout", "/api/v1/cart", "/login", "/api/v1/search", "/api/v1/products/:id", "/health"],
  ...Array.from({ length: 13 }, (_, index) => `/api/v2/resource-${index}/:id`),
];
const USERS = 20_000;

/** Returns an entry of about 335 bytes. @param inDay entries of a day */
export function requestLineAt(index: number, random: () => number, inDay = DAY_ENTRIES): string {
  const timestamp = new Date(START + Math.floor((index * 24 * HOUR_MS) / inDay) + (index % 7)).toISOString();
  const route = ROUTES[Math.floor(random() ** 2 * ROUTES.length)] ?? "/";
  const durationMs = Math.floor(random() ** 2 * 1500);
  const status = random() < 0.04 ? 500 : random() < 0.1 ? 404 : 200;
  const level = status === 500 ? "error" : status === 404 ? "warn" : "info";
  const message = `GET ${route} completed with status ${status} in ${durationMs} ms`;
  const session = `ses_${randomBytes(9).toString("hex")}`;
  const user = { id: `usr_${Math.floor(random() * USERS)}`, plan: random() < 0.2 ? "team" : "free" };
  const data = { route, status, durationMs, user, region: ["eu", "us", "ap"][index % 3] };
  const ids = { session, traceId: randomBytes(16).toString("hex") };
  return JSON.stringify({ timestamp, level, category: "http", type: "request", message, ...ids, data });
}

/** A generator of pseudo-random numbers, so that runs are comparable (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface QueryFile {
  reader: SegmentReader;
  footer: Uint8Array;
  bytes: Uint8Array;
}

/** Returns batches of 100 entries. */
export function requestBatches(first: number, count: number, random: () => number): DecodedBatch[] {
  return Array.from({ length: count / BATCH }, (__, batch): DecodedBatch => {
    const start = first + batch * BATCH;
    const lines = Array.from({ length: BATCH }, (___, at) => requestLineAt(start + at, random));
    const receivedAt = START + start;
    return { firstSeq: start + 1, count: BATCH, commit: start + 1, receivedAt, body: Buffer.from(lines.join("\n")) };
  });
}

/** Returns files of 100,000 entries. @param groupRows rows of a row group */
export function queryFiles(entries: number, groupRows: number): QueryFile[] {
  const random = randomOf(7);
  return Array.from({ length: Math.ceil(entries / FILE_ENTRIES) }, (_, file) => {
    const first = file * FILE_ENTRIES;
    const batches = requestBatches(first, FILE_ENTRIES, random);
    const range = { firstSeq: first + 1, lastSeq: first + FILE_ENTRIES };
    const steps = encodeSegment(PROJECT, linesOf(batches, range), { groupRows });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const { parts, footer, size } = step.value;
    return { reader: new SegmentReader(footer, size), footer, bytes: new Uint8Array(Buffer.concat(parts)) };
  });
}

/** A merge of flushes, as a compaction makes it. */
export interface Merged {
  segment: MergedSegment;
  filterBytes: number;
  /** Microseconds of CPU time of all entries. */
  mergeUs: number;
  filterUs: number;
}

/** Merges files of one row group each. @param files of a flush, in order */
export async function mergeFlushes(files: readonly CatalogFile[]): Promise<Merged> {
  const opened = files.map(({ row, parts, size }) => ({
    row,
    bytes: new Uint8Array(Buffer.concat(parts)),
    reader: new SegmentReader(row.batchTable, size),
  }));
  const start = process.cpuUsage();
  const columns = mergeColumns(opened.map(({ reader }) => columnCountsOf(reader)));
  const rows = files.reduce((sum, { row }) => sum + row.count, 0);
  const merger = new SegmentMerger(PROJECT, columns, { byColumnBytes: 0, rows });
  for (const { row, bytes, reader } of opened) {
    merger.addCounts(row);
    for (const [group, block] of readBlockIndex(row).entries()) {
      await run(merger.addGroup({ reader, group, bytes: GroupBytes.ofFile(reader, group, bytes) }, block));
    }
  }
  const segment = await run(merger.finish([]));
  const mergeUs = microsSince(start);
  const filtered = process.cpuUsage();
  const { file } = await run(filterOf("ws_0000000BENCH", PROJECT, segment, true));
  return { segment, filterBytes: file?.bytes.length ?? 0, mergeUs, filterUs: microsSince(filtered) };
}

function microsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

async function run<T>(steps: Generator<MergeStep, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await step.value;
  }
}

export interface BenchQuery {
  name: string;
  /** Part of the day that the query reads. */
  share: number;
  body: object;
  /** Newest rows that are wanted; `null` for a table. */
  newest: number | null;
}

const table = (name: string, body: object, share = 1): BenchQuery => ({
  name,
  share,
  body: { aggregations: [{ fn: "count" }], ...body },
  newest: null,
});

export const QUERIES: readonly BenchQuery[] = [
  table("count by hour where durationMs >= 1000", {
    groupBy: [{ bin: "1h" }],
    filters: { data: { durationMs: { gte: 1000 } } },
  }),
  table(
    "count by minute where text has checkout, 3 h",
    { groupBy: [{ bin: "1m" }], filters: { search: "checkout" } },
    3 / 24,
  ),
  table("p99(durationMs) by route", { aggregations: [{ fn: "p99", field: "durationMs" }], groupBy: ["route"] }),
  table("top 10 users by errors", { groupBy: ["user.id"], filters: { level: "error" } }),
  table("distinct users by route", {
    aggregations: [{ fn: "count_distinct", field: "user.id" }],
    groupBy: ["route"],
  }),
  table("avg, sum, max by level and minute", {
    aggregations: ["avg", "sum", "max"].map((fn) => ({ fn, field: "durationMs" })),
    groupBy: ["level", { bin: "1m" }],
  }),
  table("last status by user", {
    aggregations: [{ fn: "last", field: "status" }],
    groupBy: ["user.plan", "region"],
  }),
  {
    name: "newest 100 where status = 500 and durationMs >= 1495",
    share: 1,
    body: { filters: { data: { status: 500, durationMs: { gte: 1495 } } } },
    newest: 100,
  },
  {
    name: "one user, all",
    share: 1,
    body: { filters: { data: { "user.id": "usr_77" } } },
    newest: Number.POSITIVE_INFINITY,
  },
  {
    name: "one trace id, all",
    share: 1,
    body: { filters: { traceId: "0123456789abcdef0123456789abcdef" } },
    newest: Number.POSITIVE_INFINITY,
  },
];

export interface QueryRun {
  result: string;
  /** Work units. */
  work: number;
  /** Microseconds of CPU time after the last file, which do not grow with the entries. */
  finishUs: number;
}

export function runQuery(files: readonly QueryFile[], { body, newest }: BenchQuery): QueryRun {
  const meter = new WorkMeter();
  if (newest !== null) return { result: String(rowsOf(files, body, newest, meter)), work: meter.done, finishUs: 0 };
  const { filter, plan } = TableBody.parse(body);
  const aggregator = new Aggregator(plan);
  const columns = new ColumnAggregator(aggregator, meter);
  let matched = 0;
  for (const { reader, bytes } of files) {
    for (const group of reader.rowGroups.keys()) {
      const chunk = chunkOf(reader, bytes, group);
      const own = new RowGroupFilter(reader, group, filter, { asOf: null, afterCommit: 0 }, meter);
      if (own.isExcluded) continue;
      const { rows } = last(own.steps(chunk));
      matched += rows.length;
      const { left } = last(columns.add(reader, group, rows, chunk));
      if (left.length > 0) throw new Error("A row is left to its line.");
    }
  }
  const before = process.cpuUsage();
  const sort = { column: plan.columns.length - 1, order: "desc" } as const;
  const { rows } = last(tableOf(aggregator, { sort, limit: 10, bytes: 1e6 }));
  const { user, system } = process.cpuUsage(before);
  return { result: `${matched} ${rows[0] ?? ""}`, work: meter.done, finishUs: user + system };
}

function rowsOf(files: readonly QueryFile[], body: object, newest: number, meter: WorkMeter): number {
  const { filter } = QueryBody.parse(body);
  let found = 0;
  for (const { reader, bytes } of [...files].reverse()) {
    for (let group = reader.rowGroups.length - 1; group >= 0; group--) {
      const own = new RowGroupFilter(reader, group, filter, { asOf: null, afterCommit: 0 }, meter);
      if (!own.isExcluded) found += last(own.steps(chunkOf(reader, bytes, group))).rows.length;
      if (found >= newest) return found;
    }
  }
  return found;
}

function chunkOf(reader: SegmentReader, bytes: Uint8Array, group: number) {
  return (column: number) => {
    const { start, end } = reader.range(group, column);
    return bytes.subarray(start, end);
  };
}

function last<T>(steps: Generator<unknown, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
