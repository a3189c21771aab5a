import { afterEach, describe, expect, it, vi } from "vitest";
import { newTenant, numbered, receiptOf, send } from "../ingest/support.ts";
import { alarm, cold, flushAll, rowsOf, sendBatches, tiers } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

describe("flush", () => {
  it("moves what is old to the cold tier, whole and once", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 2, 1000);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 1005 });
    await flushAll(tenant);
    expect(await tiers(tenant)).toEqual({ cold: 1005, recent: 0 });
    expect((await cold(tenant)).map(({ message }) => message)).toEqual(
      [...numbered(3), ...numbered(2), ...numbered(1000)].map(({ message }) => message),
    );
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([]);
    expect(receiptOf(await send(tenant, numbered(2)))).toMatchObject({ firstSeq: 1006, lastSeq: 1007 });
    expect(await tiers(tenant)).toEqual({ cold: 1005, recent: 2 });
    await flushAll(tenant);
    expect(await tiers(tenant)).toEqual({ cold: 1007, recent: 0 });
  });
});
