import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { D1Database } from "@cloudflare/workers-types";
import { StartFailure } from "../scripts/lib/failure.ts";
import { compactOnce } from "../src/logs/cold/compaction/compact.ts";
import { CompactionStore } from "../src/logs/cold/compaction/store.ts";
import { countBlocks } from "../src/logs/cold/filter/block-filter.ts";
import type { DecodedBatch } from "../src/logs/cold/format/lines.ts";
import { withoutExcluded } from "../src/logs/cold/store/filter-lookup.ts";
import { SegmentStore } from "../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../src/logs/cold/store/writer.ts";
import { LeasedMemory } from "../src/logs/query/memory.ts";
import { runQuery } from "../src/logs/query/run-query.ts";
import { QueryBody } from "../src/logs/query/schema.ts";
import type { LogSource } from "../src/logs/query/tiers.ts";
import { encodeFiles, placeInBucket } from "../src/logs/segments/encode/encode-rows.ts";
import type { Bucket, FileRange } from "../src/platform/bucket.ts";
import { randomOf, requestLineAt } from "./segment-queries.ts";
import { aligned } from "./text-table.ts";

/**
 * `npm run bench:needles -- [--entries 1000000] [--merged] [--keep FOLDER] [--d1 2] [--get 2] [--only NAME] [--profile FILE]`:
 * searches for few entries among many, with the whole path of a query except its transport: rows of the catalog in SQLite, files
 * in memory. Prints CPU time, statements, rounds, ranges and bytes; `--d1` and `--get` add milliseconds to each statement and
 * range. `--keep` stores the entries for later runs. Writes nothing else.
 */

const { values } = parseArgs({
  options: {
    entries: { type: "string" },
    merged: { type: "boolean" },
    keep: { type: "string" },
    d1: { type: "string" },
    get: { type: "string" },
    only: { type: "string" },
    profile: { type: "string" },
    runs: { type: "string" },
  },
});
const ENTRIES = Number(values.entries ?? 1_000_000);
if (!(ENTRIES >= 100_000)) throw new StartFailure("--entries: at least 100000.");
const LATENCY = { d1: Number(values.d1 ?? 0), get: Number(values.get ?? 0) };

const WORKSPACE = "ws_000000000001";
const PROJECT = "proj_000000000001";
const RANGE = 10_000;
const BATCH = 100;
const RARE_TRACE = "00112233445566778899aabbccddeeff";
const RARE_TEXT = "stormglasspetrel";
const RARE_TICKET = "T-4711";
/** Shares of the entries at which a rare text and a rare value are. */
const RARE_AT = [0.07, 0.27, 0.47, 0.67, 0.87].map((share) => Math.floor(share * ENTRIES));

const files = new Map<string, Uint8Array>();
const used = { d1: 0, rounds: 0, ranges: 0, bytes: 0 };

const bucket: Bucket = {
  putNew: async ({ key, bytes }) => {
    const isNew = !files.has(key);
    if (isNew) files.set(key, bytes.slice());
    return isNew;
  },
  head: async (key) => (files.has(key) ? { key, size: files.get(key)?.length ?? 0, storedAt: 0 } : null),
  readRanges: async (ranges) => {
    used.rounds++;
    used.ranges += ranges.length;
    if (LATENCY.get > 0) await setTimeout(LATENCY.get * Math.ceil(ranges.length / 6));
    return ranges.map(readRange);
  },
  readTail: async () => null,
  delete: async (keys) => {
    for (const key of keys) files.delete(key);
  },
  list: async () => ({ files: [], cursor: null }),
};

function readRange({ key, start, end }: FileRange): Uint8Array | null {
  used.bytes += end - start;
  return files.get(key)?.slice(start, end) ?? null;
}

