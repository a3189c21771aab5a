import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { bearer, call } from "../accounts/support.ts";
import { evict, newTenant, onSql, type Tenant } from "../ingest/support.ts";

/**
 * Segments of one entry each, a second apart, without tokens in their filters: all are examined, and none is opened.
 */
const SEGMENTS = 60_000;

let tenant: Tenant;
const end = Date.now() - 60_000;

beforeAll(async () => {
  tenant = await newTenant();
  await env.COLD_DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
     INSERT INTO segments (workspace_id, project_id, first_seq, part, last_seq, count, min_ts, max_ts, min_commit, max_commit,
       level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, frames, levels, summary,
       directory, filter, frame_filter, body)
     SELECT ?1, ?2, i, 0, i, 1, ?3 - 1000 * (?4 - i), ?3 - 1000 * (?4 - i), 0, 0, 127, 511, 100, 100, 31, 0, 0,
       x'', x'', x'', x'', x'00', x'', x'' FROM n`,
  )
    .bind(tenant.workspaceId, tenant.projectId, end, SEGMENTS)
    .run();
  await onSql(tenant.workspaceId, (sql) => sql.exec("UPDATE projects SET last_seq = ?1, flushed_seq = ?1", SEGMENTS));
  await evict(tenant.workspaceId);
});

type Page = z.output<typeof queryPageSchema>;

async function page(filters: object, cursor: string | null, order: "asc" | "desc"): Promise<Page> {
  const pagination = cursor === null ? {} : { cursor };
  const answer = await call("/logger/query", { body: { filters, order, pagination }, headers: bearer(tenant.secret) });
  expect(answer.status).toBe(200);
  return queryPageSchema.parse(answer.data);
}

describe("60,000 segments", () => {
  it.each(["asc", "desc"] as const)(
    "that a filter leaves out end in a partial answer, and going on ends (%s)",
    async (order) => {
      const pages = [await page({ traceId: "nowhere" }, null, order)];
      for (let at = 0; at < 10; at++) {
        const cursor = pages.at(-1)?.pagination.nextCursor ?? null;
        if (cursor === null) break;
        pages.push(await page({ traceId: "nowhere" }, cursor, order));
      }
      expect(pages.map(({ complete }) => complete)).toEqual([false, true]);
      expect(pages.flatMap(({ logs }) => logs)).toEqual([]);
    },
  );

  it("far from a time range are not examined", async () => {
    const range = { from: new Date(end - 3_600_000).toISOString(), to: new Date(end - 3_000_000).toISOString() };
    expect((await page({ traceId: "nowhere", ...range }, null, "desc")).complete).toBe(true);
  });
});
