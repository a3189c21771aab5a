import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LEVELS, levelBit } from "../../../src/logs/entry.ts";
import { tailFilterText } from "../../../src/tail/filter.ts";
import { TAIL_LIMITS, TAIL_STALL_MS } from "../../../src/tail/limits.ts";
import { EVERYTHING, entriesNumbered, entry, FakeIsolate, FakeObject, type FakeSocket } from "./support.ts";

const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
const levelFilter = (level: (typeof LEVELS)[number]) => tailFilterText({ ...EVERYTHING, levelMask: levelBit(level) });

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      project: fc.integer({ min: 1, max: 2 }),
      levels: fc.array(fc.constantFrom("info" as const, "error" as const), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("open" as const),
      project: fc.integer({ min: 1, max: 2 }),
      only: fc.option(fc.constantFrom("info" as const, "error" as const)),
      since: fc.oneof(fc.constant(null), fc.double({ min: 0, max: 1, noNaN: true })),
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("ack" as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("recheck" as const) }) },
);

describe("the hub", () => {
  it("delivers each matching entry to every tail exactly once and in order, through evictions and pauses", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const object = new FakeObject();
        const levels = new Map<number, string[]>([
          [1, []],
          [2, []],
        ]);
        const opened: { socket: FakeSocket; project: number; from: number; only: string | null }[] = [];
        for (const each of steps) {
          if (each.kind === "commit") {
            levels.get(each.project)?.push(...each.levels);
            object.commit(
              each.project,
              each.levels.map((level, i) => entry(`m${i}`, level)),
            );
          } else if (each.kind === "open") {
            const last = object.lastSeq(each.project);
            const sent = each.since === null ? last : Math.floor(each.since * last);
            const filter = each.only === null ? tailFilterText(EVERYTHING) : levelFilter(each.only);
            const { socket } = object.open({ project: each.project, sent, filter });
            opened.push({ socket, project: each.project, from: sent + 1, only: each.only });
          } else if (each.kind === "turn") await object.turn();
          else if (each.kind === "ack") {
            const one = opened[each.nth % Math.max(1, opened.length)];
            const seq = one?.socket.seqs.at(-1);
            const tail = one && object.tails.get(one.socket);
            if (tail && seq !== undefined) expect(object.hub.ack(tail, seq)).toBe(true);
          } else if (each.kind === "evict") {
            object.evict(opened.map(({ socket }) => socket));
          } else object.hub.recheck();
        }
        await object.settle();
        expect(object.failures).toEqual([]);
        for (const { socket, project, from, only } of opened) {
          const wanted = range(from, object.lastSeq(project)).filter(
            (seq) => only === null || levels.get(project)?.[seq - 1] === only,
          );
          expect(socket.seqs).toEqual(wanted);
          expect(socket.frames.some(({ type }) => type === "caught-up")).toBe(true);
          expect(socket.closed).toBeNull();
        }
      }),
      { numRuns: 300 },
    );
  });

  it("sends nothing before it is on disk", async () => {
    const object = new FakeObject();
    const { socket } = object.open();
    object.commit(1, entriesNumbered(3));
    expect(socket.seqs).toEqual([]);
    await object.turn();
    expect(socket.seqs).toEqual([1, 2, 3]);
  });

  it("delivers only the second of two commits to a tail opened between them, even if both are delivered together", async () => {
    const object = new FakeObject();
    const { socket: first } = object.open();
    object.commit(1, entriesNumbered(2));
    const { socket: second } = object.open();
    object.commit(1, entriesNumbered(3, 2));
    await object.settle();
    expect(first.seqs).toEqual([1, 2, 3, 4, 5]);
    expect(second.seqs).toEqual([3, 4, 5]);
  });

  it("cuts a commit at 500 entries per frame, and joins commits that are delivered together", async () => {
    const object = new FakeObject();
    const { socket } = object.open();
    object.commit(1, entriesNumbered(1000));
    object.commit(1, entriesNumbered(100));
    await object.settle();
    expect(socket.frames.slice(1).map(({ entries }) => entries?.length)).toEqual([500, 500, 100]);
    expect(socket.seqs).toEqual(range(1, 1100));
  });

  it("delivers queued batches in bounded sequences, and a live tail stays live", async () => {
    const object = new FakeObject();
    const { socket } = object.open();
    const large = "x".repeat(100_000);
    for (let batch = 0; batch < 6; batch++) object.commit(1, new Array(6).fill(entry(large)));
    await object.settle();
    expect(socket.seqs).toEqual(range(1, 36));
    expect(object.backlogs).toEqual([]);
  });

  it("yields between groups of tails, even with small frames", async () => {
    const object = new FakeObject(new FakeIsolate(200 * 1024 * 1024));
    const sockets = Array.from({ length: 200 }, () => object.open().socket);
    const sent = () => sockets.reduce((sum, { seqs }) => sum + seqs.length, 0);
    object.commit(1, entriesNumbered(1));
    for (let turn = 0; turn < 100; turn++) {
      const before = sent();
      await object.turn();
      expect(sent() - before).toBeLessThanOrEqual(25);
    }
    object.commit(1, [entry("x".repeat(400_000))]);
    for (let turn = 0; turn < 200; turn++) {
      const before = sent();
      await object.turn();
      expect(sent() - before).toBeLessThanOrEqual(4);
    }
    expect(sent()).toBe(400);
  });

  it("delivers the right entries to tails opened or closed during a delivery", async () => {
    const object = new FakeObject();
    const early = Array.from({ length: 100 }, () => object.open());
    object.commit(1, entriesNumbered(2));
    await object.turn();
    const closed = early.find(({ socket }) => socket.seqs.length === 0) ?? expect.fail();
    const late = [object.open(), object.open({ sent: 0 }), object.open({ sent: 1 })];
    object.commit(1, entriesNumbered(1, 2));
    object.hub.end(closed.tail, "API_KEY_REVOKED");
    await object.settle();
    for (const each of early) expect(each.socket.seqs).toEqual(each === closed ? [] : [1, 2, 3]);
    expect(late.map(({ socket }) => socket.seqs)).toEqual([[3], [1, 2, 3], [2, 3]]);
    expect(object.failures).toEqual([]);
  });

  it("begins each delivery with another tail, so that no tail is always the last", async () => {
    const object = new FakeObject();
    const sockets = Array.from({ length: 100 }, () => object.open().socket);
    const firsts = new Set<FakeSocket | undefined>();
    for (let commit = 1; commit <= 20; commit++) {
      object.commit(1, entriesNumbered(1));
      await object.turn();
      const served = sockets.map(({ seqs }) => seqs.length === commit);
      // The tail that was served although the one before it was not.
      firsts.add(sockets.find((_, at) => served[at] && !served.at(at - 1)));
      await object.settle();
    }
    expect(firsts.size).toBe(20);
  });

  it("closes a live tail that would be 10,000 entries ahead of its acknowledgements, and states its position", async () => {
    const object = new FakeObject();
    const { socket, tail } = object.open();
    for (let batch = 0; batch < 10; batch++) object.commit(1, entriesNumbered(1000));
    await object.settle();
    expect(socket.seqs).toHaveLength(10_000);
    expect(socket.closed).toBeNull();
    object.commit(1, entriesNumbered(1));
    await object.settle();
    expect(socket.closed).toEqual({ code: 4008, reason: "since=10000" });
    expect(tail.isOpen).toBe(false);
    const { socket: again } = object.open({ sent: 10_000 });
    await object.settle();
    expect(again.seqs).toEqual([10_001]);
  });

  it("keeps a tail whose client acknowledges late but in time", async () => {
    const object = new FakeObject();
    const { socket, tail } = object.open();
    for (let batch = 0; batch < 30; batch++) {
      object.commit(1, entriesNumbered(1000));
      await object.settle();
      if (batch % 9 === 8) expect(object.hub.ack(tail, socket.seqs.at(-1) ?? 0)).toBe(true);
    }
    expect(socket.seqs).toEqual(range(1, 30_000));
    expect(socket.closed).toBeNull();
  });

  it("lets a tail that is behind wait for acknowledgements instead of closing it", async () => {
    const object = new FakeObject();
    for (let batch = 0; batch < 25; batch++) object.commit(1, entriesNumbered(1000));
    const { socket, tail } = object.open({ sent: 0 });
    await object.settle();
    expect(socket.seqs).toEqual(range(1, 10_000));
    expect(tail.state).toBe("waiting");
    object.commit(1, entriesNumbered(10));
    await object.settle();
    expect(socket.closed).toBeNull();
    while (socket.seqs.length < 25_010) {
      expect(object.hub.ack(tail, socket.seqs.at(-1) ?? 0)).toBe(true);
      await object.settle();
    }
    expect(socket.seqs).toEqual(range(1, 25_010));
    expect(socket.frames.at(-1)).toEqual({ type: "caught-up", seq: 25_010 });
  });

  it("lets a tail that is behind wait for acknowledgements of large entries until its client is stalled", async () => {
    const object = new FakeObject(new FakeIsolate(64 * 1024 * 1024));
    for (let batch = 0; batch < 40; batch++) object.commit(1, new Array(2).fill(entry("x".repeat(480_000))));
    const [reader, still] = [object.open({ sent: 0 }), object.open({ sent: 0 })];
    await object.settle();
    expect([reader.tail.state, still.tail.state]).toEqual(["waiting", "waiting"]);
    const got = still.socket.seqs.length;
    expect(got * 480_000).toBeGreaterThan(5_000_000);
    expect(got * 480_000).toBeLessThan(TAIL_LIMITS.maxUnackedBytes);
    await object.lapse(TAIL_STALL_MS - 1);
    expect(still.socket.closed).toBeNull();
    while (reader.socket.seqs.length < 80) {
      expect(object.hub.ack(reader.tail, reader.socket.seqs.at(-1) ?? 0)).toBe(true);
      await object.settle();
    }
    // A client may acknowledge only every 1,000 entries, and this one continues.
    await object.lapse(TAIL_STALL_MS);
    expect(still.socket.closed).toEqual({ code: 4008, reason: `since=${got}` });
    expect(reader.socket.closed).toBeNull();
    expect(reader.socket.seqs).toEqual(range(1, 80));
    expect(reader.tail.state).toBe("live");
  });

  it("bounds the memory that a stalled reader occupies, also by bytes", async () => {
    const object = new FakeObject();
    const { socket } = object.open();
    const big = [entry("x".repeat(250_000))];
    for (let batch = 0; batch < 40 && !socket.closed; batch++) {
      object.commit(1, big);
      await object.settle();
    }
    expect(socket.closed).toEqual({ code: 4008, reason: "since=25" });
  });

  it("refuses an acknowledgement of what was never sent", () => {
    const object = new FakeObject();
    const { tail } = object.open();
    object.commit(1, entriesNumbered(3));
    for (const seq of [1, 3, 4, Number.MAX_SAFE_INTEGER]) expect(object.hub.ack(tail, seq)).toBe(false);
    expect(tail.unackedBytes).toBe(0);
  });

  it("accepts an acknowledgement of a reported position, also after hibernation", async () => {
    const object = new FakeObject();
    object.commit(1, entriesNumbered(900));
    const { socket } = object.open({ sent: 0, filter: levelFilter("error") });
    await object.settle();
    expect(socket.frames).toEqual([{ type: "caught-up", seq: 900 }]);
    object.evict([socket]);
    const tail = object.tails.get(socket) ?? expect.fail();
    expect(object.hub.ack(tail, 900)).toBe(true);
  });

  it("counts unacknowledged entries, closes a tail that acknowledges unsent entries, and affects no other tail", async () => {
    const object = new FakeObject();
    const dishonest = object.open();
    const honest = object.open();
    for (let batch = 0; batch < 40; batch++) {
      object.commit(1, entriesNumbered(1000));
      await object.settle();
      // The first tail's client acknowledges only the first entry each time, and finally more than was sent.
      expect(object.hub.ack(dishonest.tail, batch * 1000 + 1)).toBe(true);
      object.hub.ack(honest.tail, honest.socket.seqs.at(-1) ?? 0);
      expect(honest.tail.unackedBytes).toBe(0);
      expect(dishonest.tail.unackedBytes).toBeGreaterThan(90_000);
    }
    expect(object.hub.ack(dishonest.tail, 40_001)).toBe(false);
    object.hub.refuseMessage(dishonest.tail);
    expect(dishonest.socket.closed?.code).toBe(1008);
    expect(object.hub.ack(dishonest.tail, Number.MAX_SAFE_INTEGER)).toBe(false);
    object.gone(dishonest.socket);
    object.commit(1, entriesNumbered(1));
    await object.settle();
    expect(honest.socket.seqs).toEqual(range(1, 40_001));
    expect(honest.socket.closed).toBeNull();
  });

  it("ends only the tails whose authority has ended, with its code", async () => {
    const object = new FakeObject();
    const keyed = object.open({ authority: { kind: "key", hash: "bad" } });
    const other = object.open();
    object.commit(1, entriesNumbered(1));
    object.ruling = ({ authority }) =>
      authority.kind === "key" && authority.hash === "bad"
        ? { ok: false, code: "API_KEY_REVOKED" }
        : { ok: true, expiresAt: null };
    object.hub.recheck();
    await object.settle();
    expect(keyed.socket.frames.slice(1)).toEqual([{ type: "error", code: "API_KEY_REVOKED" }]);
    expect(keyed.socket.closed).toEqual({ code: 4001, reason: "API_KEY_REVOKED" });
    expect(other.socket.seqs).toEqual([1]);
    expect(object.closed).toEqual(["4001 API_KEY_REVOKED"]);
  });

  it("sends nothing to a tail with an expired authority until it is renewed", async () => {
    const object = new FakeObject();
    const { socket } = object.open({ expiresAt: 100 });
    object.now = 100;
    object.renewed = async () => ({ ok: true, expiresAt: 200 });
    object.commit(1, entriesNumbered(2));
    await object.turn();
    expect(socket.seqs).toEqual([]);
    await object.settle();
    expect(socket.seqs).toEqual([1, 2]);
    expect(object.hub.nextExpiry()).toBe(200);
    object.now = 200;
    object.renewed = async () => ({ ok: false, code: "SESSION_REVOKED" });
    object.hub.expire();
    await object.settle();
    expect(socket.closed).toEqual({ code: 4001, reason: "SESSION_REVOKED" });
  });

  it("removes a tail whose socket throws, and serves the others", async () => {
    const object = new FakeObject();
    const broken = object.open();
    const other = object.open();
    broken.socket.isBroken = true;
    object.commit(1, entriesNumbered(2));
    await object.settle();
    expect(other.socket.seqs).toEqual([1, 2]);
    expect(object.hub.size).toBe(1);
    expect(object.failures).toEqual([]);
  });

  it("closes a tail whose backlog cannot be read, and states its position", async () => {
    const object = new FakeObject();
    object.commit(1, entriesNumbered(5));
    object.isBacklogBroken = true;
    const { socket } = object.open({ sent: 2 });
    await object.settle();
    expect(socket.frames).toEqual([{ type: "error", code: "SERVICE_UNAVAILABLE" }]);
    expect(socket.closed).toEqual({ code: 1011, reason: "since=2" });
  });

  it("reads batches from disk that do not fit into the queue", async () => {
    const object = new FakeObject();
    const { socket, tail } = object.open();
    // Random text hardly compresses.
    for (let batch = 0; batch < 40; batch++) object.commit(1, [entry(randomBytes(450_000).toString("base64"))]);
    for (let turn = 0; turn < 500; turn++) {
      await object.turn();
      object.hub.ack(tail, socket.seqs.at(-1) ?? 0);
    }
    expect(object.backlogs.length).toBeGreaterThan(0);
    expect(socket.seqs).toEqual(range(1, 40));
  });

  it("keeps the attachment small", async () => {
    const object = new FakeObject();
    const filter = tailFilterText({ ...EVERYTHING, search: "x".repeat(512), session: "s".repeat(400) });
    const { socket } = object.open();
    const filtered = object.open({ filter });
    for (let batch = 0; batch < 9_000; batch++) object.commit(1, entriesNumbered(1));
    for (let batch = 0; batch < 200; batch++) await object.turn();
    await object.settle();
    expect(socket.seqs).toHaveLength(9_000);
    for (const each of [socket, filtered.socket]) {
      expect(JSON.stringify(each.attachment).length).toBeLessThan(1900);
    }
  });
});
