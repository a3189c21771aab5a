import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORAGE_BOUND } from "../../../src/workspace/usage.ts";
import { evict, newTenant, numbered, onSql, receiptOf, send, workspace } from "../ingest/support.ts";
import { clock, flushAll, sendBatches, tiers } from "./support.ts";

const { bytes } = STORAGE_BOUND;

beforeEach(() => clock.start());
afterEach(() => {
  STORAGE_BOUND.bytes = bytes;
  clock.stop();
});

describe("an object whose storage is nearly used up", () => {
  it("accepts no new entries, but answers retries and flushes", async () => {
    const tenant = await newTenant();
    const receipt = receiptOf(await send(tenant, numbered(3), { idempotencyKey: "a" }));
    STORAGE_BOUND.bytes = await onSql(tenant.workspaceId, (sql) => sql.databaseSize);
    // In memory, the object would measure again after 64 MiB. A restart measures at once.
    await evict(tenant.workspaceId);
    const refused = await send(tenant, numbered(2), { idempotencyKey: "b" });
    expect([refused.status, refused.code, refused.headers.get("Retry-After")]).toEqual([
      503,
      "SERVICE_UNAVAILABLE",
      "60",
    ]);
    expect(Number(refused.headers.get("X-RateLimit-Remaining"))).toBeGreaterThan(0);
    expect(receiptOf(await send(tenant, numbered(3), { idempotencyKey: "a" }))).toEqual({
      ...receipt,
      duplicate: true,
    });
    expect((await send(tenant, { level: "none" })).status).toBe(400);
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 3 });
    STORAGE_BOUND.bytes = bytes;
    // A refused request leaves no receipt: the same request is stored now.
    expect(receiptOf(await send(tenant, numbered(2), { idempotencyKey: "b" }))).toMatchObject({ firstSeq: 4 });
  });

  it("accepts entries again as soon as a batch was moved", async () => {
    const tenant = await newTenant();
    const size = () => onSql(tenant.workspaceId, (sql) => sql.databaseSize);
    await sendBatches(tenant, ...Array(30).fill(1000));
    const full = await size();
    await flushAll(tenant);
    expect(await size()).toBeLessThan(full);
    expect((await workspace(tenant.workspaceId).usage(tenant.ownerId)).ok).toBe(true);
  });
});
