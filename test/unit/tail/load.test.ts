import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SANDBOX_TAIL_QUOTA, TAIL_CLOSING_MS, TAIL_QUOTA, TAIL_STALL_MS } from "../../../src/tail/limits.ts";
import { entriesNumbered, entry, FakeObject, type FakeSocket } from "./support.ts";

const MB = 1_000_000;
/** Entries whose frames have about 100,000 bytes each. */
const large = (count: number) => Array.from({ length: count }, () => entry("x".repeat(99_000)));

/** An object with little room, and 40 entries of 4 MB together in it. */
function objectWithEntries(unackedBytes: number): FakeObject {
  const object = new FakeObject();
  object.unackedBytes = unackedBytes;
  object.stepCharacters = MB;
  for (let batch = 0; batch < 40; batch++) object.commit(1, large(1));
  return object;
}

/** What the sockets hold: everything sent, as their clients acknowledge nothing. */
const held = (sockets: readonly FakeSocket[]) =>
  sockets.reduce((sum, { frames }) => sum + frames.reduce((size, frame) => size + JSON.stringify(frame).length, 0), 0);

const last = (socket: FakeSocket) => socket.seqs.at(-1) ?? 0;

describe("what all tails hold together", () => {
  it("is bounded, however many stand still, and there is no room for another", async () => {
    const object = objectWithEntries(10 * MB);
    const tails = Array.from({ length: 20 }, () => object.open({ sent: 0 }));
    await object.settle();
    expect(held(tails.map(({ socket }) => socket))).toBeLessThan(10 * MB);
    expect(held(tails.map(({ socket }) => socket))).toBeGreaterThan(8 * MB);
    expect(object.hub.isFull).toBe(true);
    expect(object.closed).toEqual([]);
    expect(object.failures).toEqual([]);
  });

  it("has those that are behind wait, and each gets everything once, as acknowledgements come", async () => {
    const object = objectWithEntries(3 * MB);
    const tails = Array.from({ length: 10 }, () => object.open({ sent: 0 }));
    for (let round = 0; round < 200; round++) {
      await object.settle();
      for (const { tail, socket } of tails) object.hub.ack(tail, last(socket));
    }
    for (const { socket } of tails) {
      expect(socket.seqs).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
      expect(socket.closed).toBeNull();
    }
    expect(object.hub.isFull).toBe(false);
  });

  it("lets one that keeps up go on with small frames, whatever the others hold", async () => {
    const object = objectWithEntries(3 * MB);
    const live = object.open();
    for (let i = 0; i < 5; i++) object.open({ sent: 0 });
    await object.settle();
    expect(object.hub.isFull).toBe(true);
    for (let batch = 0; batch < 50; batch++) {
      object.commit(1, entriesNumbered(10));
      await object.settle();
      object.hub.ack(live.tail, last(live.socket));
    }
    expect(live.socket.seqs).toHaveLength(500);
    expect(live.tail.state).toBe("live");
  });

  it("closes the live tail that holds most; the others fall behind, and lose nothing", async () => {
    const object = new FakeObject();
    object.unackedBytes = 3 * MB;
    const lazy = object.open();
    object.commit(1, large(15));
    await object.settle();
    const others = Array.from({ length: 3 }, () => object.open());
    object.commit(1, large(6));
    await object.settle();
    expect(object.closed).toHaveLength(1);
    expect(lazy.socket.closed).toEqual({ code: 4008, reason: `since=${last(lazy.socket)}` });
    object.gone(lazy.socket);
    await object.settle();
    for (const { tail, socket } of others) {
      object.hub.ack(tail, last(socket));
      await object.settle();
    }
    for (const { socket } of others) {
      expect(socket.seqs).toEqual([16, 17, 18, 19, 20, 21]);
      expect(socket.closed).toBeNull();
    }
  });

  it("counts a closed socket until it is gone, also after its object has lost its memory", async () => {
    const object = objectWithEntries(3 * MB);
    const still = object.open({ sent: 0 });
    await object.settle();
    const waiting = object.open({ sent: 0 });
    await object.settle();
    expect(waiting.socket.seqs).toEqual([]);
    object.hub.end(still.tail, "API_KEY_REVOKED");
    await object.settle();
    expect([object.hub.size, object.hub.isFull]).toEqual([1, true]);
    object.evict([still.socket, waiting.socket]);
    await object.settle();
    expect([object.hub.size, object.hub.isFull]).toEqual([1, true]);
    expect(waiting.socket.seqs).toEqual([]);
    object.gone(still.socket);
    await object.settle();
    expect(waiting.socket.seqs.length).toBeGreaterThan(20);
  });

  it("counts what was not acknowledged before its object lost its memory", async () => {
    const object = objectWithEntries(3 * MB);
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

  it("closes those that stand still while others wait, and no one that acknowledges", async () => {
    const object = objectWithEntries(3 * MB);
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

  it("ends all connections where closed ones do not go and keep others waiting: these come back and go on", async () => {
    const object = objectWithEntries(3 * MB);
    const dead = object.open({ sent: 0 });
    await object.settle();
    const waiting = object.open({ sent: 0 });
    await object.settle();
    await object.lapse(TAIL_STALL_MS);
    expect(dead.socket.closed?.code).toBe(4008);
    await object.lapse(TAIL_CLOSING_MS - 1);
    expect([object.abandoned, waiting.socket.seqs]).toEqual([0, []]);
    await object.lapse(1);
    expect([object.abandoned, object.hub.isFull, object.failures]).toEqual([1, false, []]);
    const again = object.open({ sent: last(waiting.socket) });
    await object.settle();
    expect(again.socket.seqs.length).toBeGreaterThan(20);
  });

  it("ends none for the sake of one that is closed, as long as it reads", async () => {
    const object = objectWithEntries(3 * MB);
    const slow = object.open({ sent: 0 });
    await object.settle();
    object.open({ sent: 0 });
    await object.settle();
    await object.lapse(TAIL_STALL_MS);
    expect(slow.socket.closed?.code).toBe(4008);
    for (let seq = 1; seq <= 10; seq++) {
      await object.lapse(TAIL_CLOSING_MS - 1);
      object.hub.ack(slow.tail, seq);
    }
    await object.settle();
    expect([object.abandoned, object.hub.isFull]).toEqual([0, true]);
    await object.lapse(TAIL_CLOSING_MS);
    expect(object.abandoned).toBe(1);
  });

  it("makes room for a new tail, too, that was refused as those that hold it stand still", async () => {
    const object = objectWithEntries(3 * MB);
    // It has got all that it wants, so that nobody waits.
    const dead = object.open({ sent: 13 });
    await object.settle();
    expect([object.hub.isFull, dead.tail.state]).toEqual([true, "live"]);
    await object.lapse(TAIL_STALL_MS);
    expect(dead.socket.closed).toBeNull();
    // What an object has known before it slept counts.
    object.evict([dead.socket]);
    object.hub.refused();
    expect(dead.socket.closed?.code).toBe(4008);
    object.evict([dead.socket]);
    await object.lapse(TAIL_CLOSING_MS - 1);
    object.hub.refused();
    await object.settle();
    expect(object.abandoned).toBe(0);
    await object.lapse(1);
    object.hub.refused();
    await object.settle();
    expect([object.abandoned, object.hub.isFull]).toEqual([1, false]);
  });

  it("never passes its bound, and all get everything once, whatever clients do", async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("open" as const), isLive: fc.boolean() }),
      fc.record({ kind: fc.constantFrom("ack" as const, "gone" as const), nth: fc.nat() }),
      fc.record({ kind: fc.constantFrom("turn" as const, "evict" as const, "lapse" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const object = new FakeObject();
        object.unackedBytes = MB;
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
          // A frame has up to half a megabyte.
          expect(unread.length * 99_000).toBeLessThan(1.5 * MB);
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
    const object = new FakeObject();
    object.unackedBytes = MB;
    object.open();
    object.commit(1, [entry("語".repeat(320_000))]);
    await object.settle();
    expect(object.hub.isFull).toBe(true);
  });

  it("is less in the sandbox, where anybody may open tails", () => {
    expect(SANDBOX_TAIL_QUOTA.tails).toBeLessThan(TAIL_QUOTA.tails);
    expect(SANDBOX_TAIL_QUOTA.unackedBytes).toBeLessThan(TAIL_QUOTA.unackedBytes);
  });
});
