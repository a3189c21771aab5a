import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { newId } from "../../../src/ids.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { bearer, call } from "../accounts/support.ts";
import { alarm, clock, flushAll, sendBatches, watermark } from "../flush/support.ts";
import {
  addKey,
  evict,
  newTenant,
  numbered,
  onSql,
  receiptOf,
  send,
  type Tenant,
  workspace,
} from "../ingest/support.ts";
import { range, tailOf } from "./support.ts";

beforeAll(clock.start);
afterAll(clock.stop);

const contextShape = z.strictObject({
  entry: z.looseObject({ seq: z.number(), id: z.string() }),
  before: z.array(z.looseObject({ seq: z.number() })),
  after: z.array(z.looseObject({ seq: z.number() })),
  complete: z.boolean(),
});

async function contextOf(tenant: Tenant, seq: number, query = "") {
  const path = `/logger/${tenant.projectId}/log/${logId(tenant.projectId, seq)}${query}`;
  const answer = await call(path, { headers: bearer(tenant.secret) });
  expect([answer.status, answer.code]).toEqual([200, null]);
  const { entry, before, after, complete } = contextShape.parse(answer.data);
  return { seq: entry.seq, before: before.map((each) => each.seq), after: after.map((each) => each.seq), complete };
}

/** 2,000 entries: most in several cold ranges, the last ones recent. */
async function inBothTiers(): Promise<Tenant> {
  const tenant = await newTenant();
  await sendBatches(tenant, 300, 1, 700, 50);
  await flushAll(tenant);
  await sendBatches(tenant, 400, 400);
  await flushAll(tenant);
  await sendBatches(tenant, 100, 49);
  expect(await watermark(tenant)).toBe(1851);
  return tenant;
}

