import { describe, expect, it } from "vitest";
import { levelBit } from "../../../src/logs/entry.ts";
import { tailFilterText } from "../../../src/tail/filter.ts";
import { TAIL_PROGRESS_MS } from "../../../src/tail/limits.ts";
import { EVERYTHING, entriesNumbered, entry, FakeObject, type FakeSocket } from "./support.ts";

const ERRORS = tailFilterText({ ...EVERYTHING, levelMask: levelBit("error") });

const told = ({ frames }: FakeSocket) => frames.flatMap(({ type, seq }) => (type === "caught-up" ? [seq] : []));

describe("28: a tail whose filter rarely matches", () => {
  it("gets a progress report at least every 10 s in which seq rose", async () => {
    const object = new FakeObject();
    const { socket } = object.open({ filter: ERRORS });
    for (let second = 0; second < 60; second++) {
      object.commit(1, entriesNumbered(100));
      await object.settle();
      await object.lapse(1000);
    }
    const seqs = told(socket);
    expect(socket.seqs).toEqual([]);
    for (const [at, seq] of seqs.slice(1).entries()) expect((seq ?? 0) - (seqs[at] ?? 0)).toBeLessThanOrEqual(1100);
    expect(seqs.length).toBeLessThanOrEqual(14);
    await object.lapse(TAIL_PROGRESS_MS);
    expect(told(socket).at(-1)).toBe(6000);
  });

  it("has a timer only while a report is pending", async () => {
    const object = new FakeObject();
    const { socket } = object.open({ filter: ERRORS });
    await object.settle();
    expect(object.pending).toBe(0);
    object.commit(1, entriesNumbered(5));
    await object.settle();
    expect(object.pending).toBe(1);
    await object.lapse(TAIL_PROGRESS_MS);
    expect(told(socket)).toEqual([0, 5]);
    expect(object.pending).toBe(0);
    await object.lapse(TAIL_PROGRESS_MS);
    expect(told(socket)).toEqual([0, 5]);
    // The first entry after a quiet time is sent immediately, so no timer keeps the object awake.
    object.commit(1, entriesNumbered(1));
    await object.settle();
    expect(told(socket)).toEqual([0, 5, 6]);
    expect(object.pending).toBe(0);
  });

  it("gets no progress report if entries report the position", async () => {
    const object = new FakeObject();
    const { socket, tail } = object.open();
    for (let second = 0; second < 30; second++) {
      object.commit(1, entriesNumbered(10));
      await object.settle();
      object.hub.ack(tail, socket.seqs.at(-1) ?? 0);
      await object.lapse(1000);
    }
    expect(told(socket)).toEqual([0]);
    expect(object.pending).toBe(0);
  });

  it("gets a progress report after its last entry", async () => {
    const object = new FakeObject();
    const { socket } = object.open({ filter: ERRORS });
    object.commit(1, [entry("e", "error"), ...entriesNumbered(20)]);
    await object.settle();
    expect(socket.seqs).toEqual([1]);
    await object.lapse(TAIL_PROGRESS_MS);
    expect(told(socket)).toEqual([0, 21]);
  });

  it("gets progress reports while it reads its backlog, and resumes from there after reconnecting", async () => {
    const object = new FakeObject();
    // 20,000 entries without a match, in steps of 200 that take half a second each.
    for (let batch = 0; batch < 200; batch++) object.commit(1, entriesNumbered(100));
    const first = object.open({ sent: 0, filter: ERRORS });
    while (object.backlogs.length < 60) {
      object.now += 250;
      await object.turn();
    }
    const place = told(first.socket).at(-1) ?? 0;
    expect(told(first.socket).length).toBeGreaterThan(1);
    expect(place).toBeGreaterThan(5000);
    // Acknowledges the reported position and disconnects.
    expect(object.hub.ack(first.tail, place)).toBe(true);
    object.gone(first.socket);
    await object.settle();
    object.backlogs.length = 0;
    const again = object.open({ sent: place, filter: ERRORS });
    await object.settle();
    const read = object.backlogs.reduce((sum, { after, through }) => sum + through - after, 0);
    expect(read).toBe(20_000 - place);
    expect(told(again.socket)).toEqual([20_000]);
  });

  it("continues at the reported position after its object leaves memory", async () => {
    const object = new FakeObject();
    const { socket } = object.open({ filter: ERRORS });
    await object.settle();
    object.commit(1, entriesNumbered(900));
    await object.settle();
    await object.lapse(TAIL_PROGRESS_MS);
    expect(told(socket).at(-1)).toBe(900);
    object.evict([socket]);
    await object.settle();
    expect(object.backlogs).toEqual([]);
    const tail = object.tails.get(socket) ?? expect.fail();
    expect(object.hub.ack(tail, 900)).toBe(true);
  });
});
