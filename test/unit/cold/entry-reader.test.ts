import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryAt } from "../../../bench/entries.ts";
import { TokenCollector } from "../../../src/logs/cold/filter/tokens.ts";
import { TypePairs } from "../../../src/logs/cold/format/counts.ts";
import { linesOf, type SourceLine } from "../../../src/logs/cold/format/lines.ts";
import { LineScanner, SegmentEntryReader } from "../../../src/logs/cold/scan/line-scanner.ts";
import { LEVELS, parseStoredLine } from "../../../src/logs/entry.ts";
import { plainLine, storedLine } from "./stored-lines.ts";
import { tokensOf } from "./tokens-of.ts";

function sourceLines(lines: readonly Uint8Array[]): SourceLine[] {
  const body = Buffer.concat(lines.flatMap((line, index) => (index > 0 ? [Buffer.from("\n"), line] : [line])));
  const batch = { firstSeq: 1, count: lines.length, commit: 1, receivedAt: 0, body };
  return [...linesOf([batch], { firstSeq: 1, lastSeq: lines.length })].flat();
}

interface Read {
  severity: number;
  category: string;
  type: string;
}

/** The entry of each line, or `null` if a line is not an entry, and all tokens by kind. */
interface Outcome {
  entries: (Read | null)[];
  tokens: string[][];
}

/** Reads entries with `SegmentEntryReader`, by its fast or its slow path. */
function readAll(bodies: readonly (readonly Uint8Array[])[]): Outcome {
  const reader = new SegmentEntryReader();
  const entries: (Read | null)[] = [];
  for (const body of bodies) {
    for (const line of sourceLines(body)) {
      entries.push(
        orNull(() => {
          reader.read(line);
          const { category, type } = reader.pair;
          return { severity: reader.severity, category, type };
        }),
      );
    }
  }
  return { entries, tokens: [...reader.tokens.kinds.values()].map(tokensOf) };
}

/** Reads entries by parsing every line. */
function parseAll(bodies: readonly (readonly Uint8Array[])[]): Outcome {
  const tokens = new TokenCollector();
  const entries: (Read | null)[] = [];
  for (const body of bodies) {
    for (const line of body) {
      entries.push(
        orNull(() => {
          const entry = parseStoredLine(Buffer.from(line).toString("utf8"));
          if (entry === null) throw new RangeError("The line is not an entry.");
          tokens.add(entry);
          return { severity: LEVELS.indexOf(entry.level), category: entry.category, type: entry.type };
        }),
      );
    }
  }
  return { entries, tokens: [...tokens.kinds.values()].map(tokensOf) };
}

/** An entry with members of other types causes a TypeError. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

describe("EntryReader", () => {
  it("reads the same entry from a line's bytes as parsing does, or rejects both", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(storedLine, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
        (blocks) => {
          // Each line twice, because the reader skips known text.
          const twice = blocks.map((lines) => [...lines, ...lines]);
          expect(readAll(twice)).toEqual(parseAll(twice));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("does not parse lines of ASCII entries that ingest wrote", () => {
    const scans = (lines: readonly Uint8Array[]) => {
      const scanner = new LineScanner(new TypePairs());
      return sourceLines(lines).every(
        ({ batch, start, end, isTimed }) => isTimed && scanner.scan(batch.body, start, end),
      );
    };
    const bench = Array.from({ length: 100 }, (_, index) =>
      Buffer.from(JSON.stringify(entryAt(index, 1_795_183_200_000 + index))),
    );
    expect(scans(bench)).toBe(true);
    fc.assert(
      fc.property(fc.array(plainLine, { minLength: 1, maxLength: 5 }), (lines) => {
        expect(scans(lines)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("adds no tokens of a line that the scanner does not accept", () => {
    const head = '{"timestamp":"2026-11-20T14:04:05.678Z","level":"info","category":"http","type":"request","message":';
    const blocks = [
      [
        `${head}"first words","session":"one","data":{"a":"first"},"message":"second"}`,
        // The first line must not make the reader skip this one.
        `${head}"first words","session":"one","data":{"a":"first"}}`,
      ],
      [`${head}"x","data":{"a":"lost","b":1,"a":"kept"}}`, `${head}"x","data":{"a":"lost"}}`],
      [`${head}"x","data":{"a":{"b":1},"a.b":2,"c":{"b":1}}}`, `${head}"x","data":{"c":{"b":1},"a":{"b":1}}}`],
    ].map((lines) => lines.map((line) => Buffer.from(line)));
    expect(readAll(blocks)).toEqual(parseAll(blocks));
  });

  it("accepts only valid times", () => {
    const times = [
      "2026-02-28T23:59:59.999Z",
      "2024-02-29T00:00:00.000Z",
      "2026-02-29T00:00:00.000Z",
      "2026-02-30T00:00:00.000Z",
      "2026-04-31T00:00:00.000Z",
      "2026-13-01T00:00:00.000Z",
      "2026-00-01T00:00:00.000Z",
      "2026-01-00T00:00:00.000Z",
      "2026-01-01T24:00:00.000Z",
      "2026-01-01T23:60:00.000Z",
      "2026-01-01T23:00:60.000Z",
      "2026-01-01T23:00:0a.000Z",
      "2026-01-01T23:00:00.00Z",
      "2026-01-01 23:00:00.000Z",
      "0001-01-01T00:00:00.000Z",
      "9999-12-31T23:59:59.999Z",
    ];
    for (const time of times) {
      const line = Buffer.from(
        `{"timestamp":"${time}","level":"info","category":"http","type":"request","message":"x"}`,
      );
      expect([time, readAll([[line]])]).toEqual([time, parseAll([[line]])]);
      const [source] = sourceLines([line]);
      if (source?.isTimed) expect(new Date(source.timestamp).toISOString()).toBe(time);
    }
  });
});