describe("over both tiers", () => {
  it("a tail continues exactly after `since`", async () => {
    const tenant = await inBothTiers();
    for (const since of [0, 1, 300, 301, 1000, 1051, 1850, 1851, 1900, 1999, 2000]) {
      const client = await tailOf(tenant, { query: `?since=${since}` });
      await client.until(({ caughtUp }) => caughtUp.length > 0);
      expect([since, client.seqs]).toEqual([since, range(since + 1, 2000)]);
      client.close();
    }
  });

  it("a tail delivers the same entries from either tier, with filters", async () => {
    const tenant = await newTenant();
    const entries = range(0, 199).map((n) => ({
      message: `Entry ${n}${n % 50 === 7 ? " needle é" : ""}`,
      level: n % 4 === 0 ? "error" : "info",
      // Far apart in time, so that they get separate segments.
      timestamp: Date.now() - (n % 3 === 0 ? 20 * 24 * 3_600_000 : 0) + n,
      session: `s${n % 5}`,
    }));
    receiptOf(await send(tenant, entries.slice(0, 100)));
    receiptOf(await send(tenant, entries.slice(100)));
    const queries = ["", "&level=error", "&search=NEEDLE", "&session=s3&minLevel=error"];
    const before = [];
    for (const query of queries) {
      const client = await tailOf(tenant, { query: `?since=0${query}` });
      await client.until(({ caughtUp }) => caughtUp.length > 0);
      before.push(client.entries);
      client.close();
    }
    await flushAll(tenant);
    for (const [index, query] of queries.entries()) {
      const client = await tailOf(tenant, { query: `?since=0${query}` });
      await client.until(({ caughtUp }) => caughtUp.length > 0);
      expect([query, client.entries]).toEqual([query, before[index]]);
      client.close();
    }
    expect(before.map((list) => list.length)).toEqual([200, 50, 4, 10]);
  });

  it("a tail gets each entry once while its entries are flushed", async () => {
    const tenant = await newTenant();
    const thirty = range(1, 30).map(() => 200);
    await sendBatches(tenant, ...thirty);
    const places = [0, 0, 100, 3333, 5999];
    const clients = await Promise.all(places.map((since) => tailOf(tenant, { query: `?since=${since}` })));
    const flushing = async () => {
      for (let turn = 0; turn < 10; turn++) {
        clock.pass(3_600_000);
        await alarm(tenant.workspaceId);
      }
    };
    await Promise.all([flushing(), sendBatches(tenant, ...thirty)]);
    await evict(tenant.workspaceId);
    await flushAll(tenant);
    receiptOf(await send(tenant, numbered(1)));
    for (const [index, client] of clients.entries()) {
      const since = places[index] ?? 0;
      await client.has(12_001 - since);
      expect(client.seqs).toEqual(range(since + 1, 12_001));
      client.close();
    }
  });

  it("a tail reads quarantined batches, and skips one that cannot be read", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 10, 10, 10, 10);
    await onSql(tenant.workspaceId, (sql) => {
      // Damages a batch, so that the flush quarantines it.
      sql.exec("UPDATE batches SET body = x'00', body_bytes = 1, encoding = 1 WHERE commit_no = 2");
    });
    await evict(tenant.workspaceId);
    clock.pass(3_600_000);
    for (let turn = 0; turn < 6; turn++) await alarm(tenant.workspaceId);
    expect(await watermark(tenant)).toBe(40);
    const client = await tailOf(tenant, { query: "?since=0" });
    await client.until(({ caughtUp }) => caughtUp.length > 0);
    expect(client.seqs).toEqual([...range(1, 10), ...range(21, 40)]);
    client.close();
    expect(await contextOf(tenant, 21, "?before=15&after=1")).toEqual({
      seq: 21,
      before: range(6, 10),
      after: [22],
      complete: true,
    });
  });

  it("an entry is returned with its neighbours", async () => {
    const tenant = await inBothTiers();
    expect(await contextOf(tenant, 1)).toEqual({ seq: 1, before: [], after: [], complete: true });
    for (const [seq, before, after] of [
      [1, 5, 5],
      [300, 100, 100],
      [1051, 3, 3],
      [1851, 100, 100],
      [1852, 100, 100],
      [1999, 100, 100],
      [2000, 1, 100],
    ] as const) {
      expect(await contextOf(tenant, seq, `?before=${before}&after=${after}`)).toEqual({
        seq,
        before: range(Math.max(1, seq - before), seq - 1),
        after: range(seq + 1, Math.min(2000, seq + after)),
        complete: true,
      });
    }
  });

  it("expired entries are returned by no route", async () => {
    const tenant = await newTenant();
    const old = Date.now() - 20 * 24 * 3_600_000;
    receiptOf(await send(tenant, [...numbered(5), { message: "old", timestamp: old }, ...numbered(5)]));
    const change = { retentionDays: 10 };
    await workspace(tenant.workspaceId).confirm("slug");
    await workspace(tenant.workspaceId).changeSettings(tenant.ownerId, change);
    const client = await tailOf(tenant, { query: "?since=0" });
    await client.until(({ caughtUp }) => caughtUp.length > 0);
    expect(client.seqs).toEqual([...range(1, 5), ...range(7, 11)]);
    client.close();
    expect(await contextOf(tenant, 5, "?after=2")).toEqual({ seq: 5, before: [], after: [7], complete: true });
    const gone = await call(`/logger/${tenant.projectId}/log/${logId(tenant.projectId, 6)}`, {
      headers: bearer(tenant.secret),
    });
    expect([gone.status, gone.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("GET /logger/{projectId}/log/{logId}", () => {
  it("refuses unknown entries, and counts the requests", async () => {
    const tenant = await newTenant();
    const other = await newTenant();
    const writer = await addKey(tenant, ["logs:write"]);
    receiptOf(await send(tenant, numbered(2)));
    const id = logId(tenant.projectId, 1);
    const cases: [string, Record<string, string>, unknown[]][] = [
      [id, {}, [401, "UNAUTHORIZED"]],
      [id, bearer(other.secret), [404, "NOT_FOUND"]],
      [id, bearer(writer.secret), [403, "INSUFFICIENT_SCOPE"]],
      [logId(tenant.projectId, 3), bearer(tenant.secret), [404, "NOT_FOUND"]],
      [logId(newId("proj"), 1), bearer(tenant.secret), [404, "NOT_FOUND"]],
      ["x", bearer(tenant.secret), [404, "NOT_FOUND"]],
      [`${id}?before=101`, bearer(tenant.secret), [400, "VALIDATION_ERROR"]],
      [`${id}?before=-1`, bearer(tenant.secret), [400, "VALIDATION_ERROR"]],
      [`${id}?around=1`, bearer(tenant.secret), [400, "VALIDATION_ERROR"]],
    ];
    let remaining = Number.POSITIVE_INFINITY;
    for (const [path, headers, verdict] of cases) {
      const answer = await call(`/logger/${tenant.projectId}/log/${path}`, { headers });
      expect([path, answer.status, answer.code]).toEqual([path, ...verdict]);
      if (headers.Authorization !== bearer(tenant.secret).Authorization) continue;
      const left = Number(answer.headers.get("X-RateLimit-Remaining"));
      expect(left).toBeLessThan(remaining);
      remaining = left;
    }
  });

  it("omits the farthest neighbours if they are too large, and reports that", async () => {
    const tenant = await newTenant();
    for (let batch = 0; batch < 5; batch++) {
      receiptOf(
        await send(
          tenant,
          range(1, 12).map(() => ({ message: "x".repeat(250_000) })),
        ),
      );
    }
    const found = await contextOf(tenant, 30, "?before=29&after=30");
    expect(found.complete).toBe(false);
    expect(found.before.length + found.after.length).toBe(15);
    expect(found.before).toEqual(range(30 - found.before.length, 29));
    expect(found.after).toEqual(range(31, 30 + found.after.length));
    expect(Math.abs(found.before.length - found.after.length)).toBeLessThanOrEqual(1);
  });
});
