import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

describe("AddressObject", () => {
  const limits = { identifier: "ip:192.0.2.1", limit: 50, windowSeconds: 60, cost: 1 };
  const stub = () => env.ADDRESSES.get(env.ADDRESSES.idFromName("ip:192.0.2.1"));

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
