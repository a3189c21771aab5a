import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { split } from "../../src/cli/split.ts";

interface Found {
  text: string;
  line: number;
  fault: string | null;
}

async function pieces(chunks: readonly Uint8Array[], asText = false): Promise<Found[]> {
  async function* source() {
    yield* chunks;
  }
  const found: Found[] = [];
  for await (const { bytes, line, fault } of split(source(), asText)) {
    found.push({ text: Buffer.from(bytes).toString(), line, fault });
  }
  return found;
}

const of = (text: string, asText = false) => pieces([Buffer.from(text)], asText);
const good = (...entries: [string, number][]): Found[] => entries.map(([text, line]) => ({ text, line, fault: null }));

describe("lines", () => {
  test("yields each JSON object, skips blank lines, and needs no last line feed", async () => {
    expect(await of('{"a":1}\r\n\n  {"b":2} \n{"c":3}')).toEqual(good(['{"a":1}', 1], ['{"b":2}', 3], ['{"c":3}', 4]));
    expect(await of("")).toEqual([]);
    expect(await of(" \n\n")).toEqual([]);
  });

  test("skips a byte order mark", async () => {
    expect(await of('\ufeff{"a":1}\n')).toEqual(good(['{"a":1}', 1]));
    expect(await pieces([...Buffer.from('\ufeff{"a":1}')].map((byte) => Uint8Array.of(byte)))).toEqual(
      good(['{"a":1}', 1]),
    );
  });

  test("rejects only the line that is not an object, not UTF-8 or too long", async () => {
    const found = await pieces([
      Buffer.from('hello\n{"a":1}\n'),
      Uint8Array.of(0x7b, 0xff, 0x7d, 10),
      Buffer.from(`{"m":"${"x".repeat(300_000)}"}\n{"b":2}\n`),
    ]);
    expect(found.map(({ line, fault }) => [line, fault?.slice(0, 20) ?? null])).toEqual([
      [1, "is not a JSON object"],
      [2, null],
      [3, "is not valid UTF-8"],
      [4, "has more than 262144"],
      [5, null],
    ]);
  });

  test("keeps the indentation of text, and accepts any text", async () => {
    expect(await of("[x]\n  at y \r\n\nz", true)).toEqual(good(["[x]", 1], ["  at y", 2], ["z", 4]));
  });
});

describe("an array", () => {
  test("yields each element in one line, with the number of its first line", async () => {
    expect(await of('\n[{"a":[1,{"x":"],}{[\\""}]},\n\n {"b":\n2}\n, {"c":3}]\n')).toEqual(
      good(['{"a":[1,{"x":"],}{[\\""}]}', 2], ['{"b": 2}', 4], ['{"c":3}', 6]),
    );
    expect(await of("[]")).toEqual([]);
    expect(await of('[{"a":1}]\n[{"b":2}]')).toEqual(good(['{"a":1}', 1], ['{"b":2}', 2]));
  });

  test("reports faults", async () => {
    expect((await of('[{"a":1}, 7, {"b":2}')).map(({ line, fault }) => [line, fault])).toEqual([
      [1, null],
      [1, "is not a JSON object"],
      [1, "the array is not closed"],
    ]);
    expect((await of('[{"a":1}]\n{"b":2}')).at(-1)).toMatchObject({
      line: 2,
      fault: "is after the end of the array",
    });
    expect((await of(`[{"m":"${"x".repeat(300_000)}"},{"b":2}]`)).map(({ fault }) => fault?.slice(0, 13))).toEqual([
      "has more than",
      undefined,
    ]);
  });
});

test("splits input independent of chunk boundaries", async () => {
  const entries = fc.array(fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 3 })), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(entries, fc.boolean(), fc.integer({ min: 1, max: 9 }), async (values, asArray, size) => {
      const text = asArray ? JSON.stringify(values, null, 1) : values.map((value) => JSON.stringify(value)).join("\n");
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const found = await pieces(chunks);
      expect(found).toEqual(await of(text));
      expect(found.every(({ fault, text }) => fault === null && !text.includes("\n"))).toBe(true);
      expect(found.map((piece) => JSON.stringify(JSON.parse(piece.text)))).toEqual(
        values.map((value) => JSON.stringify(value)),
      );
    }),
    { numRuns: 500 },
  );
});
