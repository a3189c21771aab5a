import { describe, expect, it } from "vitest";
import { evict, newTenant, numbered, receiptOf, send } from "../ingest/support.ts";
import { range, tailOf } from "./support.ts";

describe("a tail", () => {
  it("says where it begins, and brings what is committed from then on", async () => {
    const tenant = await newTenant();
    receiptOf(await send(tenant, numbered(3)));
    const client = await tailOf(tenant);
    receiptOf(await send(tenant, numbered(2, 3)));
    await client.has(2);
    expect(client.frames[0]).toEqual({ type: "caught-up", seq: 3 });
    expect(client.messages).toEqual(["m3", "m4"]);
    client.close();
  });

  it("goes on across evictions of its object", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    for (let round = 0; round < 5; round++) {
      await evict(tenant.workspaceId);
      receiptOf(await send(tenant, numbered(2, round * 2)));
      await client.has(round * 2 + 2);
    }
    expect(client.seqs).toEqual(range(1, 10));
    expect(client.caughtUp).toEqual([0]);
    client.close();
  });

  it("with since begins right behind it", async () => {
    const tenant = await newTenant();
    for (let batch = 0; batch < 20; batch++) receiptOf(await send(tenant, numbered(100, batch * 100)));
    const client = await tailOf(tenant, { query: "?since=250" });
    await client.until(({ caughtUp }) => caughtUp.length > 0);
    expect(client.seqs).toEqual(range(251, 2000));
    expect(client.caughtUp).toEqual([2000]);
    client.close();
  });
});