/** A database of D1 as far as the cold tier uses it. */
function d1Of(database: DatabaseSync): D1Database {
  const call = async <T>(run: () => T): Promise<T> => {
    used.d1++;
    if (LATENCY.d1 > 0) await setTimeout(LATENCY.d1);
    return run();
  };
  const prepared = (sql: string, params: (string | number | null)[]) => {
    const rows = (isArrays: boolean) => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(isArrays);
      return statement.all(...params);
    };
    return {
      rows,
      bind: (...bound: (string | number | null)[]) => prepared(sql, bound),
      raw: () => call(() => rows(true)),
      all: () => call(() => ({ results: rows(false) })),
      run: () => call(() => ({ results: rows(false) })),
      first: (column?: string) =>
        call(() => {
          const [row] = rows(false);
          return row === undefined ? null : column === undefined ? row : (row[column] ?? null);
        }),
    };
  };
  const db = {
    prepare: (sql: string) => prepared(sql, []),
    batch: (statements: ReturnType<typeof prepared>[]) =>
      call(() => {
        database.exec("BEGIN");
        const results = statements.map(({ rows }) => ({ results: rows(false), meta: { size_after: 0 } }));
        database.exec("COMMIT");
        return results;
      }),
  };
  // SAFETY: the cold tier calls these methods only.
  return db as unknown as D1Database;
}

function* batchesOf(first: number, random: () => number): Generator<DecodedBatch> {
  for (let at = first; at < first + RANGE; at += BATCH) {
    const lines = Array.from({ length: BATCH }, (_, index) => {
      const own = at + index;
      const line = requestLineAt(own, random, ENTRIES);
      const rare = RARE_AT.indexOf(own);
      if (rare < 0) return line;
      const { data, message, ...entry } = JSON.parse(line);
      const [head, traceId] = [`${message} after ${RARE_TEXT}-7`, rare === 2 ? RARE_TRACE : entry.traceId];
      const { timestamp, level, category, type, session } = entry;
      const members = { timestamp, level, category, type, message: head, session, traceId };
      return JSON.stringify({ ...members, data: { ...data, ticket: RARE_TICKET } });
    });
    yield {
      firstSeq: at + 1,
      count: BATCH,
      commit: at + 1,
      receivedAt: 1.8e12 + at,
      body: Buffer.from(lines.join("\n")),
    };
  }
}

async function fill(db: D1Database): Promise<void> {
  const random = randomOf(7);
  for (let first = 0; first < ENTRIES; first += RANGE) {
    const range = { firstSeq: first + 1, lastSeq: first + RANGE };
    const made = [...encodeFiles(PROJECT, batchesOf(first, random), range, true)].filter((step) => step !== null);
    const rows = made.map((file) => {
      const row = placeInBucket(file, WORKSPACE);
      files.set(row.file, new Uint8Array(Buffer.concat(file.parts)));
      return row;
    });
    await new SegmentWriter(db).insertSegments(WORKSPACE, rows);
  }
  if (values.merged !== true) return;
  const store = new CompactionStore(db);
  // Readers see a merge some minutes after its begin.
  const now = () => Date.now() - 3_600_000;
  const ports = { store, bucket, now, pause: async () => undefined };
  const call = { workspaceId: WORKSPACE, projectId: PROJECT, readySeq: ENTRIES, retentionDays: 30, deadline: 9e15 };
  for (let doneSeq = 0; ; ) {
    const outcome = await compactOnce(ports, { ...call, doneSeq });
    if (outcome.outcome === "failed") throw new Error(outcome.reason);
    if (outcome.outcome === "idle" && outcome.isLast) break;
    doneSeq = outcome.doneSeq;
  }
}

async function opened(): Promise<D1Database> {
  const folder = values.keep === undefined ? null : path.join(values.keep, `${ENTRIES}-${values.merged === true}`);
  const isKept = folder !== null && existsSync(path.join(folder, "catalog.sqlite"));
  if (folder !== null) mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(folder === null ? ":memory:" : path.join(folder, "catalog.sqlite"));
  const db = d1Of(database);
  if (folder !== null && isKept) {
    for (const name of readdirSync(folder)) {
      if (name.startsWith("v1%"))
        files.set(decodeURIComponent(name), new Uint8Array(readFileSync(path.join(folder, name))));
    }
    return db;
  }
  for (const name of readdirSync("migrations-cold").sort()) {
    database.exec(readFileSync(path.join("migrations-cold", name), "utf8"));
  }
  const before = process.cpuUsage();
  await fill(db);
  const { user, system } = process.cpuUsage(before);
  database.exec("DELETE FROM segments WHERE replaced_at IS NOT NULL; VACUUM");
  const named = database.prepare("SELECT file FROM segments UNION SELECT filter_file FROM segments").all();
  const kept = new Set(named.map(({ file }) => file));
  for (const key of files.keys()) if (!kept.has(key)) files.delete(key);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  const rows = database.prepare("SELECT count(*) AS rows, sum(pgsize) AS size FROM segments, dbstat").get();
  const pages = database
    .prepare("SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()")
    .get();
  console.log(
    `${(user + system) / ENTRIES} us of CPU, ${(bytes / ENTRIES).toFixed(2)} bytes in files, ${(Number(pages?.size) / ENTRIES).toFixed(3)} in the catalog an entry`,
    rows === undefined ? "" : "",
  );
  if (folder !== null) for (const [key, file] of files) writeFileSync(path.join(folder, encodeURIComponent(key)), file);
  return db;
}

