import fc from "fast-check";
import { expect, test } from "vitest";
import { TextDictionary } from "../../../src/logs/segments/encode/text-dictionary.ts";
import { threadMs } from "../../support/thread-time.ts";

function sorted(texts: readonly Buffer[]): Buffer[] {
  const dictionary = new TextDictionary(1e9);
  for (const text of texts) dictionary.add(text, 0, text.length);
  return Array.from(dictionary.sorted(), (index) => Buffer.from(dictionary.at(index)));
}

test("strings of a dictionary are sorted by their bytes, with and without common prefixes", () => {
  const text = fc.oneof(
    fc.uint8Array({ maxLength: 6, max: 3 }),
    fc.uint8Array({ maxLength: 4 }),
    fc.nat(5000).map((number) => Buffer.from(`GET /orders/${number} completed`)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 300 }), (made) => {
      const texts = [...new Set(made.map((own) => Buffer.from(own).toString("hex")))].map((own) =>
        Buffer.from(own, "hex"),
      );
      expect(sorted(texts)).toEqual(texts.toSorted(Buffer.compare));
    }),
    { numRuns: 200 },
  );
  expect(sorted([])).toEqual([]);
});

test("long strings with a long common prefix are sorted in time that their bytes allow", () => {
  const long = Array.from({ length: 40 }, (_, at) => Buffer.from(`${"x".repeat(40_000)}${(at * 17) % 40}`));
  const started = threadMs();
  const made = sorted(long);
  expect(threadMs() - started).toBeLessThan(1000);
  expect(made.map((text) => text.toString())).toEqual(long.toSorted(Buffer.compare).map((text) => text.toString()));
});
