import { describe, expect, it } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import {
  type FlushBatch,
  type FlushCall,
  type RangeStore,
  writeRange as write,
} from "../../../src/workspace/flush/write-range.ts";

const encoder = new TextEncoder();
const line = (message: string) =>
  JSON.stringify({ timestamp: "2026-01-01T00:00:00.000Z", level: "info", category: "custom", type: "log", message });

function batch(commit: number, firstSeq: number, count: number): FlushBatch {
  const lines = Array.from({ length: count }, (_, index) => line(`m${firstSeq + index}`));
  return { commit, firstSeq, count, receivedAt: 1, ...encodeBody(encoder.encode(lines.join("\n"))) };
}

function callOf(...batches: FlushBatch[]): FlushCall {
  const last = batches.at(-1);
  const range = { firstSeq: batches[0]?.firstSeq ?? 1, lastSeq: (last?.firstSeq ?? 1) + (last?.count ?? 0) - 1 };
  const watermark = range.firstSeq - 1;
  return { workspaceId: "ws_a", projectId: "proj_a", range, watermark, batches, bad: [], deadline: 1000 };
}

/** A cold tier in memory that counts calls. */
class Store implements RangeStore {
  readonly rows = new Map<number, EncodedSegment>();
  sent = 0;
  error: Error | null = null;

  async replaceSegments(id: string, segments: readonly EncodedSegment[], watermark: number) {
    const last = segments.at(-1)?.lastSeq ?? 0;
    for (const firstSeq of this.rows.keys()) if (firstSeq > watermark && firstSeq <= last) this.rows.delete(firstSeq);
    return this.insertSegments(id, segments, watermark);
  }

  async insertSegments(_: string, segments: readonly EncodedSegment[], watermark: number) {
    this.sent++;
    if (this.error) throw this.error;
    const [first] = segments;
    if (first && !this.rows.has(first.firstSeq))
      for (const segment of segments) this.rows.set(segment.firstSeq, segment);
    const last = segments.at(-1)?.lastSeq ?? 0;
    const rows = [...this.rows.values()].filter(({ firstSeq }) => firstSeq > watermark && firstSeq <= last);
    const sum = (of: "count" | "storedBytes") => rows.reduce((total, row) => total + row[of], 0);
    return { segments: rows.length, entries: sum("count"), bytes: sum("storedBytes"), files: [] };
  }

  async noteFiles() {}

  async segmentsBySeq(_: string, __: string, { from, to }: { from: number; to: number }) {
    return [...this.rows.values()].filter(({ firstSeq, lastSeq }) => firstSeq <= to && lastSeq >= from);
  }
}

function writeRange(store: RangeStore, call: FlushCall, now = 1000) {
  return write({ store, bucket: null, now: () => now }, call);
}

