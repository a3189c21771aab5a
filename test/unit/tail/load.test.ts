import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SANDBOX_TAIL_QUOTA, TAIL_CLOSING_MS, TAIL_QUOTA, TAIL_STALL_MS } from "../../../src/tail/limits.ts";
import { entriesNumbered, entry, FakeIsolate, FakeObject, type FakeSocket } from "./support.ts";

const MB = 1_000_000;
/** Entries whose frames have about 100,000 bytes each. */
const large = (count: number) => Array.from({ length: count }, () => entry("x".repeat(99_000)));

/** An object with 40 entries of 4 MB in total, in an isolate with little memory: three quarters of it are shared. */
function objectWithEntries(isolate: FakeIsolate): FakeObject {
  const object = new FakeObject(isolate);
  object.stepCharacters = MB;
  for (let batch = 0; batch < 40; batch++) object.commit(1, large(1));
  return object;
}

const keyed = (hash: string) => ({ authority: { kind: "key" as const, hash } });
const address = (of: string) => ({ address: of });

/** The bytes that the sockets buffer: everything sent, because their clients acknowledge nothing. */
const held = (sockets: readonly FakeSocket[]) =>
  sockets.reduce((sum, { frames }) => sum + frames.reduce((size, frame) => size + JSON.stringify(frame).length, 0), 0);

const last = (socket: FakeSocket) => socket.seqs.at(-1) ?? 0;

