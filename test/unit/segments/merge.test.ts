import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { columnCountsOf, sourceLinesOf } from "../../../src/logs/segments/decode/source-lines.ts";
import { mergeColumns } from "../../../src/logs/segments/encode/choose-columns.ts";
import { encodeSegment, type SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { batchesOf, bytesOf, line, linesIn, open, PROJECT, valuesIn } from "./support.ts";

function done(steps: Generator<null, SegmentFile>): SegmentFile {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const lines = Array.from({ length: 300 }, (_, at) =>
  at % 50 === 7
    ? line(`{"a":${at}.0}`, {}, at)
    : line(
        at < 150 ? { a: at, old: "x", tags: [at] } : { a: at + 0.5, fresh: at % 2 === 0 },
        { session: `s${at % 9}` },
        at,
      ),
);
const batches = batchesOf(lines, 13);
const ranges = [
  { firstSeq: 1, lastSeq: 100 },
  { firstSeq: 101, lastSeq: 220 },
  { firstSeq: 221, lastSeq: 300 },
];

describe("merging segment files", () => {
  test("gives the lines, commits and times of one file of all lines, and the same SHA-256", () => {
    const parts = ranges.map((range) =>
      open(bytesOf(done(encodeSegment(PROJECT, linesOf(batches, range), { groupRows: 40 })))),
    );
    const columns = mergeColumns(parts.map(({ reader }) => columnCountsOf(reader)));
    function* all() {
      for (const { reader, chunk } of parts) {
        for (const group of reader.rowGroups.keys()) yield* sourceLinesOf(reader, group, chunk);
      }
    }
    const merged = done(encodeSegment(PROJECT, all(), { columns, groupRows: 250 }));
    const whole = done(encodeSegment(PROJECT, linesOf(batches, { firstSeq: 1, lastSeq: 300 })));
    const bytes = bytesOf(merged);
    expect(linesIn(bytes).map(String)).toEqual(lines);
    for (const name of ["seq", "commit", "received_at", "timestamp", "session"]) {
      expect(valuesIn(bytes, name)).toEqual(valuesIn(bytesOf(whole), name));
    }
    const { linesSha256, count, rawBytes, minCommit, maxCommit, levels, summary } = whole;
    expect(merged).toMatchObject({ linesSha256, count, rawBytes, minCommit, maxCommit });
    expect([merged.levels, merged.summary]).toEqual([levels, summary]);
    // Integers and fractions meet in one column of numbers.
    expect(columns.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
      "data.a number",
      "data.fresh boolean",
      "data.old text",
    ]);
  });
});
