import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import { storedLine } from "../cold/stored-lines.ts";
import { bytesOf, encode, line, linesIn, valuesIn } from "./support.ts";

/** Texts of values that `JSON.stringify` writes in another way, or that differ in their type only. */
const spelling = fc.constantFrom(
  "1.0", "1", "-0", "0", "1e3", "1000", "1E3", "1e+21", "1e21", "12345678901234567890", "9007199254740993",
  "9007199254740991", "-9007199254740991", "0.1", "0.30000000000000004", "1e-7", "0.0000001", "1e400", "100000000000000000000",
  '"a"', '"\\u0061"', '"\\/"', '"/"', '"\\n\\t\\u0000\\u001f"', '"\\u001F"', '"\u2028 \\ud800"', '"é"', '""', "null", "true", "false",
  "[]", "{}", '[1,"a",{"b":[]}]', "[1.0,-0]", '{"b":1}', '{"b":{"c":"x","d":[1]}}', '{"b":1,"b":2}', '{"0":1,"a":2}', '{"1":{},"0":{}}',
); // biome-ignore format: a list of texts
const name = fc.constantFrom(
  "a",
  "b",
  "a.b",
  'a"b',
  "",
  "__proto__",
  "é",
  "0",
  "constructor",
  "*",
  "#",
  "$",
  "a b",
  "[0]",
  "\\u0001",
);
const data = fc
  .uniqueArray(fc.tuple(name, spelling), { maxLength: 6, selector: ([own]) => own })
  .map(
    (members) =>
      `{${members.map(([own, value]) => `${own === "\\u0001" ? '"\\u0001"' : JSON.stringify(own)}:${value}`).join(",")}}`,
  );
const ids = fc.record(
  { session: fc.string({ unit: "grapheme" }), traceId: fc.string(), spanId: fc.string() },
  { requiredKeys: [] },
);
const hostileLine = fc
  .tuple(fc.option(data, { nil: undefined }), ids, fc.string({ unit: "grapheme" }), fc.nat(1_000_000))
  .map(([own, members, message, at]) => line(own, { message, ...members }, at));

describe("a segment file", () => {
  test("returns hostile lines letter for letter, and equal lines give equal bytes", () => {
    fc.assert(
      fc.property(
        fc.array(hostileLine, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 6, max: 60 }),
        fc.constantFrom(0, 2, 256),
        (lines, groupRows, exactShapes) => {
          const file = encode(lines, { groupRows, exactShapes });
          expect(linesIn(bytesOf(file)).map(String)).toEqual(lines);
          expect(Buffer.compare(bytesOf(encode(lines, { groupRows, exactShapes })), bytesOf(file))).toBe(0);
          const sha256 = createHash("sha256")
            .update(lines.map((own) => `${own}\n`).join(""))
            .digest("hex");
          expect(file).toMatchObject({ count: lines.length, firstSeq: 1, lastSeq: lines.length, linesSha256: sha256 });
          expect(file.rawBytes).toBe(Buffer.byteLength(`${lines.join("\n")}\n`));
        },
      ),
      { numRuns: 80 },
    );
  });

  test("returns any stored line byte for byte, or is refused if one is no entry", () => {
    fc.assert(
      fc.property(fc.array(storedLine, { minLength: 1, maxLength: 12 }), (lines) => {
        const areEntries = lines.every((own) => parseStoredLine(own.toString("utf8")) !== null);
        let file: ReturnType<typeof encode>;
        try {
          file = encode(lines, { perBatch: 1 });
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          // Some entries have their time where no reader looks for it.
          if (areEntries) expect(String(error)).toContain("no time");
          return;
        }
        expect(areEntries).toBe(true);
        expect(linesIn(bytesOf(file)).map(String)).toEqual(lines.map(String));
        for (const [index, own] of linesIn(bytesOf(file)).entries()) {
          expect(Buffer.compare(own, lines[index] ?? own)).toBe(0);
        }
      }),
      { numRuns: 250 },
    );
  });

  test("gives each row its seq, commit, times and members", () => {
    const lines = Array.from({ length: 30 }, (_, at) =>
      line({ n: at }, { level: at % 2 === 0 ? "info" : "error", ...(at % 3 === 0 && { traceId: `t"${at}` }) }, at),
    );
    const bytes = bytesOf(encode(lines, { groupRows: 8 }));
    expect(valuesIn(bytes, "seq")).toEqual(lines.map((_, at) => at + 1));
    expect(valuesIn(bytes, "commit")).toEqual(lines.map((_, at) => 10 + Math.floor(at / 7) * 3));
    expect(valuesIn(bytes, "timestamp")).toEqual(lines.map((own) => Date.parse(JSON.parse(own).timestamp)));
    expect(valuesIn(bytes, "level")).toEqual(lines.map((own) => JSON.parse(own).level));
    expect(valuesIn(bytes, "message")).toEqual(lines.map((own) => JSON.parse(own).message));
    expect(valuesIn(bytes, "trace_id")).toEqual(lines.map((own) => JSON.parse(own).traceId ?? null));
    expect(valuesIn(bytes, "data.n")).toEqual(lines.map((_, at) => at));
    expect(valuesIn(bytes, "pattern")).toEqual(lines.map(() => null));
  });
});
