import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readStreamHeader, type StreamReport } from "../../../src/logs/ingest/stream-header.ts";
import {
  advance,
  close,
  explain,
  MAX_OPEN_GAPS,
  newStream,
  type StreamState,
} from "../../../src/workspace/stream-state.ts";

const NOW = Date.UTC(2026, 10, 23, 9);
const NAME = "5f2c7a3e-1b7d-4f0a-9d55-0a1b2c3d4e5f";

function report(first: number, count: number, drops: StreamReport["drops"] = {}, epoch = NOW): StreamReport {
  return { stream: NAME, epoch, first, count, drops };
}

describe("18.5: the header of a stream", () => {
  test("is read", () => {
    expect(readStreamHeader(`${NAME};epoch=${NOW};first=50;count=10;queue-full=3;retries=10;later=1`)).toEqual(
      report(50, 10, { "queue-full": 3, retries: 10 }),
    );
  });

  test.each([
    null,
    "",
    NAME,
    `${NAME};epoch=1;first=0;count=0`,
    `${NAME};epoch=1;first=-1;count=1`,
    `${NAME};epoch=1;first=0;count=100001`,
    `${NAME};epoch=1;first=0;count=1;__proto__=1`,
    `${NAME};epoch=1;first=9999999999999999;count=1`,
    `short;epoch=1;first=0;count=1`,
    `${"x".repeat(65)};epoch=1;first=0;count=1`,
    `${NAME};epoch=1;first=0;count=1;${"queue-full=1;".repeat(50)}`,
    `${NAME};epoch=1;first=0;count=1;retries=x`,
  ])("of another form is left out: %s", (text) => expect(readStreamHeader(text)).toBeNull());

  test("never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void readStreamHeader(text)));
    fc.assert(fc.property(fc.string(), (text) => void readStreamHeader(`${NAME};first=0;count=1;epoch=1;${text}`)));
  });
});

describe("18.5: a stream", () => {
  test("whose entries all arrive has no gap, in whatever order and however often", () => {
    const parts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(parts, fc.array(fc.nat()), (counts, order) => {
        let first = 0;
        const all = counts.map((count) => {
          first += count;
          return report(first - count, count);
        });
        const sent = [...all, ...all].sort(
          (a, b) => (order[a.first % order.length] ?? 0) - (order[b.first % order.length] ?? 0),
        );
        const state = newStream(sent[0] ?? report(0, 1), NOW);
        for (const one of sent) advance(state, one, 1, NOW);
        expect(state).toEqual({ next: first, gaps: [], drops: {}, explained: {} });
      }),
    );
  });

  test("misses exactly the numbers that never arrive", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 60 }), { minLength: 1 }), (arrived) => {
        const state = newStream(report(arrived[0] ?? 0, 1), NOW);
        for (const first of arrived) advance(state, report(first, 1), 1, NOW);
        const missing = state.gaps.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
        const last = Math.max(...arrived);
        expect(state.next).toBe(last + 1);
        expect(missing).toEqual(Array.from({ length: last }, (_, at) => at).filter((at) => !arrived.includes(at)));
      }),
    );
  });

  test("says what the client dropped, and what nothing explains is unknown", () => {
    const state = newStream(report(0, 10), NOW);
    advance(state, report(0, 10), 1, NOW);
    expect(
      advance(state, report(60, 10, { retries: 20, "too-large": 1, "queue-full": 7 }), 11, NOW + 5).counted,
    ).toEqual([["queue-full", 7]]);
    const gap = { at: NOW + 5, beforeSeq: 11 };
    expect(explain(state)).toEqual([
      { ...gap, first: 10, count: 20, reason: "retries" },
      { ...gap, first: 30, count: 1, reason: "too-large" },
      { ...gap, first: 31, count: 29, reason: "unknown" },
    ]);
    // The spool of the client sends them again.
    advance(state, report(10, 50, { "queue-full": 7 }), 21, NOW + 9);
    expect(explain(state)).toEqual([]);
    expect(advance(state, report(70, 1, { "queue-full": 9 }), 71, NOW + 9).counted).toEqual([["queue-full", 2]]);
  });

  test("closes its oldest gaps, and a drop explains one gap only", () => {
    const state: StreamState = newStream(report(0, 1), NOW);
    const closed = Array.from({ length: MAX_OPEN_GAPS + 2 }, (_, at) =>
      advance(state, report(at * 2 + 1, 1, { retries: 1 }), at + 1, NOW),
    ).flatMap((step) => step.closed);
    expect(closed.map(({ first, reason }) => [first, reason])).toEqual([
      [0, "retries"],
      [2, "unknown"],
    ]);
    expect(close(state, state.gaps.length).every(({ reason }) => reason === "unknown")).toBe(true);
    expect(state.gaps).toEqual([]);
  });

  test("that is new misses its beginning only if it has just begun, or says that it dropped it", () => {
    const gapOf = (first: number, drops: StreamReport["drops"], epoch: number) => {
      const sent = report(first, 1, drops, epoch);
      const state = newStream(sent, NOW);
      advance(state, sent, 1, NOW);
      return explain(state).map(({ count, reason }) => [count, reason]);
    };
    expect(gapOf(30, {}, NOW - 1000)).toEqual([[30, "unknown"]]);
    // A version of the service that knew no streams has stored them.
    expect(gapOf(100_000, {}, NOW - 3_600_000)).toEqual([]);
    expect(gapOf(100_000, { retries: 40 }, NOW - 3_600_000)).toEqual([[40, "retries"]]);
  });
});
