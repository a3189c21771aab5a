import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  addKey,
  addProject,
  evict,
  newTenant,
  numbered,
  onSql,
  receiptOf,
  send,
  workspace,
} from "../ingest/support.ts";
import {
  AGED_MS,
  alarm,
  clock,
  cold,
  deployWith,
  flushAll,
  flushLines,
  rowsOf,
  sendBatches,
  tiers,
  usageOf,
  waiting,
} from "./support.ts";

beforeEach(() => clock.start());
afterEach(() => clock.stop());

const alarmAt = (workspaceId: string) =>
  runInDurableObject(workspace(workspaceId), (_, { storage }) => storage.getAlarm());

describe("a flush by age", () => {
  it("moves old batches to the cold tier, whole and once, and seq continues", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 2, 1000);
    const receivedAt = clock.at;
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 1005 });
    await flushAll(tenant);
    expect(await tiers(tenant)).toEqual({ cold: 1005, recent: 0 });
    const sent = [...numbered(3), ...numbered(2), ...numbered(1000)];
    expect((await cold(tenant)).map(({ message }) => ({ message }))).toEqual(sent);
    expect(new Set((await cold(tenant)).map((entry) => entry.receivedAt))).toEqual(new Set([receivedAt]));
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([]);
    await evict(tenant.workspaceId);
    expect(receiptOf(await send(tenant, numbered(2)))).toMatchObject({ firstSeq: 1006, lastSeq: 1007 });
    expect(await tiers(tenant)).toEqual({ cold: 1005, recent: 2 });
    // Commit numbers continue, too: an earlier snapshot must not include later entries.
    expect(await onSql(tenant.workspaceId, (sql) => sql.exec("SELECT commit_no FROM batches").toArray())).toEqual([
      { commit_no: 4 },
    ]);
    await flushAll(tenant);
    expect(await tiers(tenant)).toEqual({ cold: 1007, recent: 0 });
  });

  it("includes newer batches of the project, so that segments are large, but none of other projects", async () => {
    const tenant = await newTenant();
    const other = { ...tenant, projectId: await addProject(tenant) };
    const otherKey = { ...other, ...(await addKey(other)) };
    await sendBatches(tenant, 5);
    clock.pass(AGED_MS - 1000);
    await sendBatches(otherKey, 7);
    await sendBatches(tenant, 6);
    clock.pass(1000);
    await alarm(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    expect([await tiers(tenant), await tiers(other)]).toEqual([
      { cold: 11, recent: 0 },
      { cold: 0, recent: 7 },
    ]);
    expect(await alarmAt(tenant.workspaceId)).toBeLessThanOrEqual(clock.at + AGED_MS);
    await flushAll(tenant);
    expect(await tiers(other)).toEqual({ cold: 7, recent: 0 });
  });

  it("sets the alarm for the oldest batch, and no alarm without unflushed batches", async () => {
    const tenant = await newTenant();
    await alarm(tenant.workspaceId);
    clock.pass(1_800_000);
    await sendBatches(tenant, 1);
    const arrivedAt = clock.at;
    for (let turn = 0; turn < 3; turn++) {
      clock.pass(1_000_000);
      await sendBatches(tenant, 1);
      await alarm(tenant.workspaceId);
    }
    expect(await alarmAt(tenant.workspaceId)).toBe(arrivedAt + AGED_MS);
  });

  it("proceeds in steps of 10,000 entries, one for each alarm, and logs them without content", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, ...Array(23).fill(1000));
    const lines = flushLines();
    expect(await flushAll(tenant)).toBe(3);
    expect(lines()).toEqual([]);
    expect(await tiers(tenant)).toEqual({ cold: 23_000, recent: 0 });
    expect(await usageOf(tenant)).toMatchObject({
      recent: { entries: 0, bytes: 0, oldestAt: null },
      watermarks: [{ projectId: tenant.projectId, seq: 23_000 }],
      ingestedToday: expect.any(Number),
      flush: { pendingBatches: 0, setAside: 0, lastAt: clock.at, lastError: null },
    });
  });
});

describe("a flush of full ranges", () => {
  it("moves 10,000 entries of a project after 30 s, whatever waits for longer, and leaves the rest", async () => {
    const tenant = await newTenant();
    const other = { ...tenant, projectId: await addProject(tenant) };
    const otherKey = { ...other, ...(await addKey(other)) };
    await sendBatches(tenant, 5);
    await sendBatches(otherKey, ...Array(12).fill(1000));
    await alarm(tenant.workspaceId);
    expect(await tiers(other)).toEqual({ cold: 0, recent: 12_000 });
    expect(await alarmAt(tenant.workspaceId)).toBeLessThanOrEqual(clock.at + 30_000);
    clock.pass(30_000);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect([await tiers(tenant), await tiers(other)]).toEqual([
      { cold: 0, recent: 5 },
      { cold: 10_000, recent: 2000 },
    ]);
    expect(await alarmAt(tenant.workspaceId)).toBeGreaterThan(clock.at);
    // Also by an object that has just started.
    await sendBatches(otherKey, ...Array(8).fill(1000));
    await evict(tenant.workspaceId);
    await alarm(tenant.workspaceId);
    expect(await tiers(other)).toEqual({ cold: 20_000, recent: 0 });
  });
});

const BOUND = 8_000_000;

describe("a flush by bytes", () => {
  it("starts immediately if the buffer exceeds its bound, and reduces it to half", async () => {
    const tenant = await newTenant();
    await deployWith(tenant.workspaceId, { RECENT_MAX_BYTES: BOUND });
    // Stored bytes, of text that does not compress.
    const message = () => ({ message: Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString("base64") });
    let sent = 0;
    while ((await waiting(tenant.workspaceId)).bytes <= BOUND) {
      expect(await alarmAt(tenant.workspaceId)).toBeGreaterThan(clock.at);
      receiptOf(await send(tenant, Array.from({ length: 100 }, message)));
      sent += 100;
    }
    expect(await alarmAt(tenant.workspaceId)).toBeLessThanOrEqual(clock.at);
    for (let turn = 0; (await waiting(tenant.workspaceId)).bytes > BOUND / 2; turn++) {
      expect(turn).toBeLessThan(20);
      await alarm(tenant.workspaceId);
    }
    const { bytes } = await waiting(tenant.workspaceId);
    expect(bytes).toBeGreaterThan(BOUND / 8);
    await alarm(tenant.workspaceId);
    expect((await waiting(tenant.workspaceId)).bytes).toBe(bytes);
    expect(await alarmAt(tenant.workspaceId)).toBeGreaterThan(clock.at);
    const { cold: stored, recent } = await tiers(tenant);
    expect(stored + recent).toBe(sent);
  });
});

describe("a retry", () => {
  it("gets its receipt if its batch is already in the cold tier, and stores nothing", async () => {
    const tenant = await newTenant();
    const first = receiptOf(await send(tenant, numbered(5), { idempotencyKey: "a" }));
    await flushAll(tenant);
    await evict(tenant.workspaceId);
    const again = receiptOf(await send(tenant, numbered(5), { idempotencyKey: "a" }));
    expect(again).toEqual({ ...first, duplicate: true });
    expect(await tiers(tenant)).toEqual({ cold: 5, recent: 0 });
  });
});
