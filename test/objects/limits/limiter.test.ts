import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { counterKey, LIMITER_SCHEMA, Limiter, MAX_WINDOW_SECONDS } from "../../../src/limits/limiter.ts";
import { LimitModel } from "./model.ts";

const START = 1_795_000_000_000;

/** Runs `work` on the storage of a separate object, whose tables `clear` empties. */
async function onStorage(
  name: string,
  work: (storage: DurableObjectStorage, clear: () => void) => void,
): Promise<void> {
  const stub = env.ADDRESSES.get(env.ADDRESSES.idFromName(name));
  await runInDurableObject(stub, (_, { storage }) => {
    for (const statement of LIMITER_SCHEMA) storage.sql.exec(statement);
    work(storage, () => {
      storage.sql.exec("DELETE FROM rate_seconds");
      storage.sql.exec("DELETE FROM rate_counters");
    });
  });
}

/** Runs `work` in a transaction that is rolled back. */
function rolledBack(storage: DurableObjectStorage, work: () => void): void {
  const undo = new Error("undo");
  try {
    storage.transactionSync(() => {
      work();
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
}

type Step =
  | { do: "check"; identifier: string; cost: number }
  | { do: "turn"; requests: { identifier: string; cost: number }[] }
  | { do: "rollback"; requests: { identifier: string; cost: number }[] }
  | { do: "pass"; ms: number }
  | { do: "stepBack"; ms: number }
  | { do: "configure"; limit: number; windowSeconds: number }
  | { do: "restart" }
  | { do: "sweep" };

const request = fc.record({
  identifier: fc.constantFrom("key:a", "key:b", "ip:2001:db8::/64"),
  cost: fc.constantFrom(0, 1, 1, 1, 2, 5),
});
const short = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 0, max: 1500 }),
  fc.constantFrom(999, 1000, 1001),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: request.map((one) => ({ do: "check" as const, ...one })) },
  { weight: 4, arbitrary: fc.array(request).map((requests) => ({ do: "turn" as const, requests })) },
  { weight: 1, arbitrary: fc.array(request).map((requests) => ({ do: "rollback" as const, requests })) },
  { weight: 8, arbitrary: short.map((ms) => ({ do: "pass" as const, ms })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 4_000_000 }).map((ms) => ({ do: "pass" as const, ms })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 100_000 }).map((ms) => ({ do: "stepBack" as const, ms })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ limit: fc.integer({ min: 1, max: 12 }), windowSeconds: fc.constantFrom(1, 2, 60, MAX_WINDOW_SECONDS) })
      .map((limits) => ({ do: "configure" as const, ...limits })),
  },
  { weight: 3, arbitrary: fc.constant({ do: "restart" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "sweep" as const }) },
);