describe("A3: the memory of all tails of an isolate", () => {
  it("is bounded with any number of stalled clients, and leaves room for another tail", async () => {
    const object = objectWithEntries(new FakeIsolate(10 * MB));
    const tails = Array.from({ length: 20 }, (_, i) => object.open({ sent: 0, ...keyed(`k${i}`) }));
    await object.settle();
    const all = held(tails.map(({ socket }) => socket));
    expect(all).toBeLessThan(7.5 * MB);
    expect(all).toBeGreaterThan(6 * MB);
    expect(object.hub.isFull).toBe(false);
    expect(object.closed).toEqual([]);
    expect(object.failures).toEqual([]);
  });

  it("is bounded over all objects, and every object gets a share", async () => {
    const isolate = new FakeIsolate(10 * MB);
    const objects = Array.from({ length: 5 }, () => objectWithEntries(isolate));
    const stalled = [];
    for (const object of objects) {
      for (let i = 0; i < 10; i++) stalled.push(object.open({ sent: 0, ...keyed(`k${i}`) }));
      await object.settle();
    }
    expect(held(stalled.map(({ socket }) => socket))).toBeLessThan(10 * MB);
    expect(isolate.pool.held).toBeLessThanOrEqual(10 * MB);
    for (const [at, object] of objects.slice(0, 3).entries()) {
      expect(held([...object.tails.keys()])).toBeGreaterThan([6, 0.5, 0.05][at] ?? 0);
    }
    // A tail with small entries whose client keeps up continues in each object.
    const live = objects.map((object) => ({ object, ...object.open(keyed("live")) }));
    for (let batch = 0; batch < 50; batch++) {
      for (const { object, tail, socket } of live) {
        object.commit(1, entriesNumbered(10));
        await object.settle();
        object.hub.ack(tail, last(socket));
      }
    }
    for (const { socket, tail } of live) {
      expect(socket.seqs).toHaveLength(500);
      expect(tail.state).toBe("live");
    }
    expect(isolate.pool.held).toBeLessThanOrEqual(10 * MB);
  });

  it("lets an object continue as soon as the clients of another one are gone", async () => {
    const isolate = new FakeIsolate(3 * MB);
    const [one, other] = [objectWithEntries(isolate), objectWithEntries(isolate)];
    const still = [1, 2, 3, 4].map((n) => one.open({ sent: 0, ...keyed(`k${n}`) }));
    await one.settle();
    const { socket, tail } = other.open({ sent: 0 });
    await other.settle();
    expect(socket.seqs.length).toBeLessThan(5);
    expect(tail.state).toBe("waiting");
    for (const { socket } of still) one.gone(socket);
    await one.settle();
    await other.lapse(1000);
    expect(socket.seqs.length).toBeGreaterThan(15);
  });

  it("is released by an object that ends, and by one that left memory", async () => {
    const isolate = new FakeIsolate(3 * MB);
    const object = objectWithEntries(isolate);
    const { socket } = object.open({ sent: 0 });
    await object.settle();
    expect(isolate.pool.held).toBeGreaterThan(MB);
    // After the restart the object still has its socket.
    object.evict([socket]);
    expect(isolate.pool.held).toBeGreaterThan(MB);
    // After this restart the connection is gone.
    object.evict([]);
    expect(isolate.pool.held).toBe(0);
  });

  it("makes tails that are behind wait, and each gets everything once as acknowledgements arrive", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    const tails = Array.from({ length: 10 }, () => object.open({ sent: 0 }));
    for (let round = 0; round < 200; round++) {
      await object.settle();
      for (const { tail, socket } of tails) object.hub.ack(tail, last(socket));
    }
    for (const { socket } of tails) {
      expect(socket.seqs).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
      expect(socket.closed).toBeNull();
    }
    expect(object.isolate.pool.held).toBe(0);
  });

  it("makes a delivery wait for prompt acknowledgements instead of reading from disk", async () => {
    const object = new FakeObject(new FakeIsolate(3 * MB));
    const tails = Array.from({ length: 20 }, () => object.open());
    for (let batch = 0; batch < 10; batch++) {
      object.commit(1, large(1));
      for (let turn = 0; turn < 30; turn++) {
        await object.turn();
        for (const { tail, socket } of tails) if (tail.unackedBytes > 0) object.hub.ack(tail, last(socket));
      }
    }
    for (const { socket } of tails) expect(socket.seqs).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    expect(object.backlogs).toEqual([]);
  });

  it("makes live tails without room fall behind without losing entries", async () => {
    const object = new FakeObject(new FakeIsolate(3 * MB));
    object.stepCharacters = MB / 4;
    const silent = object.open(keyed("lazy"));
    object.commit(1, large(15));
    await object.settle();
    const others = Array.from({ length: 3 }, (_, i) => object.open(keyed(`k${i}`)));
    object.commit(1, large(6));
    await object.settle();
    expect(object.closed).toEqual([]);
    for (let round = 0; round < 20; round++) {
      for (const { tail, socket } of others) object.hub.ack(tail, last(socket));
      await object.settle();
    }
    for (const { socket } of others) {
      expect(socket.seqs).toEqual([16, 17, 18, 19, 20, 21]);
      expect(socket.closed).toBeNull();
    }
    expect(silent.socket.closed).toBeNull();
  });

  it("counts a closed socket until it is gone, also after its object left memory", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    const still = object.open({ sent: 0 });
    await object.settle();
    const waiting = object.open({ sent: 0 });
    await object.settle();
    expect(waiting.socket.seqs).toEqual([]);
    object.hub.end(still.tail, "API_KEY_REVOKED");
    await object.settle();
    expect(object.hub.size).toBe(1);
    object.evict([still.socket, waiting.socket]);
    await object.settle();
    expect(object.hub.size).toBe(1);
    expect(waiting.socket.seqs).toEqual([]);
    object.gone(still.socket);
    await object.settle();
    expect(waiting.socket.seqs.length).toBeGreaterThan(15);
  });

  it("counts what was unacknowledged when its object left memory", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    const still = object.open({ sent: 0 });
    await object.settle();
    object.evict([still.socket]);
    const { socket } = object.open({ sent: 0 });
    await object.settle();
    expect(socket.seqs).toEqual([]);
    const tail = object.tails.get(still.socket);
    if (tail) object.hub.ack(tail, last(still.socket));
    await object.settle();
    expect(socket.seqs.length).toBeGreaterThan(0);
  });

  it("closes stalled tails while others wait, and no tail whose client acknowledges", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    const still = object.open({ sent: 0 });
    await object.settle();
    const waiting = object.open({ sent: 0 });
    await object.settle();
    await object.lapse(TAIL_STALL_MS - 1);
    expect(still.socket.closed).toBeNull();
    await object.lapse(TAIL_STALL_MS);
    expect(still.socket.closed).toEqual({ code: 4008, reason: `since=${last(still.socket)}` });
    expect(waiting.socket.seqs).toEqual([]);
    object.gone(still.socket);
    for (let round = 0; round < 10; round++) {
      await object.settle();
      object.hub.ack(waiting.tail, last(waiting.socket));
      await object.lapse(TAIL_STALL_MS);
    }
    expect(waiting.socket.seqs).toHaveLength(40);
    expect(waiting.socket.closed).toBeNull();
  });

  it("ends all connections if closed ones of other readers stay and block a reader", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    const stalled = [1, 2, 3, 4, 5, 6].map((n) => object.open({ sent: 0, ...keyed(`dead ${n}`) }));
    await object.settle();
    const waiting = object.open({ sent: 0 });
    await object.settle();
    const got = waiting.socket.seqs.length;
    expect(waiting.tail.state).toBe("waiting");
    object.hub.ack(waiting.tail, last(waiting.socket));
    await object.settle();
    for (let look = 0; look < 3; look++) await object.lapse(TAIL_STALL_MS / 2);
    expect(stalled.filter(({ socket }) => socket.closed?.code === 4008).length).toBeGreaterThan(0);
    expect(waiting.socket.closed).toBeNull();
    await object.lapse(TAIL_CLOSING_MS);
    await object.lapse(TAIL_CLOSING_MS);
    expect([object.abandoned, object.isolate.pool.held, object.failures]).toEqual([1, 0, []]);
    const again = object.open({ sent: last(waiting.socket) });
    await object.settle();
    expect(again.socket.seqs.length).toBeGreaterThan(Math.min(10, got));
  });

  it("keeps other connections if a reader is blocked by its own closed ones", async () => {
    const object = objectWithEntries(new FakeIsolate(3 * MB));
    object.open({ sent: 0, ...keyed("one") });
    await object.settle();
    const other = object.open(keyed("other"));
    const own = object.open({ sent: 0, ...keyed("one") });
    await object.settle();
    expect(own.tail.state).toBe("waiting");
    for (let look = 0; look < 10; look++) await object.lapse(TAIL_STALL_MS);
    expect(object.abandoned).toBe(0);
    expect(other.socket.closed).toBeNull();
  });

  it("closes stalled clients in an object without a waiting tail if other objects have little memory left", async () => {
    const isolate = new FakeIsolate(3 * MB);
    const object = objectWithEntries(isolate);
    const stalled = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => object.open({ sent: 30, ...keyed(`dead ${n}`) }));
    await object.settle();
    object.evict(stalled.map(({ socket }) => socket));
    for (let look = 0; look < 4; look++) await object.lapse(TAIL_STALL_MS);
    expect(stalled.filter(({ socket }) => socket.closed?.code === 4008).length).toBeGreaterThan(0);
  });

  it("never exceeds its bound, and all tails get everything once, whatever clients do", async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("open" as const), isLive: fc.boolean() }),
      fc.record({ kind: fc.constantFrom("ack" as const, "gone" as const), nth: fc.nat() }),
      fc.record({ kind: fc.constantFrom("turn" as const, "evict" as const, "lapse" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const object = new FakeObject(new FakeIsolate(MB));
        const opened: { socket: FakeSocket; from: number; acked: number }[] = [];
        const ack = (one: (typeof opened)[number]) => {
          const tail = object.tails.get(one.socket);
          one.acked = Math.max(one.acked, last(one.socket));
          if (tail && !one.socket.isGone) object.hub.ack(tail, one.acked);
        };
        for (const each of actions) {
          const one = "nth" in each ? opened[each.nth % Math.max(1, opened.length)] : undefined;
          if (each.kind === "commit") object.commit(1, large(each.count));
          else if (each.kind === "open") {
            const sent = each.isLive ? object.lastSeq(1) : 0;
            opened.push({ socket: object.open({ sent }).socket, from: sent, acked: sent });
          } else if (each.kind === "turn") await object.turn();
          else if (each.kind === "lapse") await object.lapse(TAIL_STALL_MS);
          else if (each.kind === "evict") object.evict(opened.map(({ socket }) => socket));
          else if (one && each.kind === "ack") ack(one);
          else if (one) object.gone(one.socket);
          const unread = opened
            .filter(({ socket }) => !socket.isGone)
            .flatMap(({ socket, acked }) => socket.seqs.filter((seq) => seq > acked));
          expect(unread.length * 99_000).toBeLessThan(MB);
          expect(object.isolate.pool.held).toBeLessThan(2 * MB);
        }
        for (let round = 0; round < 300; round++) {
          await object.settle();
          for (const one of opened) {
            if (one.socket.closed && !one.socket.isGone) object.gone(one.socket);
            ack(one);
          }
        }
        expect(object.failures).toEqual([]);
        for (const { socket, from } of opened) {
          const until = socket.isGone ? last(socket) : object.lastSeq(1);
          expect(socket.seqs).toEqual(Array.from({ length: Math.max(0, until - from) }, (_, i) => from + 1 + i));
          if (socket.closed) expect(socket.closed.reason).toBe(`since=${Math.max(from, last(socket))}`);
        }
      }),
      { numRuns: 150 },
    );
  }, 30_000);

  it("counts bytes, not characters", async () => {
    const object = new FakeObject(new FakeIsolate(MB));
    object.open();
    object.commit(1, [entry("語".repeat(120_000))]);
    await object.settle();
    expect(object.isolate.pool.held).toBeGreaterThan(360_000);
  });

  it("counts queued batches and the sequence being delivered", async () => {
    const object = new FakeObject(new FakeIsolate(10 * MB));
    object.open();
    object.commit(1, large(10));
    expect(object.isolate.pool.held).toBeGreaterThan(0);
    await object.turn();
    await object.settle();
    expect(object.isolate.pool.held).toBeLessThan(1.1 * MB);
  });
});

