import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../../../web/src/model/types.ts";
import { lengthText } from "../../../../web/src/pages/investigate/length-text.ts";
import { durationOf, statedTimes } from "../../../../web/src/pages/investigate/trace/duration.ts";
import {
  longestOwn,
  openRows,
  placeOf,
  scaleOf,
  waterfallOf,
} from "../../../../web/src/pages/investigate/trace/waterfall-model.ts";

const START = Date.UTC(2026, 10, 22, 10);

interface Sent extends Partial<LogEntry> {
  /** Milliseconds after the start. */
  at?: number;
}

let seq = 0;
function entry({ at = 0, ...rest }: Sent): LogEntry {
  seq++;
  const timestamp = new Date(START + at).toISOString();
  const own = { category: "http", type: "request", projectId: "proj_a", level: "info" } as const;
  return { id: `log_${seq}`, seq, message: `entry ${seq}`, timestamp, receivedAt: timestamp, ...own, ...rest };
}

/** Rows as text: depth, message, and the bar in milliseconds from the start. */
function drawn(entries: readonly LogEntry[]): string[] {
  return waterfallOf(entries).rows.map(
    ({ span, depth }) =>
      `${depth} ${span.entry.message} ${span.start - START}..${span.end - START} ${span.source}${span.missingParent === null ? "" : ` lacks ${span.missingParent}`}`,
  );
}

describe("19.3: durations of entries", () => {
  it.each([
    [{ durationMs: 12.5 }, 12.5],
    [{ duration_ms: 12 }, 12],
    [{ duration: 40 }, 40],
    [{ elapsed: "1.5s" }, 1500],
    [{ took: "250 ms" }, 250],
    [{ duration_ns: 2_000_000 }, 2],
    [{ durationSeconds: 3 }, 3000],
    [{ duration: 40, durationMs: 7 }, 7],
    [{ duration: -1 }, null],
    [{ duration: "soon" }, null],
    [{ duration: { ms: 1 } }, null],
    [{ ms: Number.NaN }, null],
    [{ duration: 1e15 }, null],
    [{}, null],
  ])("of %j is %j ms", (data, ms) => expect(durationOf(data)).toBe(ms));

  it("reads stated times in ISO 8601 and epoch numbers of any unit, and nothing else", () => {
    const at = Date.UTC(2026, 10, 22);
    expect(statedTimes({ startTimeUnixNano: `${at}000000`, endTimeUnixNano: `${at + 5}000000` })).toEqual({
      start: at,
      end: at + 5,
    });
    expect(statedTimes({ startedAt: "2026-11-22T00:00:00Z", endedAt: at + 7 })).toEqual({ start: at, end: at + 7 });
    expect(statedTimes({ start: 0, end: "2026" })).toEqual({ start: null, end: null });
  });
});

