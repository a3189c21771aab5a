import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SegmentRemover } from "../../../src/logs/cold/store/remover.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { expireBatches } from "../../../src/objects/workspace/cleanup.ts";
import { LATE_WRITES_MS } from "../../../src/workspace/flush/flushed-ranges.ts";
import { writeIntent } from "../../../src/workspace/flush/intent.ts";
import { loggedEvents, verbose } from "../events.ts";
import { addKey, addProject, evict, newTenant, onSql, workspace } from "../ingest/support.ts";
import {
  AGED_MS,
  alarm,
  clock,
  cold,
  crash,
  flushAll,
  flushLines,
  holdInsert,
  rowsOf,
  sendBatches,
  tiers,
} from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

const segmentsOf = async (workspaceId: string) => (await new SegmentWriter(env.COLD_DB).usage(workspaceId)).segments;
const isGone = (workspaceId: string) =>
  runInDurableObject(
    workspace(workspaceId),
    async (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master").toArray().length === 0 && (await storage.getAlarm()) === null,
  );

/** Creates a second project with a key in the same workspace. */
async function beside(tenant: Awaited<ReturnType<typeof newTenant>>) {
  const project = { ...tenant, projectId: await addProject(tenant) };
  return { ...project, ...(await addKey(project)) };
}

describe("expired batches", () => {
  it("stay while a flush is in progress, whose next attempt needs the whole range", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await onSql(tenant.workspaceId, (sql) => {
      const later = clock.at + AGED_MS;
      const { project } = sql.exec<{ project: number }>("SELECT project FROM batches").one();
      writeIntent(sql, { project, firstSeq: 1, lastSeq: 3, firstCommit: 1, lastCommit: 1 }, clock.at);
      expect(() => expireBatches(sql, 0, later)).toThrow("A flush is in progress.");
      sql.exec("DELETE FROM flush_intents");
      expect(expireBatches(sql, 0, later)).toEqual({ deleted: [1], next: null });
    });
  });
});

describe("a deleted project", () => {
  it("is deleted from both tiers, without effect on other projects", async () => {
    const tenant = await newTenant();
    const other = await beside(tenant);
    await sendBatches(tenant, 1000, 1000);
    await sendBatches(other, 7);
    await flushAll(tenant);
    await sendBatches(tenant, 3);
    await sendBatches(other, 2);
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    await alarm(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toEqual([]);
    expect(await tiers(other)).toEqual({ cold: 7, recent: 2 });
    // The deleted project is listed until none of its entries can arrive any longer.
    expect(await rowsOf(tenant.workspaceId, "doomed_projects")).toHaveLength(1);
    clock.pass(LATE_WRITES_MS);
    await alarm(tenant.workspaceId);
    expect(await rowsOf(tenant.workspaceId, "doomed_projects")).toEqual([]);
    expect(await tiers(other)).toEqual({ cold: 7, recent: 2 });
  });

  it("that was never flushed causes no query on D1", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await alarm(tenant.workspaceId);
    const deletes = vi.spyOn(SegmentRemover.prototype, "deleteOfProject");
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    await alarm(tenant.workspaceId);
    expect(await rowsOf(tenant.workspaceId, "doomed_projects")).toEqual([]);
    expect(deletes).not.toHaveBeenCalled();
  });

  it("leaves nothing behind if its flush was in progress, even one that outlived its object", async () => {
    const tenant = await newTenant();
    const other = await beside(tenant);
    await sendBatches(tenant, 3);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    const land = await sent();
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    await crash(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([]);
    await land();
    expect(await cold(tenant)).toHaveLength(3);
    clock.pass(LATE_WRITES_MS);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toEqual([]);
    expect(await rowsOf(tenant.workspaceId, "doomed_projects")).toEqual([]);
    await sendBatches(other, 4);
    await flushAll(tenant);
    expect(await tiers(other)).toEqual({ cold: 4, recent: 0 });
  });

  it("during its flush in the same object, drops the flush", async () => {
    const tenant = await newTenant();
    const other = await beside(tenant);
    await sendBatches(tenant, 3);
    clock.pass(AGED_MS);
    const { insertSegments } = SegmentWriter.prototype;
    let deleted = false;
    vi.spyOn(SegmentWriter.prototype, "insertSegments").mockImplementationOnce(async function (
      this: SegmentWriter,
      ...call
    ) {
      deleted = (await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId)).ok;
      return insertSegments.apply(this, call);
    });
    await alarm(tenant.workspaceId);
    expect(deleted).toBe(true);
    expect(await rowsOf(tenant.workspaceId, "flush_state")).toEqual([]);
    clock.pass(LATE_WRITES_MS);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toEqual([]);
    await sendBatches(other, 2);
    await flushAll(tenant);
    expect(await tiers(other)).toEqual({ cold: 2, recent: 0 });
  });

  it("is retried if D1 does not respond", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    vi.spyOn(SegmentRemover.prototype, "deleteOfProject").mockRejectedValueOnce(new Error("D1_ERROR"));
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toHaveLength(3);
    clock.pass(30_000);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toEqual([]);
  });
});

