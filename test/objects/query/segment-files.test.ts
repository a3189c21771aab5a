import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { compactOnce } from "../../../src/logs/cold/compaction/compact.ts";
import { CompactionStore } from "../../../src/logs/cold/compaction/store.ts";
import { SWITCH_MS } from "../../../src/logs/cold/compaction/visibility.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { Export } from "../../../src/logs/export/run-export.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import type { LogSource } from "../../../src/logs/query/tiers.ts";
import { encodeFiles, isForBucket, placeInBucket, placeInRow } from "../../../src/logs/segments/encode/encode-rows.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { runTable } from "../../../src/logs/stats/run-table.ts";
import type { PartCall } from "../../../src/logs/stats/scan-part.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { bucketOf } from "../../../src/platform/bucket.ts";
import { scannerOf } from "../../../src/rpc/call.ts";
import { readContext } from "../../../src/tail/context.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { slices } from "../../unit/cold/support.ts";
import { answered, lineOf, type TestEntry } from "../../unit/query/store.ts";
import { entry, START } from "../cold/support.ts";

const WORKSPACE = "ws_00000000F11E";
const PROJECT = "proj_00000000f11e";

/** Line blocks up to 900, a file in the row up to 960, files in the bucket, the last one late in time. */
const RANGES = [900, 960, 2400, 2600] as const;
const entries = Array.from({ length: 2600 }, (_, at): TestEntry => {
  const level = at % 7 === 0 ? "error" : "info";
  const data = { at, route: `/r${at % 5}`, ...(at % 3 === 0 ? { user: { plan: "team" } } : {}) };
  const time = at >= 2500 ? START + (at - 2500) * 5 : START + at * 1000;
  return entry(at, { level, data, timestamp: time, message: `Message ${at} ${"k".repeat(at % 50)}` });
});

const tier = new ColdTier(env);
const report = (fault: Error) => expect.fail(fault.message);
const flushed = [{ projectId: PROJECT, seq: entries.length }];
const source: LogSource = {
  workspaceId: WORKSPACE,
  recent: async ({ asOf }) => {
    const commits = { asOf: asOf ?? 1_000_000, lastCommit: 1_000_000 };
    return { ...commits, scope: PROJECT, flushed, oldest: 0, batches: [], next: null };
  },
  cold: tier,
  report,
};
const stats = {
  ...source,
  recentCounts: async () => ({ asOf: 1_000_000, flushed, oldest: 0, summaries: new Uint8Array(0), next: null }),
  levels: { read: tier.readLevels.bind(tier), max: 128 },
  summaries: { read: tier.readSummaries.bind(tier), max: 64 },
};

beforeAll(async () => {
  const batches = slices(Array.from({ length: 26 }, (_, batch) => entries.slice(batch * 100, batch * 100 + 100)));
  const writer = new SegmentWriter(env.COLD_DB);
  const bucket = env.BUCKET;
  if (bucket === undefined) throw new Error("The tests have a bucket.");
  let firstSeq = 1;
  for (const [index, lastSeq] of RANGES.entries()) {
    const range = { firstSeq, lastSeq };
    firstSeq = lastSeq + 1;
    if (index === 0) {
      await writer.insertSegments(WORKSPACE, [...encodeSegments(PROJECT, batches, range)]);
      continue;
    }
    const files = [...encodeFiles(PROJECT, batches, range, true)].filter((step) => step !== null);
    const rows = files.map((file) => (isForBucket(file, true) ? placeInBucket(file, WORKSPACE) : placeInRow(file)));
    for (const [at, row] of rows.entries()) {
      if (row.file !== null) await bucket.put(row.file, Buffer.concat(files[at]?.parts ?? []));
    }
    await writer.insertSegments(WORKSPACE, rows);
  }
});

const at = ({ data }: TestEntry): number => Number(data?.at);

const QUERIES: readonly {
  body: { pagination?: object; [member: string]: unknown };
  passes: (entry: TestEntry) => boolean;
  isRising?: boolean;
}[] = [
  { body: {}, passes: () => true },
  { body: { filters: { level: "error" } }, passes: ({ level }) => level === "error" },
  {
    body: { filters: { search: "message 12" }, order: "asc" },
    passes: ({ message }) => message.startsWith("Message 12"),
    isRising: true,
  },
  {
    body: { filters: { data: { at: { gte: 850, lt: 1000 } } } },
    passes: (each) => at(each) >= 850 && at(each) < 1000,
  },
  {
    body: { filters: { data: { "user.plan": "team", route: "/r1" } }, pagination: { includeTotal: true } },
    passes: (each) => at(each) % 15 === 6,
  },
  {
    body: { filters: { from: START + 890_000, to: START + 970_000 }, order: "asc" },
    passes: ({ timestamp }) => timestamp >= START + 890_000 && timestamp < START + 970_000,
    isRising: true,
  },
];

