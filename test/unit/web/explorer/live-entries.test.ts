import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../../../web/src/model/types.ts";
import { type LiveEntries, withArrived } from "../../../../web/src/pages/explorer/live/live-entries.ts";

/** Entries with rising `seq`. */
function arriving(from: number, to: number): LogEntry[] {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const seq = from + at;
    const entry = { id: `e${seq}`, projectId: "p", seq, level: "info", category: "a", type: "b", message: "" } as const;
    return { ...entry, timestamp: new Date(seq).toISOString(), receivedAt: new Date(seq).toISOString() };
  });
}

const NONE: LiveEntries = { entries: [], dropped: 0, old: 0 };
const seqs = ({ entries }: LiveEntries): number[] => entries.map(({ seq }) => seq);

describe("live entries", () => {
  it("are the newest ones up to the limit", () => {
    const some = withArrived(NONE, arriving(1, 3), [], 4);
    expect([seqs(some), some.dropped]).toEqual([[3, 2, 1], 0]);
    const more = withArrived(some, arriving(4, 6), [], 4);
    expect([seqs(more), more.dropped]).toEqual([[6, 5, 4, 3], 2]);
  });

  it("keep those that are open, until they are closed", () => {
    let live = withArrived(NONE, arriving(1, 4), ["e2"], 4);
    for (let seq = 5; seq <= 100; seq++) live = withArrived(live, arriving(seq, seq), ["e2"], 4);
    expect([seqs(live), live.dropped]).toEqual([[100, 99, 98, 97, 2], 95]);
    live = withArrived(live, arriving(101, 101), [], 4);
    expect([seqs(live), live.dropped]).toEqual([[101, 100, 99, 98], 97]);
  });

  it("count those that arrived before a load, and were not dropped since", () => {
    const loading = { ...withArrived(NONE, arriving(1, 4), [], 4), old: 4 };
    expect(withArrived(loading, arriving(5, 5), [], 4).old).toBe(3);
    expect(withArrived(loading, arriving(5, 5), ["e1"], 4).old).toBe(4);
    expect(withArrived(loading, arriving(5, 20), ["e1", "e3"], 4).old).toBe(2);
    expect(withArrived({ ...loading, old: 1 }, arriving(5, 6), ["e2"], 4).old).toBe(0);
  });
});
