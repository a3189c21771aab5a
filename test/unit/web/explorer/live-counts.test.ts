import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../../web/src/model/types.ts";
import { barsOf } from "../../../../web/src/pages/explorer/histogram/bars.ts";
import { type Stats, withLive } from "../../../../web/src/pages/explorer/histogram/buckets.ts";
import { type CountedEntry, LiveCounts } from "../../../../web/src/pages/explorer/live/live-counts.ts";
import { ownName } from "../../../../web/src/pages/explorer/results/own-name.ts";

const MINUTE = 60_000;

/** The service's count of the entries up to a seq. */
function countedUpTo(entries: readonly CountedEntry[], lastSeq: number): Stats {
  const buckets = new Map<number, Record<string, number>>();
  for (const { seq, at, level } of entries) {
    if (seq > lastSeq) continue;
    const start = Math.floor(at / MINUTE) * MINUTE;
    const groups = buckets.get(start) ?? {};
    groups[level] = (groups[level] ?? 0) + 1;
    buckets.set(start, groups);
  }
  const listed = [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([start, groups]) => {
      const count = Object.values(groups).reduce((sum, each) => sum + each, 0);
      return { start: new Date(start).toISOString(), count, groups };
    });
  return { buckets: listed, total: listed.reduce((sum, { count }) => sum + count, 0), complete: true, lastSeq };
}

const made = fc
  .array(fc.record({ at: fc.integer({ min: 1.79e12, max: 1.79e12 + 10 * MINUTE }), level: fc.constantFrom(...LEVELS) }))
  .map((list) => list.map((each, index): CountedEntry => ({ ...each, seq: index + 1 })));

describe("5: counts of a live view on top of the service's", () => {
  it("counts every entry once, for any order of responses and entries", () => {
    // Each step lets the tail deliver more entries, or the service count a part of all.
    const steps = fc.array(fc.tuple(fc.constantFrom("deliver", "count"), fc.double({ min: 0, max: 1, noNaN: true })));
    fc.assert(
      fc.property(made, steps, (entries, steps) => {
        const counts = new LiveCounts(({ level }) => level);
        let delivered = 0;
        let stats: Stats | null = null;
        let shown = 0;
        for (const [step, part] of steps) {
          if (step === "deliver") {
            const until = delivered + Math.ceil(part * (entries.length - delivered));
            counts.add(entries.slice(delivered, until));
            delivered = until;
          } else {
            // Later counts are of later snapshots.
            const last: number = stats?.lastSeq ?? 0;
            const lastSeq = last + Math.floor(part * (entries.length - last));
            stats = countedUpTo(entries, lastSeq);
            counts.begin(lastSeq, MINUTE);
          }
          if (stats === null) continue;
          const now = withLive(stats, counts.buckets);
          const expected = countedUpTo(entries, Math.max(delivered, stats.lastSeq ?? 0));
          expect(now.buckets).toEqual(expected.buckets);
          expect(now.total).toBe(expected.total);
          // A count never decreases.
          expect(now.total).toBeGreaterThanOrEqual(shown);
          shown = now.total;
        }
      }),
    );
  });

  it("takes all received entries as counted if the response has no lastSeq", () => {
    const counts = new LiveCounts(({ level }) => level);
    const entry = { at: 5, level: "info" } as const;
    counts.add([{ ...entry, seq: 7 }]);
    counts.begin(undefined, MINUTE);
    counts.add([{ ...entry, seq: 7 }]);
    expect(counts.buckets.size).toBe(0);
    counts.add([{ ...entry, seq: 8 }]);
    expect([...counts.buckets]).toEqual([[0, new Map([["info", 1]])]]);
  });

  it("adds bars for entries after the counted range", () => {
    const counts = new LiveCounts(({ level }) => level);
    counts.begin(0, MINUTE);
    counts.add([{ seq: 1, at: 10 * MINUTE + 5, level: "warn" }]);
    const stats = withLive({ buckets: [], total: 0, complete: true }, counts.buckets);
    const bars = barsOf(stats, MINUTE, 0, 5 * MINUTE, 100);
    expect(bars.at(-1)).toMatchObject({ start: 10 * MINUTE, count: 1, levels: { warn: 1 } });
  });
});

it("18.3: finds the service and host of an entry where the service does", () => {
  const base = { id: "log_1", seq: 1, projectId: "proj_1", level: "info", category: "custom", type: "log" } as const;
  const entry = {
    ...base,
    message: "m",
    timestamp: "2026-11-23T08:00:00.000Z",
    receivedAt: "2026-11-23T08:00:00.000Z",
  };
  const namesOf = (own: object) => (["service", "host"] as const).map((name) => ownName({ ...entry, ...own }, name));
  expect(namesOf({})).toEqual(["", ""]);
  expect(namesOf({ service: "a", data: { service: "b", host: "h" } })).toEqual(["a", "h"]);
  expect(namesOf({ data: { service: { name: "a" }, "host.name": "h" } })).toEqual(["a", "h"]);
  expect(namesOf({ data: { service: 5, host: null } })).toEqual(["", ""]);
});
