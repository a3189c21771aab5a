import { describe, expect, it } from "vitest";
import type { BodyRange } from "../../../src/logs/cold/format/segment.ts";
import type { SegmentPage, SegmentSelection } from "../../../src/logs/cold/store/selection.ts";
import { UNIT_NS } from "../../../src/logs/query/budget.ts";
import type { FoundSegment } from "../../../src/logs/query/cold-feed.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { answered, TestStore } from "./store.ts";

const PROJECT = "proj_00000000000a";
const SEGMENTS = 150_000;
const TWO_SECONDS = 2e9 / UNIT_NS;

/**
 * A store with an entry at either end of the time range, and many segments in between that the filter excludes. These
 * segments are simulated: one for each second, with metadata only.
 */
function sparse(step = 1000) {
  const store = new TestStore();
  const ends = [1000, 1000 + (SEGMENTS + 1) * step];
  for (const timestamp of ends) {
    const entry = { timestamp, level: "error" as const, category: "custom", type: "log", message: "m" };
    store.add(PROJECT, [{ ...entry, traceId: "wanted" }]);
    store.flush(PROJECT, 1);
  }
  const source = store.logs(5);
  const calls: SegmentSelection[] = [];
  /** The index of a segment in scan order, from 0. */
  const findSegments = async (selection: SegmentSelection): Promise<SegmentPage<FoundSegment>> => {
    calls.push(selection);
    const real = (await source.cold.findSegments({ ...selection, after: null, maxScanned: 10, limit: 10 })).segments;
    const { order, after, maxScanned, from, to } = selection;
    const segments: FoundSegment[] = [];
    let last: SegmentSelection["after"] = null;
    let scanned = 0;
    const total = SEGMENTS + 2;
    const firstSeq = order === "desc" ? total : 1;
    const direction = order === "desc" ? -1 : 1;
    for (let seq = after ? after.firstSeq + direction : firstSeq; seq >= 1 && seq <= total; seq += direction) {
      const at = 1000 + (seq - 1) * step;
      if ((to !== null && at >= to) || (from !== null && at < from)) continue;
      const place = { projectId: PROJECT, firstSeq: seq, part: 0, minTimestamp: at, maxTimestamp: at };
      const own = seq === 1 ? 1 : seq === total ? 2 : 0;
      const found = real.find(({ firstSeq }) => firstSeq === own);
      if (found) segments.push({ ...found, firstSeq: seq, lastSeq: seq });
      last = place;
      if (++scanned === maxScanned) return { segments, next: last };
    }
    return { segments, next: null };
  };
  // Body keys are those of the two real segments.
  const { readBodies } = source.cold;
  const own = (ranges: readonly BodyRange[]) =>
    ranges.map(({ key, ...range }) => ({ ...range, key: { ...key, firstSeq: Math.min(key.firstSeq, 2) } }));
  const cold = {
    ...source.cold,
    findSegments,
    readBodies: (id: string, ranges: readonly BodyRange[]) => readBodies(id, own(ranges)),
  };
  return { source: { ...source, cold }, store, calls, ends };
}

async function walkThrough(step?: number) {
  const { source, calls } = sparse(step);
  const seen: string[] = [];
  const requests: { rows: number; complete: boolean; scanned: number; statements: number }[] = [];
  for (let cursor: string | undefined; requests.length < 50; ) {
    calls.length = 0;
    const pagination = cursor === undefined ? {} : { cursor };
    const result = await runQuery(source, QueryBody.parse({ filters: { traceId: "wanted" }, pagination }), () => 0);
    if (!result.ok) throw new Error(result.reason);
    expect(result.work).toBeLessThan(TWO_SECONDS);
    const { logs, complete } = answered(result.page);
    seen.push(...logs.map(({ timestamp }) => timestamp));
    const scanned = calls.reduce((sum, { maxScanned }) => sum + maxScanned, 0);
    requests.push({ rows: logs.length, complete, scanned, statements: calls.length });
    const { nextCursor } = result.page.pagination;
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return { seen, requests };
}

describe("many segments that a filter excludes", () => {
  it("end a query in a partial answer, and the cursor finds the entries after them", async () => {
    const { seen, requests } = await walkThrough();
    expect(seen).toEqual([new Date(1000 + (SEGMENTS + 1) * 1000).toISOString(), new Date(1000).toISOString()]);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.length).toBeLessThan(7);
    expect(requests.map(({ complete }) => complete)).toEqual(requests.map((_, at) => at === requests.length - 1));
    for (const { scanned, statements } of requests) {
      expect(scanned).toBeLessThan(50_000);
      expect(statements).toBeLessThan(30);
    }
  });

  it("A2: end a query in a partial answer if they share one millisecond, and the cursors reach the end", async () => {
    const { seen, requests } = await walkThrough(0);
    expect(seen).toHaveLength(2);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.length).toBeLessThan(8);
    expect(requests.map(({ complete }) => complete)).toEqual(requests.map((_, at) => at === requests.length - 1));
    for (const { scanned } of requests) expect(scanned).toBeLessThan(80_000);
  });

  it("end a histogram in a partial one", async () => {
    const { source, store } = sparse();
    const stats = store.stats(5);
    const question = HistogramBody.parse({ interval: "1d", filters: { traceId: "wanted" } });
    const result = await runStats({ ...stats, ...source }, question);
    expect(result).toMatchObject({ ok: true, answer: { total: 1, complete: false } });
    let statements = 0;
    const levels = {
      max: 128,
      read: async (selection: SegmentSelection) => {
        statements++;
        const place = { projectId: PROJECT, firstSeq: 1, part: 0, minTimestamp: 0, maxTimestamp: 0 };
        const [segment] = (await stats.levels.read({ ...selection, after: null })).segments;
        if (!segment) throw new Error("There is a segment.");
        return { segments: new Array(selection.limit).fill(segment), next: place };
      },
    };
    const endless = await runStats({ ...stats, levels }, HistogramBody.parse({ interval: "1d" }));
    expect(endless).toMatchObject({ ok: true, answer: { complete: false } });
    expect(statements).toBeLessThan(600);
  });
});
