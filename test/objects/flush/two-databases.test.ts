import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import { ColdCleaner } from "../../../src/logs/cold/store/cold-cleaner.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import type { SegmentPosition } from "../../../src/logs/cold/store/selection.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { logId, queryPageSchema } from "../../../src/logs/entry-view.ts";
import { LATE_WRITES_MS } from "../../../src/workspace/flush/flushed-ranges.ts";
import { type RangeStore, writeRange } from "../../../src/workspace/flush/write-range.ts";
import { bearer, call } from "../accounts/support.ts";
import { entry, segmentsOf, selection } from "../cold/support.ts";
import { newTenant, type Tenant, workspace } from "../ingest/support.ts";
import { range, tailOf } from "../tail/support.ts";
import { earlierSegments, storeAsEarlier, withoutTrigger } from "./earlier.ts";
import { AGED_MS, alarm, clock, cold, failInserts, flushAll, flushLines, sendBatches, watermark } from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

const store = new SegmentStore(env.COLD_DB);
const writer = new SegmentWriter(env.COLD_DB);
const newSegments = async (workspaceId: string) => (await writer.usage(workspaceId)).segments;

/** A project of 60 entries in six segments; the earlier version stored every second one. */
async function dividedProject(): Promise<Tenant> {
  const tenant = await newTenant();
  for (let flush = 0; flush < 6; flush++) {
    await sendBatches(tenant, 4, 6);
    await flushAll(tenant);
    clock.pass(60_000);
  }
  return tenant;
}

const isOdd = ({ firstSeq }: { firstSeq: number }) => Math.floor(firstSeq / 10) % 2 === 1;

async function read(tenant: Tenant, path: string, body?: object): Promise<unknown> {
  const answer = await call(path, { headers: bearer(tenant.secret), ...(body ? { body } : {}) });
  expect(answer.status).toBe(200);
  return answer.data;
}

/** Everything that a client can read of a project. */
async function everything(tenant: Tenant): Promise<unknown> {
  const { projectId } = tenant;
  const pages: unknown[] = [];
  for (const order of ["asc", "desc"] as const) {
    let cursor: string | null = null;
    do {
      const pagination: object = { limit: 7, ...(cursor ? { cursor } : {}) };
      const body = { projectId, order, pagination };
      const page = queryPageSchema.parse(await read(tenant, "/logger/query", body));
      pages.push(page.logs);
      cursor = page.pagination.nextCursor;
    } while (cursor !== null);
  }
  const found = await read(tenant, "/logger/query", { filters: { search: "23" } });
  const context = await read(tenant, `/logger/${projectId}/log/${logId(projectId, 31)}?before=15&after=15`);
  const tail = await tailOf(tenant, { query: "?since=0" });
  await tail.has(60);
  tail.close();
  return JSON.parse(JSON.stringify([pages, found, context, tail.entries]));
}

describe("D25: a project with segments in both databases", () => {
  it("D25: is read like one with segments only in COLD_DB", async () => {
    const tenant = await dividedProject();
    const whole = await everything(tenant);
    expect(await storeAsEarlier(tenant.workspaceId, isOdd)).toBe(3);
    expect(await newSegments(tenant.workspaceId)).toBe(3);
    expect(await everything(tenant)).toEqual(whole);
    const usage = await new ColdTier(env).usageUpTo(tenant.workspaceId, [{ projectId: tenant.projectId, seq: 60 }]);
    expect(usage).toMatchObject({ segments: 6, entries: 60 });
  });

  it("D25: gets new segments only in COLD_DB", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 10);
    await flushAll(tenant);
    await storeAsEarlier(tenant.workspaceId);
    await sendBatches(tenant, 5);
    await flushAll(tenant);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([1, 1]);
    expect(await watermark(tenant)).toBe(15);
  });

  it("D25: is deleted from both with its project, and by retention", async () => {
    const tenant = await dividedProject();
    await storeAsEarlier(tenant.workspaceId, isOdd);
    // The first two segments of six: one in each database.
    const [, second] = await store.segmentsBySeq(tenant.workspaceId, tenant.projectId, { from: 1, to: 60 }, null, 9);
    const cutoff = second?.minTimestamp ?? 0;
    while (!(await new ColdCleaner(env).deleteOlder(tenant.workspaceId, cutoff)).isDone);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([2, 2]);
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    clock.pass(LATE_WRITES_MS);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([0, 0]);
  });

  it("D25: is deleted from both with its workspace", async () => {
    const tenant = await dividedProject();
    await storeAsEarlier(tenant.workspaceId, isOdd);
    await workspace(tenant.workspaceId).deleteWorkspace(tenant.ownerId);
    clock.pass(LATE_WRITES_MS);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([0, 0]);
  });

  it("D25: is paged through in one order, whatever the limits and position of a page", async () => {
    const workspaceId = "ws_0000000000D2";
    const projects = ["proj_00000000000A", "proj_00000000000B"];
    for (const project of projects) {
      const ranges = Array.from({ length: 9 }, (_, at) =>
        Array.from({ length: 20 }, (_, index) => entry(at * 15 + index, { level: at % 3 ? "info" : "error" })),
      );
      for (const segments of segmentsOf(
        project,
        ranges.map((entries) => [entries]),
      )) {
        await writer.insertSegments(workspaceId, segments);
      }
    }
    const walk = async (order: "asc" | "desc", maxScanned: number, limit: number, more: object = {}) => {
      const tier = new ColdTier(env);
      const found: string[] = [];
      let after: SegmentPosition | null = null;
      let pages = 0;
      do {
        const wanted = selection(workspaceId, projects, { order, maxScanned, limit, after, ...more });
        for (const page of [await tier.findSegments(wanted), await tier.readLevels(wanted)]) {
          const names = page.segments.map(({ projectId, firstSeq, part }) => `${projectId}/${firstSeq}/${part}`);
          if ("blocks" in (page.segments[0] ?? {})) found.push(...names);
          else expect(names).toEqual(found.slice(found.length - names.length));
          after = page.next;
        }
      } while (after !== null && ++pages < 100);
      return found;
    };
    const bounds = [
      { maxScanned: 1, limit: 50 },
      { maxScanned: 3, limit: 3 },
      { maxScanned: 100, limit: 1 },
      { maxScanned: 100, limit: 50 },
    ];
    const cases = bounds.flatMap((bound) =>
      (["asc", "desc"] as const).flatMap((order) =>
        [{}, { levelMask: 1 << 5 }].map((more) => ({ ...bound, order, more })),
      ),
    );
    const whole: string[][] = [];
    for (const { order, maxScanned, limit, more } of cases) whole.push(await walk(order, maxScanned, limit, more));
    expect(new Set(whole.flat()).size).toBe(18);
    await storeAsEarlier(workspaceId, ({ firstSeq }) => firstSeq % 3 !== 0);
    for (const [index, { order, maxScanned, limit, more }] of cases.entries()) {
      expect(await walk(order, maxScanned, limit, more)).toEqual(whole[index]);
    }
  });
});