describe("A5: a reader", () => {
  it("of the sandbox that opens tails and never reads reaches its bound before it affects another visitor", async () => {
    const object = objectWithEntries(new FakeIsolate());
    object.quota = SANDBOX_TAIL_QUOTA;
    const stalled = Array.from({ length: SANDBOX_TAIL_QUOTA.readerTails }, () =>
      object.open({ sent: 0, ...address("192.0.2.1") }),
    );
    await object.settle();
    expect(held(stalled.map(({ socket }) => socket))).toBeLessThan(1.5 * MB);
    const other = object.open({ sent: 0, ...address("192.0.2.2") });
    await object.settle();
    expect(object.hub.isFull).toBe(false);
    expect(other.socket.seqs.length).toBeGreaterThan(5);
    for (let round = 0; round < 20; round++) {
      object.hub.ack(other.tail, last(other.socket));
      await object.settle();
    }
    expect(other.socket.seqs).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(other.tail.state).toBe("live");
  });

  it("is identified by key, user or client IP, also after hibernation", async () => {
    const object = new FakeObject();
    const user = (userId: string, sessionId: string) => ({ authority: { kind: "user" as const, userId, sessionId } });
    const opened = [
      object.open(keyed("a")),
      object.open(keyed("b")),
      object.open(user("u", "s1")),
      object.open(user("u", "s2")),
      object.open({ ...keyed("a"), ...address("192.0.2.1") }),
    ];
    const readers = opened.map(({ tail }) => tail.reader);
    expect(new Set(readers).size).toBe(4);
    expect(readers[2]).toBe(readers[3]);
    object.evict(opened.map(({ socket }) => socket));
    expect(opened.map(({ socket }) => object.tails.get(socket)?.reader)).toEqual(readers);
    expect(object.hub.tailsOf(readers[2] ?? "")).toBe(2);
  });

  it("has a smaller bound in the sandbox", () => {
    for (const name of ["tails", "readerTails", "weight", "readerWeight"] as const) {
      expect(SANDBOX_TAIL_QUOTA[name]).toBeLessThan(TAIL_QUOTA[name]);
    }
  });
});