describe("the limiter", () => {
  test("decides like a list of all admissions, through restarts, clock steps, rollbacks and new limits", async () => {
    const seen = { admitted: 0, refused: 0 };
    await onStorage("model", (storage, clear) =>
      fc.assert(
        fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
          clear();
          const model = new LimitModel();
          let limiter = new Limiter(storage.sql);
          let wall = START;
          let limits = { limit: 3, windowSeconds: 2 };
          const both = (one: { identifier: string; cost: number }) => {
            const asked = { ...one, ...limits };
            const state = limiter.check(asked, wall);
            expect(state).toEqual(model.check(asked, wall));
            seen[state.admitted ? "admitted" : "refused"]++;
          };
          for (const each of steps) {
            if (each.do === "check") {
              both(each);
              limiter.flush();
            } else if (each.do === "turn") {
              each.requests.forEach(both);
              limiter.flush();
            } else if (each.do === "rollback") {
              const undo = model.snapshot();
              rolledBack(storage, () => {
                each.requests.forEach(both);
                limiter.flush();
              });
              limiter.forget();
              undo();
            } else if (each.do === "pass") wall += each.ms;
            else if (each.do === "stepBack") wall -= each.ms;
            else if (each.do === "configure") {
              limits = { limit: each.limit, windowSeconds: each.windowSeconds };
              limiter.forget();
            } else if (each.do === "restart") {
              limiter = new Limiter(storage.sql);
              model.restart();
            } else {
              model.sweep(wall);
              limiter.sweep(wall);
            }
          }
        }),
        { numRuns: 1000 },
      ),
    );
    expect(seen.refused).toBeGreaterThan(1000);
    expect(seen.admitted).toBeGreaterThan(1000);
  });

  test("admits the next request in the millisecond in which the first one leaves the window", () =>
    onStorage("admits the next ", ({ sql }) => {
      const limiter = new Limiter(sql);
      const asked = { identifier: "key:a", limit: 2, windowSeconds: 60, cost: 1 };
      expect(limiter.check(asked, START)).toMatchObject({ admitted: true, remaining: 1, resetAt: START + 60_000 });
      expect(limiter.check(asked, START + 500)).toMatchObject({ admitted: true, remaining: 0 });
      expect(limiter.check(asked, START + 59_999)).toMatchObject({ admitted: false, remaining: 0, retryAfter: 1 });
      expect(limiter.check(asked, START + 60_000)).toMatchObject({ admitted: true, resetAt: START + 60_500 });
      expect(limiter.check(asked, START + 60_499)).toMatchObject({ admitted: false, retryAfter: 1 });
    }));

  test("refuses a cost above the whole limit without a Retry-After", () =>
    onStorage("refuses a cost a", ({ sql }) => {
      const limiter = new Limiter(sql);
      const asked = { identifier: "key:a", limit: 5, windowSeconds: 60, cost: 6 };
      expect(limiter.check(asked, START)).toMatchObject({ admitted: false, remaining: 5, retryAfter: 0 });
    }));

  test("writes nothing for a request that it refuses or peeks at", () =>
    onStorage("writes nothing f", ({ sql }) => {
      const limiter = new Limiter(sql);
      limiter.check({ identifier: "key:a", limit: 1, windowSeconds: 60, cost: 2 }, START);
      limiter.peek({ identifier: "key:b", limit: 1, windowSeconds: 60, cost: 1 }, START);
      limiter.check({ identifier: "key:c", limit: 1, windowSeconds: 60, cost: 0 }, START);
      limiter.flush();
      expect(sql.exec("SELECT * FROM rate_counters").toArray()).toEqual([]);
      expect(sql.exec("SELECT * FROM rate_seconds").toArray()).toEqual([]);
    }));

  test("keeps one bounded row a second, however many requests it counts", () =>
    onStorage("keeps one bounde", ({ sql }) => {
      const limiter = new Limiter(sql);
      const asked = { identifier: "key:a", limit: 1_000_000, windowSeconds: 60, cost: 1 };
      for (let ms = 0; ms < 3000; ms++) {
        for (let i = 0; i < 50; i++) limiter.check(asked, START + ms);
        if (ms % 100 === 0) limiter.flush();
      }
      limiter.flush();
      const rows = sql.exec("SELECT LENGTH(counts) AS size FROM rate_seconds").toArray();
      expect(rows).toHaveLength(3);
      for (const { size } of rows) expect(Number(size)).toBeLessThanOrEqual(3000);
      expect(new Limiter(sql).check(asked, START + 3000).remaining).toBe(1_000_000 - 150_001);
    }));

  test("keeps more counters than fit into memory exact, also within one turn", () =>
    onStorage("keeps more count", ({ sql }) => {
      const limiter = new Limiter(sql);
      const names = Array.from({ length: 2500 }, (_, i) => `key:${i}`);
      const check = (identifier: string) => limiter.check({ identifier, limit: 2, windowSeconds: 60, cost: 1 }, START);
      for (const round of [true, true, false]) {
        for (const name of names) expect(check(name).admitted).toBe(round);
        limiter.flush();
      }
    }));

  test("sweeps expired counts in bounded steps, and reports when nothing is left", () =>
    onStorage("sweeps in bounde", ({ sql }) => {
      const limiter = new Limiter(sql);
      for (let i = 0; i < 2500; i++)
        limiter.check({ identifier: `key:${i}`, limit: 9, windowSeconds: 60, cost: 1 }, START);
      limiter.flush();
      const rows = () => Number(sql.exec("SELECT COUNT(*) AS n FROM rate_seconds").one()?.n);
      expect(limiter.sweep(START + MAX_WINDOW_SECONDS * 1000)).not.toBeNull();
      expect(rows()).toBe(2500);
      const later = START + (MAX_WINDOW_SECONDS + 2) * 1000;
      expect(limiter.sweep(later)).toBe(later + 100);
      expect(rows()).toBe(500);
      expect(limiter.sweep(later)).toBeNull();
      expect(sql.exec("SELECT * FROM rate_counters").toArray()).toEqual([]);
      // A swept counter starts again from zero.
      expect(limiter.check({ identifier: "key:1", limit: 1, windowSeconds: 60, cost: 1 }, later).admitted).toBe(true);
    }));

  test("names its counters as the interface defines them", () => {
    expect(counterKey("key:key_1", 60)).toBe("rate:key:key_1:60");
  });
});
