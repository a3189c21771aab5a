import { describe, expect, test } from "vitest";
import { INGEST_BUDGET, ISOLATE_BUDGET, ISOLATE_BUDGET_BYTES } from "../../../src/platform/isolate-memory.ts";
import { MemoryPool } from "../../../src/platform/memory-pool.ts";

/** A pool of 100 bytes with a clock that advances while a caller waits. */
function poolOf(maxWaiting = 10) {
  const clock = { now: 0 };
  const wait = async (milliseconds: number) => {
    await Promise.resolve();
    clock.now += milliseconds;
  };
  return { clock, pool: new MemoryPool({ capacity: 100, maxWaiting, now: () => clock.now, wait }) };
}

describe("a memory pool", () => {
  test("grants what fits and refuses the rest", () => {
    const { pool } = poolOf();
    const lease = pool.tryTake(60);
    expect(lease?.bytes).toBe(60);
    expect(pool.tryTake(41)).toBeNull();
    expect(pool.tryTake(40)?.bytes).toBe(40);
    lease?.release();
    lease?.release();
    expect(pool.held).toBe(40);
  });

  test("grants more than its capacity only while it is empty", () => {
    const { pool } = poolOf();
    const large = pool.tryTake(150);
    expect(large).not.toBeNull();
    expect(pool.tryTake(1)).toBeNull();
    large?.release();
    expect(pool.tryTake(1)).not.toBeNull();
  });

  test("grants ahead of need only up to half of its capacity", () => {
    const { pool } = poolOf();
    expect(pool.tryTakeAhead(51)).toBeNull();
    expect(pool.tryTakeAhead(40)?.bytes).toBe(40);
    expect(pool.tryTakeAhead(11)).toBeNull();
    expect(pool.tryTake(60)?.bytes).toBe(60);
  });

  test("grants ahead beside bytes that do not count", () => {
    const { pool } = poolOf();
    const idle = pool.tryTakeAhead(20);
    const other = pool.tryTakeAhead(30);
    expect([pool.tryTakeAhead(21, 20), pool.tryTakeAhead(20, 20)?.bytes, pool.heldAhead]).toEqual([null, 20, 70]);
    expect(idle && pool.tryGrowAhead(idle, 40, 0)).toBe(false);
    other?.release();
    expect(idle && pool.tryGrowAhead(idle, 30, 0)).toBe(true);
  });

  test("wakes the first waiting caller, and the next one if there is room for both", async () => {
    const pool = new MemoryPool({ capacity: 100, maxWaiting: 10, wait: (_, woken) => woken });
    const first = pool.tryTake(100);
    const granted: number[] = [];
    const waiting = [30, 70, 20].map(async (bytes) => {
      const lease = await pool.take(bytes, 10_000);
      granted.push(bytes);
      return lease;
    });
    await Promise.resolve();
    expect(granted).toEqual([]);
    first?.release();
    const [small, large] = await Promise.all(waiting.slice(0, 2));
    expect(granted).toEqual([30, 70]);
    large?.resize(10);
    await waiting[2];
    expect(granted).toEqual([30, 70, 20]);
    small?.release();
  });

  test("wakes all growing leases, whichever of them has room", async () => {
    const pool = new MemoryPool({ capacity: 100, maxWaiting: 10, wait: (_, woken) => woken });
    const [oldest, second, third] = [pool.tryTake(40), pool.tryTake(30), pool.tryTake(30)];
    const large = second?.grow(80, 10_000);
    const small = third?.grow(50, 10_000);
    await Promise.resolve();
    oldest?.resize(10);
    expect(await small).toBe(true);
    oldest?.release();
    expect(await large).toBe(true);
  });

  test("admits waiting callers in order of arrival, whatever their size", async () => {
    const { pool } = poolOf();
    const first = pool.tryTake(90);
    const order: string[] = [];
    const large = pool.take(80, 1000).then(() => order.push("large"));
    const small = pool.take(5, 1000).then(() => order.push("small"));
    expect(pool.tryTake(1)).toBeNull();
    expect(pool.waiting).toBe(2);
    first?.release();
    await Promise.all([large, small]);
    expect(order).toEqual(["large", "small"]);
    expect(pool.held).toBe(85);
    expect(pool.waiting).toBe(0);
  });

  test("returns null after the timeout, and immediately if too many callers wait", async () => {
    const { pool, clock } = poolOf(1);
    pool.tryTake(100);
    const waiting = pool.take(10, 500);
    expect(await pool.take(10, 500)).toBeNull();
    expect(clock.now).toBeLessThan(500);
    expect(await waiting).toBeNull();
    expect(clock.now).toBeGreaterThanOrEqual(500);
    expect(pool.waiting).toBe(0);
  });

  test("a waiting caller that disconnects does not block the next", async () => {
    const clock = { now: 0 };
    let waits = 0;
    // The first caller's timer never fires, because the runtime has ended its request.
    const wait = async (milliseconds: number) => {
      if (waits++ === 0) await new Promise(() => {});
      clock.now += milliseconds;
    };
    const pool = new MemoryPool({ capacity: 100, maxWaiting: 10, now: () => clock.now, wait });
    const held = pool.tryTake(100);
    void pool.take(100, 10_000);
    held?.release();
    expect(await pool.take(50, 10_000)).not.toBeNull();
    expect(clock.now).toBeGreaterThanOrEqual(1000);
  });

  test("reclaims leases that were not renewed, and only when room is needed", () => {
    const { pool, clock } = poolOf();
    const lost = pool.tryTake(50);
    const renewed = pool.tryTake(50);
    clock.now = 50_000;
    renewed?.renew();
    clock.now = 61_000;
    expect(pool.held).toBe(100);
    expect(pool.tryTake(50)).not.toBeNull();
    lost?.release();
    expect(pool.held).toBe(100);
    expect(pool.tryTake(1)).toBeNull();
  });

  test("grants ahead of need, and enlarges such a lease, once those that hold half of the capacity are lost", () => {
    const { pool, clock } = poolOf();
    const lost = pool.tryTakeAhead(40);
    expect(pool.tryTakeAhead(20)).toBeNull();
    clock.now = 61_000;
    const own = pool.tryTakeAhead(20);
    expect([own?.bytes, pool.held, lost?.isLive]).toEqual([20, 20, false]);
    if (own === null) return;
    expect([pool.tryGrowAhead(own, 51), pool.tryGrowAhead(own, 50), pool.held]).toEqual([false, true, 50]);
    own.release();
    expect([pool.tryGrowAhead(own, 10), pool.held]).toEqual([false, 0]);
  });

  test("counts the current size of a lease", () => {
    const { pool } = poolOf();
    const lease = pool.tryTake(10);
    lease?.resize(120);
    expect(pool.held).toBe(120);
    lease?.resize(20);
    lease?.release();
    expect(pool.held).toBe(0);
    lease?.resize(70);
    expect(pool.held).toBe(0);
  });
});