describe("D25: a flush that an earlier version started", () => {
  it("D25: is not stored again if that version had stored it without recording it", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 10);
    await flushAll(tenant);
    await storeAsEarlier(tenant.workspaceId);
    await sendBatches(tenant, 5, 7);
    clock.pass(AGED_MS);
    failInserts(1, "after");
    await alarm(tenant.workspaceId);
    await storeAsEarlier(tenant.workspaceId);
    await flushAll(tenant);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([2, 0]);
    expect(await watermark(tenant)).toBe(22);
    await sendBatches(tenant, 1);
    expect((await queried(tenant)).sort((a, b) => a - b)).toEqual(range(1, 23));
  });

  it("D25: replaces other segments in its place, in both databases", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 5, 7);
    clock.pass(AGED_MS);
    failInserts(1, "after");
    await alarm(tenant.workspaceId);
    await storeAsEarlier(tenant.workspaceId);
    await env.DB.prepare("UPDATE segments SET count = count - 1 WHERE workspace_id = ?").bind(tenant.workspaceId).run();
    await flushAll(tenant);
    expect([await earlierSegments(tenant.workspaceId), await newSegments(tenant.workspaceId)]).toEqual([0, 1]);
    expect((await cold(tenant)).map(({ seq }) => seq)).toEqual(range(1, 12));
  });

  it("D25: fails while the older writer meets the new directory, and quarantines nothing", async () => {
    const tenant = await newTenant();
    const [segments = []] = segmentsOf(tenant.projectId, [[[entry(1)]]]);
    const older = new SegmentWriter(env.DB);
    await expect(older.insertSegments(tenant.workspaceId, segments)).rejects.toThrow(/SQLITE_ERROR/);
    expect(await earlierSegments(tenant.workspaceId)).toBe(0);
    const line = {
      timestamp: new Date(clock.at).toISOString(),
      level: "info",
      category: "custom",
      type: "log",
      message: "m",
    };
    const body = new TextEncoder().encode(JSON.stringify(line));
    const batch = { commit: 1, firstSeq: 1, count: 1, receivedAt: 1, ...encodeBody(body) };
    const { workspaceId, projectId } = tenant;
    const range = { firstSeq: 1, lastSeq: 1 };
    const flush = { workspaceId, projectId, range, watermark: 0, batches: [batch], bad: [], deadline: clock.at + 1000 };
    const store: RangeStore = {
      insertSegments: (...call) => older.insertSegments(...call),
      replaceSegments: (...call) => older.replaceSegments(...call),
      segmentsBySeq: (...call) => new SegmentStore(env.DB).segmentsBySeq(...call),
      noteFiles: (...call) => older.noteFiles(...call),
    };
    const target = { store, bucket: null, now: () => clock.at };
    expect(await writeRange(target, flush)).toMatchObject({ outcome: "failed" });
  });
});

describe("D25: the absence of legacy segments", () => {
  const questions = () => {
    const prepare = vi.spyOn(D1_PROTOTYPE, "prepare").mockClear();
    return () => prepare.mock.calls.filter(([sql]) => sql.includes("hasOwn")).length;
  };
  const D1_PROTOTYPE: D1Database = Object.getPrototypeOf(env.DB);

  it("D25: is cached only if no older version can insert one", async () => {
    const [first, second] = [await newTenant(), await newTenant()];
    await withoutTrigger(async () => {
      const asked = questions();
      for (let turn = 0; turn < 3; turn++)
        expect(await new ColdTier(env).usageUpTo(first.workspaceId, [])).toBeDefined();
      expect(asked()).toBe(3);
    });
    const asked = questions();
    for (let turn = 0; turn < 3; turn++) await new ColdTier(env).usageUpTo(first.workspaceId, []);
    await new ColdTier(env).usageUpTo(second.workspaceId, []);
    expect(asked()).toBeLessThanOrEqual(2);
  });
});

async function queried(tenant: Tenant): Promise<number[]> {
  const page = queryPageSchema.parse(await read(tenant, "/logger/query", { filters: {} }));
  return page.logs.map(({ seq }) => seq);
}
