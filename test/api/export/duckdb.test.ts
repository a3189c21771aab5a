import { createHash, randomBytes } from "node:crypto";
import { globSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { useDuckDb } from "../../support/duckdb.ts";
import { startServer, type TestServer } from "../../support/server.ts";

/** An export of a running service, and the files of its bucket, judged by DuckDB. */

const ENTRIES = 6000;
const BATCH = 1000;
const duck = useDuckDb();
let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await startServer({ env: { RECENT_MAX_BYTES: "100000" } });
  tenant = await createTenant(server.url);
}, 120_000);
afterAll(async () => {
  await server.stop();
});

const now = Date.now();

function entryOf(at: number) {
  return {
    timestamp: now - 7_200_000 + at * 1000,
    level: at % 17 === 0 ? "error" : "info",
    message: `Request ${at}`,
    // Random, so that a segment is larger than what D1 keeps.
    traceId: randomBytes(16).toString("hex"),
    data: {
      route: `/r/${at % 7}`,
      ms: (at * 7919) % 1500,
      ratio: at / 7,
      user: { id: at % 97 },
      ...(at % 3 === 0 && { rare: `x${at % 5}` }),
    },
  };
}

async function sent(): Promise<void> {
  for (let from = 0; from < ENTRIES; from += BATCH) {
    const body = Array.from({ length: BATCH }, (_, at) => entryOf(from + at));
    const answer = await call(server.url, `/logger/${tenant.projectId}/log`, { token: tenant.key.secret, body });
    expect(answer.status).toBe(201);
  }
}

/** Waits until most entries are in the cold tier. */
async function flushed(): Promise<void> {
  const { workspaceId } = tenant.account;
  for (let tries = 0; ; tries++) {
    const usage = await call<{ stored: { entries: number } }>(
      server.url,
      `/workspaces/${workspaceId}/usage`,
      asUser(tenant.account),
    );
    if (usage.body.data.stored.entries >= ENTRIES / 2) return;
    if (tries === 100) throw new Error(`No flush: ${JSON.stringify(usage.body.data)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function exported(format: string): Promise<Buffer> {
  const answer = await fetch(`${server.url}/logger/${tenant.projectId}/export?format=${format}`, {
    headers: { Authorization: `Bearer ${tenant.key.secret}` },
  });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

async function rowsOf(sql: string): Promise<unknown[][]> {
  const read = await duck.run(sql);
  return read
    .getRowsJS()
    .map((row) =>
      row.map((value) =>
        typeof value === "bigint" ? Number(value) : value instanceof Date ? value.toISOString() : value,
      ),
    );
}

test("an export of both tiers gives DuckDB the tables of the API, and the files of the bucket have the same entries", async () => {
  await sent();
  await flushed();
  const [ndjson, parquet] = [path.join(duck.folder, "all.ndjson"), path.join(duck.folder, "all.parquet")];
  const text = await exported("ndjson");
  writeFileSync(ndjson, text);
  writeFileSync(parquet, await exported("parquet"));
  const end = text.lastIndexOf('{"manifest":');
  expect(JSON.parse(text.subarray(end).toString())).toMatchObject({
    manifest: {
      count: ENTRIES,
      firstSeq: 1,
      lastSeq: ENTRIES,
      complete: true,
      sha256: createHash("sha256").update(text.subarray(0, end)).digest("hex"),
    },
  });
  const queries = [
    {
      body: {
        aggregations: [{ fn: "count" }, { fn: "p99", field: "ms" }, { fn: "sum", field: "ratio" }],
        groupBy: ["route"],
      },
      sql: `SELECT "data.route" AS k, count(*), quantile_disc("data.ms", 0.99), fsum("data.ratio") FROM entries GROUP BY k ORDER BY k`,
    },
    {
      body: {
        aggregations: [
          { fn: "count_distinct", field: "user.id" },
          { fn: "avg", field: "ms" },
          { fn: "max", field: "ms" },
        ],
        groupBy: [{ bin: "15m" }],
        filters: { level: "error" },
      },
      sql: `SELECT time_bucket(INTERVAL '15 minutes', timestamp) AS k, count(DISTINCT "data.user.id"), avg("data.ms"), max("data.ms")
        FROM entries WHERE level = 'error' GROUP BY k ORDER BY k`,
    },
    {
      body: {
        aggregations: [{ fn: "count" }, { fn: "min", field: "ratio" }],
        groupBy: ["rare"],
        filters: { data: { ms: { gte: 700 } } },
      },
      sql: `SELECT "data.rare" AS k, count(*), min("data.ratio") FROM entries WHERE "data.ms" >= 700 GROUP BY k ORDER BY k NULLS LAST`,
    },
  ];
  for (const { body, sql } of queries) {
    const answer = await call<{ rows: unknown[][]; complete: boolean }>(server.url, "/logger/stats", {
      token: tenant.key.secret,
      body,
    });
    expect(answer.body.data).toMatchObject({ complete: true });
    const judged = await rowsOf(`WITH entries AS (FROM '${parquet}') ${sql}`);
    expect(answer.body.data.rows).toEqual(
      judged.map((row) => row.map((value) => (typeof value === "number" ? expect.closeTo(value, 6) : value))),
    );
  }
  // The same entries in both formats.
  const [same] = await rowsOf(
    `SELECT count(*) FROM '${parquet}' AS p JOIN (FROM read_ndjson_auto('${ndjson}')) AS n ON n.seq = p.seq
     WHERE n.message = p.message AND n.traceId = p.trace_id AND n.level = p.level AND n.data.ms = p."data.ms"`,
  );
  expect(same).toEqual([ENTRIES]);
  const files = globSync(path.join(server.dataDir, "**/r2/**/blobs/*"));
  expect(files.length).toBeGreaterThan(0);
  const listed = files.map((file) => `'${file}'`).join(", ");
  const [counts] = await rowsOf(
    `SELECT count(*), count(DISTINCT b.seq), count(*) FILTER (b.message = p.message AND b.trace_id = p.trace_id AND b."data.ms" = p."data.ms"
       AND b.commit = p.commit AND b.received_at = p.received_at AND b.rest IS NOT DISTINCT FROM p.rest)
     FROM read_parquet([${listed}], union_by_name = true) AS b JOIN '${parquet}' AS p ON b.seq = p.seq`,
  );
  const [rows = 0, distinct, equal] = counts?.map(Number) ?? [];
  expect(distinct).toBeGreaterThanOrEqual(ENTRIES / 2);
  expect(equal).toBe(rows);
}, 120_000);