describe("writing a range", () => {
  it("stores it, and reports each repetition without storing it again", async () => {
    const store = new Store();
    const call = callOf(batch(1, 1, 3), batch(2, 4, 2000));
    const first = await writeRange(store, call);
    expect(first).toMatchObject({ outcome: "stored", segments: 1 });
    expect(await writeRange(store, call)).toEqual(first);
    expect([...store.rows.values()].map(({ firstSeq, lastSeq, count }) => [firstSeq, lastSeq, count])).toEqual([
      [1, 2003, 2003],
    ]);
  });

  it("sends nothing after its deadline", async () => {
    const store = new Store();
    const outcome = await writeRange(store, callOf(batch(1, 1, 1)), 1001);
    expect([outcome.outcome, store.sent]).toEqual(["failed", 0]);
  });

  it("names a batch that cannot be read, and stores no other", async () => {
    const broken = { ...batch(2, 4, 1000), body: new Uint8Array(50).fill(7) };
    const short = { ...batch(3, 1004, 3), count: 4 };
    const noJson = { ...batch(4, 1008, 1), encoding: 0 as const, body: encoder.encode(`${line("x").slice(0, -1)} `) };
    const store = new Store();
    const outcome = await writeRange(store, callOf(batch(1, 1, 3), broken, short, noJson, batch(5, 1009, 1)));
    expect(outcome).toEqual({
      outcome: "bad",
      batches: [2, 3, 4].map((commit) => ({ commit, reason: "it cannot be read" })),
    });
    expect(store.sent).toBe(0);
  });

  it("names a batch with a line that is not an entry", async () => {
    const store = new Store();
    for (const bad of ["no JSON", '{"message":"m"}', '"text"', line("m").replace("info", "loud"), line("m").slice(9)]) {
      const lines = new TextEncoder().encode([line("m4"), bad].join("\n"));
      const broken = { ...batch(2, 4, 2), ...encodeBody(lines) };
      const outcome = await writeRange(store, callOf(batch(1, 1, 3), broken, batch(3, 6, 1)));
      expect(outcome).toEqual({ outcome: "bad", batches: [{ commit: 2, reason: "it cannot be read" }] });
    }
    expect(store.sent).toBe(0);
  });

  it("names every batch of a range that is not whole", async () => {
    const outcome = await writeRange(new Store(), callOf(batch(1, 1, 3), batch(2, 5, 1)));
    expect(outcome).toMatchObject({ outcome: "bad", batches: [{ commit: 1 }, { commit: 2 }] });
  });

  it("treats a range that an earlier call stored as stored, even if it cannot be read any longer", async () => {
    const store = new Store();
    const call = callOf(batch(1, 1, 3), batch(2, 4, 5));
    const stored = await writeRange(store, call);
    const damaged = { ...call, batches: call.batches.map((each) => ({ ...each, body: new Uint8Array(3) })) };
    expect(await writeRange(store, damaged)).toEqual(stored);
  });

  it("replaces other segments in the place of a range, so that no entry is duplicated", async () => {
    for (const other of [callOf(batch(1, 1, 3), batch(2, 4, 5)), callOf(batch(1, 1, 2)), callOf(batch(1, 2, 2))]) {
      const store = new Store();
      await writeRange(store, other);
      expect(await writeRange(store, callOf(batch(1, 1, 3)))).toMatchObject({
        outcome: "stored",
        hasReplaced: true,
      });
      expect([...store.rows.values()].map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([[1, 3]]);
      const again = await writeRange(store, callOf(batch(1, 1, 3)));
      expect(again).toMatchObject({ outcome: "stored", hasReplaced: false });
    }
  });

  it("reports a range as bad if it cannot replace the segments in its place", async () => {
    const store = new Store();
    store.replaceSegments = async () => ({ segments: 1, entries: 2, bytes: 1, files: [] });
    await writeRange(store, callOf(batch(1, 1, 2)));
    const outcome = await writeRange(store, callOf(batch(1, 1, 3)));
    expect(outcome).toMatchObject({ outcome: "bad", batches: [{ commit: 1 }] });
  });

  it("treats a range as stored whose batches the object itself cannot read any longer", async () => {
    const store = new Store();
    const call = callOf(batch(1, 1, 3), batch(2, 4, 5));
    const bad = [{ commit: 2, reason: "a part of it is missing" }];
    const damaged = { ...call, batches: call.batches.slice(0, 1), bad };
    expect(await writeRange(store, damaged)).toEqual({ outcome: "bad", batches: bad });
    const stored = await writeRange(store, call);
    expect(await writeRange(store, damaged)).toEqual(stored);
  });

  it("distinguishes temporary from permanent errors, and reveals only D1's code of a message", async () => {
    const store = new Store();
    store.error = new Error("D1_ERROR: no such table: segments: SQLITE_ERROR in sk_secret");
    expect(await writeRange(store, callOf(batch(1, 1, 1)))).toEqual({
      outcome: "failed",
      reason: "D1 fails with SQLITE_ERROR",
    });
    store.error = new Error("Network connection lost to 10.0.0.1");
    expect(await writeRange(store, callOf(batch(1, 1, 1)))).toMatchObject({ reason: "D1 cannot be reached" });
    store.error = new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
    expect(await writeRange(store, callOf(batch(1, 1, 1), batch(2, 2, 1)))).toEqual({
      outcome: "bad",
      batches: [1, 2].map((commit) => ({ commit, reason: "D1 refuses its range: SQLITE_TOOBIG" })),
    });
  });
});
