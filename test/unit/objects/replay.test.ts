import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/http/errors.ts";
import { type RetryPolicy, withRetry } from "../../../src/rpc/call.ts";

interface Flags {
  overloaded?: boolean;
  retryable?: boolean;
  durableObjectReset?: boolean;
}

const failing = (flags: Flags) => Object.assign(new Error("failed"), flags);
const outdated = () => Object.assign(new TypeError('The RPC receiver does not implement "x".'), { remote: true });

/**
 * Runs a call whose attempts fail one after another with the given errors, each after the given time, and then succeed.
 */
async function run(replay: RetryPolicy, errors: readonly unknown[], { random = 0.5, tookMs = 1 } = {}) {
  let now = 1_000_000;
  let made = 0;
  const begun: number[] = [];
  const waits: number[] = [];
  const timer = {
    now: () => now,
    random: () => random,
    wait: async (milliseconds: number) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
  };
  const attempt = async () => {
    begun.push(now - 1_000_000);
    now += tookMs;
    if (made < errors.length) throw errors[made++];
    return "answer";
  };
  const end = await withRetry(replay, attempt, timer).then(
    (value): unknown => value,
    (error: unknown) => (error instanceof ApiError ? error.refusal.code : error),
  );
  return { end, attempts: begun.length, begun, waits };
}

const flag = fc.constantFrom(true, false, undefined);
const flags: fc.Arbitrary<Flags> = fc
  .record({ overloaded: flag, retryable: flag, durableObjectReset: flag })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

describe("D19: a call that the platform failed", () => {
  const cases: [Flags, "repeated" | "refused" | "thrown"][] = [
    [{}, "thrown"],
    [{ retryable: true }, "repeated"],
    [{ durableObjectReset: true }, "repeated"],
    [{ retryable: true, durableObjectReset: true }, "repeated"],
    [{ overloaded: true }, "refused"],
    [{ overloaded: true, retryable: true }, "refused"],
    [{ overloaded: true, durableObjectReset: true }, "repeated"],
    [{ overloaded: true, retryable: true, durableObjectReset: true }, "repeated"],
  ];
  it.each(cases)("D19: %j, if it is replay-safe, is %s", async (by, expected) => {
    const error = failing(by);
    const { end, attempts } = await run("replay-safe", [error]);
    expect(end).toBe({ repeated: "answer", refused: "SERVICE_UNAVAILABLE", thrown: error }[expected]);
    expect(attempts).toBe(expected === "repeated" ? 2 : 1);
  });

  it.each(cases)("D19: %j, if it is not replay-safe, is one attempt", async (by, expected) => {
    const error = failing(by);
    const { end, attempts } = await run("once", [error]);
    expect(end).toBe(expected === "thrown" ? error : "SERVICE_UNAVAILABLE");
    expect(attempts).toBe(1);
  });

  it("D19: to a method that an older object does not have is not repeated", async () => {
    expect(await run("replay-safe", [outdated()])).toMatchObject({ end: "SERVICE_UNAVAILABLE", attempts: 1 });
  });

  it("D19: is repeated twice at most, and every outcome follows from the errors it met", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<RetryPolicy>("replay-safe", "once"),
        fc.array(flags, { maxLength: 5 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 20_000 }),
        async (replay, list, random, tookMs) => {
          const errors = list.map(failing);
          const { end, attempts, begun, waits } = await run(replay, errors, { random, tookMs });
          expect(attempts).toBeLessThanOrEqual(replay === "once" ? 1 : 3);
          expect(attempts).toBe(waits.length + 1);
          // Jitter: at least half of the wait, and at most all of it.
          waits.forEach((wait, at) => {
            expect(wait).toBeGreaterThanOrEqual(50 * 2 ** at);
            expect(wait).toBeLessThanOrEqual(100 * 2 ** at);
          });
          for (const at of begun) expect(at).toBeLessThanOrEqual(10_000);
          const met = errors[attempts - 1];
          const hasFlag = Object.values(list[attempts - 1] ?? {}).includes(true);
          expect(end).toBe(met === undefined ? "answer" : hasFlag ? "SERVICE_UNAVAILABLE" : met);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("D19: waits for a different time than calls that failed at the same moment", async () => {
    const lost = failing({ overloaded: true, durableObjectReset: true });
    const waits = await Promise.all([0, 0.25, 0.5, 0.75].map((random) => run("replay-safe", [lost, lost], { random })));
    expect(waits.map((each) => each.waits)).toEqual([
      [50, 100],
      [62.5, 125],
      [75, 150],
      [87.5, 175],
    ]);
  });
});