/** Merges all segments into one of each part, with the filter of the larger one in the bucket. Readers see it immediately. */
async function compact(): Promise<void> {
  const ports = {
    store: new CompactionStore(env.COLD_DB),
    bucket: bucketOf(env),
    pause: async () => {},
    wideFrom: 500,
  };
  const now = () => Date.now() - 2 * SWITCH_MS;
  const call = { workspaceId: WORKSPACE, projectId: PROJECT, doneSeq: 0, readySeq: entries.length, retentionDays: 365 };
  const merged = await compactOnce({ ...ports, now }, { ...call, deadline: Date.now() + 60_000 });
  expect(merged).toMatchObject({ outcome: "merged", entries: entries.length });
  const rows = await env.COLD_DB.prepare("SELECT filter_file FROM segments WHERE replaced_at IS NULL").all();
  expect(rows.results.length).toBeLessThan(RANGES.length);
  expect(rows.results.filter((row) => row.filter_file !== null)).toHaveLength(1);
}

describe.each([
  ["both kinds of segments, in D1 and in the bucket", async () => {}],
  ["segments that a compaction has merged", compact],
])("%s", (_name, prepare) => {
  beforeAll(prepare);

  it.each(QUERIES.map((query) => [JSON.stringify(query.body), query] as const))(
    "16: are queried alike: %s",
    async (_, { body, passes, isRising }) => {
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const pagination = { limit: 1000, ...body.pagination, ...(cursor ? { cursor } : {}) };
        const result = await runQuery(source, QueryBody.parse({ ...body, pagination }), () => 0);
        if (!result.ok) throw new Error(result.reason);
        seen.push(...answered(result.page).logs.map(({ message }) => message));
        cursor = result.page.pagination.nextCursor;
      }
      const rising = entries.filter(passes).toSorted((a, b) => a.timestamp - b.timestamp || at(a) - at(b));
      expect(seen).toEqual((isRising ? rising : rising.toReversed()).map(({ message }) => message));
    },
  );

  it("16: are counted alike, by time and in tables, also by scan objects", async () => {
    const filters = { data: { at: { gte: 100 }, route: "/r2" } };
    const found = entries.filter((each) => at(each) >= 100 && at(each) % 5 === 2);
    const histogram = await runStats(stats, HistogramBody.parse({ filters, interval: "1d" }));
    expect(histogram).toMatchObject({ ok: true, answer: { total: found.length, complete: true } });
    const aggregations = [{ fn: "count" }, { fn: "sum", field: "data.at" }, { fn: "count_distinct", field: "message" }];
    const table = await runTable(stats, TableBody.parse({ aggregations, groupBy: ["level"], filters }));
    if (!table.ok) throw new Error(table.reason);
    const rows = ["error", "info"].map((level) => {
      const own = found.filter((each) => each.level === level);
      return [level, own.length, own.reduce((sum, { data }) => sum + Number(data?.at), 0), own.length];
    });
    expect(table.answer.rows.map((row) => JSON.parse(row)).toSorted()).toEqual(rows);
    const outcomes: string[] = [];
    const scanners = {
      slots: 2,
      sizes: { splitFrom: 0, part: 1000 },
      scan: async (slot: number, call: PartCall) => {
        const outcome = await scannerOf(env.SCANNERS, WORKSPACE, slot).scan(call);
        outcomes.push(outcome.outcome);
        return outcome;
      },
    };
    const shared = await runTable(
      { ...stats, scanners },
      TableBody.parse({ aggregations, groupBy: ["level"], filters }),
    );
    expect(shared).toMatchObject({ ok: true, answer: { ...table.answer } });
    expect(new Set(outcomes)).toEqual(new Set(["done"]));
    const levels = await runStats(stats, HistogramBody.parse({ interval: "1d" }));
    expect(levels).toMatchObject({ ok: true, answer: { total: entries.length } });
  });

  it("16: are exported alike, as a whole, from a seq on and by time", async () => {
    const through = entries.length;
    const recent = async () => ({ lastSeq: through, flushedSeq: through, oldest: 0, through, batches: [] });
    const missing = async () => Number.NaN;
    const own = { workspaceId: WORKSPACE, projectId: PROJECT, recent, cold: tier, report, missing };
    for (const [afterSeq, from] of [
      [0, null],
      [933, null],
      [2399, START + 50],
    ] as const) {
      const opened = await Export.open(own, { from, to: null, afterSeq, format: "ndjson" });
      const chunks: Uint8Array[] = [];
      for await (const chunk of opened?.bytes() ?? []) chunks.push(chunk);
      const lines: string[] = Buffer.concat(chunks).toString().split("\n").slice(0, -2);
      const wanted = entries.slice(afterSeq).filter(({ timestamp }) => timestamp >= (from ?? 0));
      expect(lines.map((line) => JSON.parse(line))).toMatchObject(wanted.map((each) => JSON.parse(lineOf(each))));
      expect(opened).toMatchObject({ isComplete: true, count: wanted.length });
    }
  });

  it("16: give the context of an entry alike", async () => {
    const seqs = {
      scope: { workspaceId: WORKSPACE, projectId: PROJECT, report },
      recent: async () => {
        const through = entries.length;
        return { lastSeq: through, flushedSeq: through, oldest: 0, through, batches: [] };
      },
      cold: tier,
    };
    for (const seq of [1, 899, 955, 2400, 2600]) {
      const context = await readContext(seqs, { seq, before: 3, after: 3 });
      const texts = [...(context?.before ?? []), context?.entry ?? "", ...(context?.after ?? [])];
      const wanted = entries.slice(Math.max(0, seq - 4), seq + 3).map((each) => JSON.parse(lineOf(each)));
      expect(texts.map((text) => JSON.parse(text))).toMatchObject(wanted);
    }
  });
});