describe("a lease that grows", () => {
  test("A1: waits for room with priority over callers without a lease", async () => {
    const { pool } = poolOf();
    const oldest = pool.tryTake(50);
    const young = pool.tryTake(30);
    const order: string[] = [];
    const grown = young?.grow(80, 1000).then((ok) => order.push(`grown ${ok}`));
    const taken = pool.take(10, 1000).then((lease) => order.push(`taken ${lease !== null}`));
    expect(pool.waiting).toBe(2);
    expect(pool.tryTake(1)).toBeNull();
    oldest?.release();
    await Promise.all([grown, taken]);
    expect(order).toEqual(["grown true", "taken true"]);
    expect(pool.held).toBe(90);
    expect(pool.waiting).toBe(0);
  });

  test("A1: is granted immediately if it is the oldest, so that leases never deadlock", async () => {
    const { pool, clock } = poolOf();
    const leases = [1, 2, 3, 4].map(() => pool.tryTake(25));
    const done: number[] = [];
    await Promise.all(
      leases.map(async (lease, index) => {
        expect(await lease?.grow(60, 10_000)).toBe(true);
        // At most the capacity plus what one lease may hold beyond it.
        expect(pool.held).toBeLessThanOrEqual(160);
        done.push(index);
        lease?.release();
      }),
    );
    expect(done).toHaveLength(4);
    expect(done[0]).toBe(0);
    expect(clock.now).toBeLessThan(1000);
    expect(pool.held).toBe(0);
  });

  test("returns false after the timeout, and if the lease is no longer live", async () => {
    const { pool, clock } = poolOf();
    pool.tryTake(90);
    const young = pool.tryTake(10);
    expect(await young?.grow(20, 500)).toBe(false);
    expect(clock.now).toBeGreaterThanOrEqual(500);
    expect(young?.bytes).toBe(10);
    young?.release();
    expect(await young?.grow(5, 500)).toBe(false);
    expect(pool.waiting).toBe(0);
  });
});

test("A1: the parts of ingest's budget sum to it", () => {
  const sum = Object.values(INGEST_BUDGET).reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBe(ISOLATE_BUDGET.ingest);
});

test("the budgets of an isolate leave room below its 128 MB", () => {
  const sum = Object.values(ISOLATE_BUDGET).reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBeLessThan(ISOLATE_BUDGET_BYTES);
});
