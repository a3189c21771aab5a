import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { newIp } from "../client-ips.ts";

describe("AddressObject", () => {
  const name = `ip:${newIp()}`;
  const limits = { identifier: name, limit: 50, windowSeconds: 60, cost: 1 };
  const stub = () => env.ADDRESSES.get(env.ADDRESSES.idFromName(name));

  it("admits exactly the limit under concurrency, and no further request after eviction", async () => {
    const states = await Promise.all(Array.from({ length: 200 }, () => stub().check(limits, "API_DEFAULT")));
    expect(states.filter((state) => state.admitted)).toHaveLength(50);
    await evictDurableObject(stub());
    const after = await stub().check(limits, "API_DEFAULT");
    expect(after.admitted).toBe(false);
    expect(after.remaining).toBe(0);
    expect(after.retryAfter).toBeGreaterThan(0);
    expect(after.retryAfter).toBeLessThanOrEqual(60_000);
  });
});