describe("19.3: the timeline of a trace", () => {
  it("nests spans by the ids of their parents, orders them by start and infers both ends", () => {
    const entries = [
      entry({ message: "charge", at: 900, spanId: "c", data: { parentSpanId: "b", durationMs: 300 } }),
      entry({ message: "request", at: 1000, spanId: "a", data: { durationMs: 1000 } }),
      entry({ message: "checkout begins", at: 100, spanId: "b", data: { parent_span_id: "a" } }),
      entry({ message: "checkout fails", at: 950, spanId: "b", level: "error" }),
      entry({ message: "alone", at: 500 }),
    ];
    expect(drawn(entries)).toEqual([
      "0 request 0..1000 duration",
      "1 checkout begins 100..950 entries",
      "2 charge 600..900 duration",
      "0 alone 500..500 moment",
    ]);
    const { errors, start, end, rows } = waterfallOf(entries);
    expect([errors, start - START, end - START]).toEqual([1, 0, 1000]);
    expect(rows[1]?.span.level).toBe("error");
  });

  it("has the span that takes longest itself, without the time of its children, which may overlap", () => {
    const span = (message: string, at: number, duration: number, parentSpanId?: string) =>
      entry({ message, at, spanId: message, data: { duration, parentSpanId } });
    const all = [span("whole", 1000, 1000), span("a", 500, 450, "whole"), span("b", 700, 400, "whole")];
    const found = longestOwn(waterfallOf(all).rows);
    // The children run from 50 to 700.
    expect([found?.span.entry.message, found?.ms]).toEqual(["a", 450]);
    const alone = longestOwn(waterfallOf([...all.slice(0, 1), span("c", 300, 200, "whole")]).rows);
    expect([alone?.span.entry.message, alone?.ms]).toEqual(["whole", 800]);
    expect(longestOwn(waterfallOf([entry({ message: "moment" })]).rows)).toBeNull();
  });

  it("takes stated times before a duration, and the longest duration of a span", () => {
    expect(
      drawn([
        entry({ message: "inner", at: 90, spanId: "a", data: { duration: 10 } }),
        entry({ message: "whole", at: 100, spanId: "a", data: { duration: 60 } }),
        entry({
          message: "stated",
          at: 500,
          spanId: "b",
          data: { startTime: new Date(START + 10).toISOString(), durationMs: 20 },
        }),
      ]),
    ).toEqual(["0 stated 10..30 stated", "0 whole 40..100 duration"]);
  });

  it("shows a span without its parent if that has no entry, or if parents form a circle", () => {
    expect(
      drawn([
        entry({ message: "orphan", at: 1, spanId: "a", data: { parentSpanId: "gone" } }),
        entry({ message: "x", at: 2, spanId: "x", data: { parentSpanId: "y" } }),
        entry({ message: "y", at: 3, spanId: "y", data: { parentSpanId: "x" } }),
        entry({ message: "below", at: 4, spanId: "z", data: { parentSpanId: "x" } }),
        entry({ message: "self", at: 5, spanId: "s", data: { parentSpanId: "s" } }),
        entry({ message: "root", at: 6, spanId: "r", data: { parentSpanId: "0000000000000000" } }),
      ]),
    ).toEqual([
      "0 orphan 1..1 moment lacks gone",
      "0 x 2..2 moment",
      "1 below 4..4 moment",
      "0 y 3..3 moment",
      "0 self 5..5 moment",
      "0 root 6..6 moment",
    ]);
  });

  it("has every entry exactly once and every child after its parent, whatever the ids are", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "", "00");
    const sent = fc.record({ at: fc.nat(1000), spanId: id, parent: id, duration: fc.option(fc.nat(500)) });
    fc.assert(
      fc.property(fc.array(sent, { minLength: 1, maxLength: 40 }), (all) => {
        const entries = all.map(({ at, spanId, parent, duration }) =>
          entry({ at, spanId, data: { parentSpanId: parent, ...(duration === null ? {} : { duration }) } }),
        );
        const { rows, start, end } = waterfallOf(entries);
        expect(rows.flatMap(({ span }) => span.entries.map((each) => each.id)).sort()).toEqual(
          entries.map((each) => each.id).sort(),
        );
        const seen = new Map<string, number>();
        for (const { span, depth, parent } of rows) {
          expect(depth).toBe(parent === null ? 0 : (seen.get(parent) ?? Number.NaN) + 1);
          seen.set(span.key, depth);
          const { left, width } = placeOf(span, { start, end });
          expect(left >= 0 && width >= 0 && left + width <= 1 + 1e-9).toBe(true);
        }
      }),
    );
  });

  it("holds a chain of 2,000 spans, and hides what is below closed ones", () => {
    const chain = Array.from({ length: 2000 }, (_, n) =>
      entry({ at: n, spanId: `s${n}`, data: n === 0 ? {} : { parentSpanId: `s${n - 1}` } }),
    );
    const { rows } = waterfallOf(chain);
    expect([rows.length, rows.at(-1)?.depth]).toEqual([2000, 1999]);
    expect(openRows(rows, new Set(["span s9"])).length).toBe(10);
  });

  it("writes lengths of time with three digits, and scales in round steps", () => {
    expect([0, 0.25, 1.234, 999.6, 4162, 125_000, 5_400_000, 4 * 86_400_000].map(lengthText)).toEqual([
      ...["0 ms", "250 µs", "1.23 ms", "1,000 ms", "4.16 s", "2 min 5 s", "1 h 30 min", "4 days"],
    ]);
    expect([120_000, 3_600_000, 86_400_000, 86_460_000, 41_100_000].map(lengthText)).toEqual([
      ...["2 min", "1 h", "24 h", "24 h", "11 h 25 min"],
    ]);
    expect(scaleOf(10_400, 5)).toEqual([0, 2500, 5000, 7500, 10_000]);
    expect(scaleOf(0, 5)).toEqual([0]);
    expect(placeOf({ start: 1, end: 1 }, { start: 1, end: 1 })).toEqual({ left: 0, width: 0 });
  });
});
