import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryAt } from "../../../bench/entries.ts";
import { TokenCollector } from "../../../src/logs/cold/filter/tokens.ts";
import { linesOf, type SourceLine } from "../../../src/logs/cold/format/lines.ts";
import { LEVELS, parseStoredLine } from "../../../src/logs/entry.ts";
import { EntryCounter } from "../../../src/logs/segments/encode/counter.ts";
import { RowGroup } from "../../../src/logs/segments/encode/row-group.ts";
import { RowTokens } from "../../../src/logs/segments/tokens/row-tokens.ts";
import { storedLine } from "../cold/stored-lines.ts";
import { tokensOf } from "../cold/tokens-of.ts";

function sourceLines(lines: readonly Uint8Array[]): SourceLine[] {
  const body = Buffer.concat(lines.flatMap((line, index) => (index > 0 ? [Buffer.from("\n"), line] : [line])));
  const batch = { firstSeq: 1, count: lines.length, commit: 1, receivedAt: 0, body };
  return [...linesOf([batch], { firstSeq: 1, lastSeq: lines.length })].flat();
}

/** The severity of each entry, or `null` if a line is not an entry, and all tokens by kind. */
interface Outcome {
  entries: (number | null)[];
  tokens: string[][];
}

/** Reads entries as a flush does. @param exactShapes from which on lines are read by the members that some of them have */
function readAll(bodies: readonly (readonly Uint8Array[])[], exactShapes: number): Outcome {
  const tokens = new TokenCollector();
  const reader = new RowTokens(tokens);
  const counter = new EntryCounter();
  const group = new RowGroup(exactShapes);
  const entries = bodies.flatMap((body) =>
    sourceLines(body).map((line) =>
      orNull(() => {
        group.add(line);
        reader.add(group);
        return counter.add(group);
      }),
    ),
  );
  return { entries, tokens: [...tokens.kinds.values()].map(tokensOf) };
}

/** Reads entries by parsing every line. A flush also rejects lines without a time at its position. */
function parseAll(bodies: readonly (readonly Uint8Array[])[]): Outcome {
  const tokens = new TokenCollector();
  const entries = bodies.flatMap((body) =>
    sourceLines(body).map(({ batch, start, end, timestamp }) =>
      orNull(() => {
        const entry = parseStoredLine(Buffer.from(batch.body.subarray(start, end)).toString("utf8"));
        if (entry === null || !Number.isFinite(timestamp)) throw new RangeError("The line is not an entry.");
        tokens.add(entry);
        return LEVELS.indexOf(entry.level);
      }),
    ),
  );
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

describe("RowTokens", () => {
  it("has the tokens of entries that are parsed, and rejects the same lines", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(storedLine, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0, 2, 256),
        (blocks, exactShapes) => {
          // Each line twice, because values that were seen are skipped.
          const twice = blocks.map((lines) => [...lines, ...lines]);
          expect(readAll(twice, exactShapes)).toEqual(parseAll(twice));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("does not parse lines that are alike", () => {
    const lines = Array.from({ length: 100 }, (_, index) =>
      Buffer.from(JSON.stringify(entryAt(index, 1_795_183_200_000 + index))),
    );
    const group = new RowGroup();
    for (const line of sourceLines(lines)) group.add(line);
    expect(group.shape.subarray(0, group.rows).every((shape) => shape >= 0)).toBe(true);
  });

  it("has exactly the tokens of members that only some lines of a shape have", () => {
    const head = '{"timestamp":"2026-11-20T14:04:05.678Z","level":"info","category":"http","type":"request","message":';
    const lines = [
      `${head}"first words","session":"one","data":{"a":"first"},"message":"second"}`,
      `${head}"first words","session":"one","data":{"a":"first"}}`,
      `${head}"x","data":{"a":"lost","b":1,"a":"kept"}}`,
      `${head}"x","data":{"a":{"b":1},"a.b":2,"c":{"b":1},"tags":["up","Down",[3]],"list":["Zo\u00eb","a"b",true,false,null,-1.5,7,""],"empty":[],"none":null,"no":{}}}`,
      `${head}"x","service":"api","data":{"a":{"b":1},"d":true,"e":1.5e-7,"f":"K\u212aelvin "x""}}`,
      `${head}"x","service":"api","host":"h","data":{"d":false,"f":"ΟΔΟΣ"}}`,
      ...Array.from(
        { length: 30 },
        (_, at) => `${head}"m${at}","data":{"m${at % 7}":${at},"n${at % 3}":"v${at % 5}"}}`,
      ),
    ].map((line) => Buffer.from(line));
    for (const exactShapes of [0, 2, 256]) expect(readAll([lines], exactShapes)).toEqual(parseAll([lines]));
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
      const [source] = sourceLines([line]);
      if (source?.isTimed) expect(new Date(source.timestamp).toISOString()).toBe(time);
    }
  });
});