describe("a deleted workspace", () => {
  it("loses its segments, including those of a flush that outlived its object", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    await sendBatches(tenant, 2);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    const land = await sent();
    await workspace(tenant.workspaceId).deleteWorkspace(tenant.ownerId);
    expect(await segmentsOf(tenant.workspaceId)).toBe(0);
    await crash(tenant.workspaceId);
    await land();
    expect(await segmentsOf(tenant.workspaceId)).toBe(1);
    await alarm(tenant.workspaceId);
    clock.pass(LATE_WRITES_MS);
    await alarm(tenant.workspaceId);
    expect(await segmentsOf(tenant.workspaceId)).toBe(0);
    expect(await isGone(tenant.workspaceId)).toBe(true);
  });

  it("is deleted immediately if it never had segments", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await workspace(tenant.workspaceId).deleteWorkspace(tenant.ownerId);
    expect(await isGone(tenant.workspaceId)).toBe(true);
  });

  it("that a purge of its account destroys has no segments left either", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    await workspace(tenant.workspaceId).destroy();
    await workspace(tenant.workspaceId).destroy();
    expect(await segmentsOf(tenant.workspaceId)).toBe(0);
    await evict(tenant.workspaceId);
    clock.pass(LATE_WRITES_MS);
    await alarm(tenant.workspaceId);
    expect(await isGone(tenant.workspaceId)).toBe(true);
  });
});

describe("retention", () => {
  const DAY_MS = 86_400_000;
  const keep = (tenant: { workspaceId: string; ownerId: string }, retentionDays: number) =>
    workspace(tenant.workspaceId).changeSettings(tenant.ownerId, { retentionDays });

  it("deletes segments and batches that have wholly expired, at most an hour later", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    clock.pass(20 * DAY_MS);
    await sendBatches(tenant, 4);
    await flushAll(tenant);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toHaveLength(7);
    clock.pass(11 * DAY_MS);
    await alarm(tenant.workspaceId);
    expect((await cold(tenant)).map(({ seq }) => seq)).toEqual([4, 5, 6, 7]);
  });

  it("reports a cold database that has reached 70 % of its limit, once an hour", async () => {
    const tenant = await newTenant();
    await verbose(workspace(tenant.workspaceId));
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    const sizes = vi.spyOn(SegmentRemover.prototype, "databaseBytes", "get");
    const events = loggedEvents();
    sizes.mockReturnValue(6_999_999_999);
    await evict(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    expect(events.of("workspace.cold-size")).toEqual([]);
    sizes.mockReturnValue(7_100_000_000);
    for (const hours of [1, 0, 1]) {
      clock.pass(hours * 60 * 60 * 1000);
      await alarm(tenant.workspaceId);
    }
    const line = { outcome: "nearly-full", workspaceId: tenant.workspaceId, databaseBytes: 7_100_000_000, percent: 71 };
    expect(events.of("workspace.cold-size")).toMatchObject([line, line]);
  });

  it("deletes files that no row names any more, at most an hour after they are due", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    await alarm(tenant.workspaceId);
    const file = `v1/${tenant.workspaceId}/${tenant.projectId}/0000000000000001-0-0000000000000000`;
    const note = "INSERT INTO orphans (file, workspace_id, noted_at) VALUES (?, ?, ?)";
    await env.COLD_DB.prepare(note).bind(file, tenant.workspaceId, clock.at).run();
    await env.BUCKET?.put(file, "bytes");
    clock.pass(7 * DAY_MS);
    await alarm(tenant.workspaceId);
    expect(await env.BUCKET?.head(file)).not.toBeNull();
    clock.pass(60 * 60 * 1000);
    await alarm(tenant.workspaceId);
    expect(await env.BUCKET?.head(file)).toBeNull();
  });

  it("deletes immediately after it was shortened, including unflushed and quarantined batches", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    await sendBatches(tenant, 1000, 2);
    await onSql(tenant.workspaceId, (sql) => {
      sql.exec("UPDATE batches SET body = zeroblob(body_bytes) WHERE commit_no = 2");
    });
    await flushAll(tenant);
    await sendBatches(tenant, 5);
    expect(await rowsOf(tenant.workspaceId, "set_aside")).toHaveLength(1);
    // Unflushed batches are deleted, not moved first.
    await onSql(tenant.workspaceId, (sql) => {
      sql.exec("UPDATE batches SET received_at = ?", clock.at + 10 * DAY_MS);
    });
    await evict(tenant.workspaceId);
    clock.pass(2 * DAY_MS);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toHaveLength(5);
    await keep(tenant, 1);
    await alarm(tenant.workspaceId);
    expect(await cold(tenant)).toEqual([]);
    expect([await rowsOf(tenant.workspaceId, "batches"), await rowsOf(tenant.workspaceId, "set_aside")]).toEqual([
      [],
      [],
    ]);
    await sendBatches(tenant, 1);
    await flushAll(tenant);
    expect((await cold(tenant)).map(({ seq }) => seq)).toEqual([1011]);
  });
});
