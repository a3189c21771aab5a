import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WorkspaceState } from "../../../src/workspace/state.ts";
import { newTenant, type Tenant, workspace } from "../ingest/support.ts";
import { alarm, clock, deployWith, sendBatches, tiers, usageOf } from "./support.ts";

const HOUR_MS = 3_600_000;

let tenant: Tenant;

beforeEach(async () => {
  clock.start();
  tenant = await newTenant();
});
afterEach(() => clock.stop());

const alarmAt = () => runInDurableObject(workspace(tenant.workspaceId), (_, { storage }) => storage.getAlarm());

describe("D21: a lowered RECENT_MAX_AGE_SECONDS", () => {
  it("takes effect when a request wakes the object, without an ingest", async () => {
    await sendBatches(tenant, 5);
    await alarm(tenant.workspaceId);
    clock.pass(20_000);
    expect(await alarmAt()).toBeGreaterThan(clock.at + HOUR_MS / 2);
    await deployWith(tenant.workspaceId, { RECENT_MAX_AGE_SECONDS: 10 });
    await usageOf(tenant);
    expect(await alarmAt()).toBeLessThanOrEqual(clock.at);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 5, recent: 0 });
  });

  it("moves batches that are too old at the alarm that wakes the object", async () => {
    await sendBatches(tenant, 5);
    await alarm(tenant.workspaceId);
    clock.pass(20_000);
    await deployWith(tenant.workspaceId, { RECENT_MAX_AGE_SECONDS: 10 });
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 5, recent: 0 });
  });

  it("takes effect in a sleeping object within an hour, however long batches could stay before", async () => {
    await sendBatches(tenant, 1);
    const alarms: number[] = [];
    await runInDurableObject(workspace(tenant.workspaceId), (_, { storage }) => {
      const alarm = { getAlarm: async () => null, setAlarm: async (at: number | Date) => void alarms.push(Number(at)) };
      const transactionSync = <T>(work: () => T) => storage.transactionSync(work);
      const bounds = { maxAgeMs: 24 * HOUR_MS, fullRangeAgeMs: HOUR_MS, maxBytes: 16_777_216 };
      new WorkspaceState({ sql: storage.sql, transactionSync, ...alarm }, bounds).scheduleFlush(clock.at);
    });
    expect(alarms).toEqual([clock.at + HOUR_MS]);
  });
});
