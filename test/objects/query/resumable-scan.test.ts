import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { z } from "zod";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { type Cursor, encodeCursor, fingerprint, RESUMABLE_SCAN_START } from "../../../src/logs/query/cursor.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { bearer, call } from "../accounts/support.ts";
import { storeAsEarlier } from "../flush/earlier.ts";
import { clock, flushAll, sendBatches } from "../flush/support.ts";
import { evict, newTenant, onSql, type Tenant } from "../ingest/support.ts";
import { range } from "../tail/support.ts";

beforeEach(() => clock.start());
afterEach(() => clock.stop());

type Page = z.output<typeof queryPageSchema>;
type Order = "asc" | "desc";

async function page({ secret }: Tenant, body: object): Promise<Page> {
  const answer = await call("/logger/query", { body, headers: bearer(secret) });
  expect(answer.status).toBe(200);
  return queryPageSchema.parse(answer.data);
}

async function asked(tenant: Tenant, order: Order, cursor: string | null, filters: object = {}): Promise<Page[]> {
  const pages: Page[] = [];
  for (let next = cursor; pages.length === 0 || next !== null; next = pages.at(-1)?.pagination.nextCursor ?? null) {
    const pagination = { limit: 25, ...(next === null ? {} : { cursor: next }) };
    pages.push(await page(tenant, { filters, order, pagination }));
    expect(pages.length).toBeLessThan(12);
  }
  return pages;
}

describe("A2: a resumable scan", () => {
  it.each(["asc", "desc"] as const)(
    "A2: covers all entries of a project, in both tiers and databases (%s)",
    async (order) => {
      const tenant = await newTenant();
      for (let flush = 0; flush < 4; flush++) {
        await sendBatches(tenant, 8, 12);
        if (flush < 3) await flushAll(tenant);
      }
      await storeAsEarlier(tenant.workspaceId, ({ firstSeq }) => firstSeq === 21);
      const usual = (await asked(tenant, order, null)).flatMap(({ logs }) => logs);
      expect(usual.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(range(1, 80));
      const cursor: Cursor = {
        ...{ asOf: 8, order, skip: 0, resume: RESUMABLE_SCAN_START },
        fingerprint: fingerprint(QueryBody.parse({}).filter, tenant.projectId),
        position: { timestamp: order === "asc" ? 0 : clock.at * 2, seq: null },
      };
      const pages = await asked(tenant, order, encodeCursor(cursor));
      expect(pages.flatMap(({ logs }) => logs)).toEqual(usual);
      expect(pages.at(-1)).toMatchObject({ complete: true });
    },
  );

  it.each(["asc", "desc"] as const)("A2: ends after 120,000 segments of one millisecond (%s)", async (order) => {
    const tenant = await newTenant();
    const segments = 120_000;
    await env.COLD_DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
       INSERT INTO segments (workspace_id, project_id, first_seq, part, last_seq, count, min_ts, max_ts, min_commit,
         max_commit, level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, frames, levels,
         summary, directory, filter, frame_filter, body)
       SELECT ?1, ?2, i, 0, i, 1, ?3, ?3, 0, 0, 127, 511, 100, 100, 31, 0, 0,
         x'', x'', x'', x'', x'00', x'', x'' FROM n`,
    )
      .bind(tenant.workspaceId, tenant.projectId, clock.at - 60_000, segments)
      .run();
    await onSql(tenant.workspaceId, (sql) => sql.exec("UPDATE projects SET last_seq = ?1, flushed_seq = ?1", segments));
    await evict(tenant.workspaceId);
    const pages = await asked(tenant, order, null, { traceId: "nowhere" });
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.map(({ complete }) => complete)).toEqual(pages.map((_, at) => at === pages.length - 1));
    expect(pages.flatMap(({ logs }) => logs)).toEqual([]);
  });

  it("A2: of a forged cursor ends in a page, whatever its content", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 2, 5);
    await flushAll(tenant);
    await sendBatches(tenant, 2, 5);
    const print = fingerprint(QueryBody.parse({}).filter, tenant.projectId);
    const most = Number.MAX_SAFE_INTEGER;
    const times = [0, clock.at, most, -most];
    const counts = [0, 1, most];
    const segment = (time: number) => counts.map((count) => ["s", time, time, tenant.projectId, count, 0]);
    const batches = times.flatMap((time) => counts.map((count) => ["r", time, count]));
    const places = [null, ["r"], ["s"], ...batches, ...times.flatMap(segment)];
    const keys = times.flatMap((time) => [
      [time, 1, 0, time, 1],
      [time, most, 0, most, most],
      [time, 0, 9],
    ]);
    for (const place of places) {
      const cursor = [2, 4, "desc", print, clock.at, null, "", 0, [place, true, [tenant.projectId], keys]];
      const pagination = { cursor: Buffer.from(JSON.stringify(cursor)).toString("base64url") };
      const { status } = await call("/logger/query", { body: { pagination }, headers: bearer(tenant.secret) });
      expect([status, cursor]).toEqual([200, cursor]);
    }
  });
});