const db = await opened();
const store = new SegmentStore(db);
const progress = { asOf: ENTRIES + 1, flushed: [{ projectId: PROJECT, seq: ENTRIES }], oldest: 0 };
const source: LogSource = {
  workspaceId: WORKSPACE,
  recent: async () => ({ ...progress, lastCommit: ENTRIES + 1, scope: PROJECT, batches: [], next: null }),
  cold: {
    findSegments: async (selection) => {
      const page = await store.findSegments(selection);
      if (selection.tests.length === 0) return page;
      return { ...page, segments: await withoutExcluded(bucket, page.segments, selection.tests, countBlocks) };
    },
    segmentsBySeq: (...args) => store.segmentsBySeq(...args),
    readBodies: (...args) => store.readBodies(...args),
    readFiles: (ranges) => bucket.readRanges(ranges),
  },
  report: (unreadable) => {
    throw unreadable;
  },
};

const QUERIES: readonly [name: string, filters: object][] = [
  ["newest 100", {}],
  ["newest 100 errors", { level: "error" }],
  ["one trace id", { traceId: RARE_TRACE }],
  ["absent trace id", { traceId: randomBytes(16).toString("hex") }],
  ["rare value", { data: { ticket: RARE_TICKET } }],
  ["rare substring", { search: "GlassPet" }],
  ["two members", { data: { status: 500, durationMs: { gte: 1495 } } }],
  ["one user", { data: { "user.id": "usr_77" } }],
];

async function runOnce(filters: object) {
  let [rows, requests, cursor] = [0, 0, ""];
  do {
    const memory = await LeasedMemory.take(100);
    if (memory === null) throw new Error("There is no memory.");
    const body = QueryBody.parse({ filters, pagination: { limit: 100, ...(cursor !== "" && { cursor }) } });
    const result = await runQuery(source, body, Date.now, undefined, memory);
    memory.release();
    if (!result.ok) throw new Error(result.reason);
    requests++;
    rows += result.page.rows.length;
    cursor = result.page.complete ? "" : (result.page.pagination.nextCursor ?? "");
  } while (cursor !== "" && rows < 100);
  return { rows, requests };
}

const session = new Session();
session.connect();
const table: string[][] = [];
for (const [name, filters] of QUERIES) {
  if (values.only !== undefined && !name.includes(values.only)) continue;
  const times: { cpu: number; wall: number }[] = [];
  let found = { rows: 0, requests: 0 };
  const runs = Number(values.runs ?? 7);
  for (let run = 0; run < runs; run++) {
    if (values.profile !== undefined && run === 3) {
      await session.post("Profiler.enable");
      await session.post("Profiler.setSamplingInterval", { interval: 100 });
      await session.post("Profiler.start");
    }
    Object.assign(used, { d1: 0, rounds: 0, ranges: 0, bytes: 0 });
    const [before, start] = [process.cpuUsage(), performance.now()];
    found = await runOnce(filters);
    const { user, system } = process.cpuUsage(before);
    times.push({ cpu: (user + system) / 1000, wall: performance.now() - start });
  }
  if (values.profile !== undefined) {
    writeFileSync(values.profile, JSON.stringify((await session.post("Profiler.stop")).profile));
  }
  const median = (of: "cpu" | "wall") =>
    times
      .map((time) => time[of])
      .sort((a, b) => a - b)
      [runs >> 1]?.toFixed(1) ?? "";
  const { d1, rounds, ranges, bytes } = used;
  const counts = [found.rows, found.requests, d1, rounds, ranges].map(String);
  table.push([name, median("cpu"), median("wall"), ...counts, (bytes / 1e6).toFixed(2)]);
}
console.log(
  aligned(["query", "CPU ms", "ms", "rows", "requests", "statements", "rounds", "ranges", "MB of ranges"], table),
);
