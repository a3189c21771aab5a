import fc from "fast-check";
import { expect, test } from "vitest";
import { OwnLines } from "../../../src/logs/ingest/own-lines.ts";
import { referenceVerdict, verdictOf } from "./reference-ingest.ts";

const NOW = Date.UTC(2026, 10, 23, 8, 0, 0, 500);
const DAY_MS = 86_400_000;

const scalar = fc.oneof(
  fc.string({ maxLength: 6, unit: "binary" }),
  fc.constantFrom("", "a\n", "x", 0, -1, 1.5, 1e21, 1e-7, 200, true, false, null),
);
const values: Record<string, fc.Arbitrary<unknown>> = {
  message: fc.oneof({ weight: 8, arbitrary: fc.constantFrom("m", "é", "a\n", 'q"', "x".repeat(300)) }, scalar),
  timestamp: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(NOW, NOW - 5, NOW - DAY_MS, new Date(NOW).toISOString(), "2026-11-23T07:00:00+01:00"),
    },
    fc.constantFrom(NOW + 2 * DAY_MS, 5, NOW + 0.5, -1, 1e15, "2026-02-30T00:00:00.000Z", "yesterday", null),
  ),
  level: fc.constantFrom("info", "warn", "trace", "fatal", "log", "debug", "error", "error", "INFO", 3),
  category: fc.constantFrom("http", "custom", "own", "é", "x".repeat(65), "", 7),
  type: fc.constantFrom("request", "response", "log", "x", "", null),
  session: scalar,
  traceId: scalar,
  spanId: scalar,
  service: fc.oneof(scalar, fc.constant("s".repeat(300))),
  host: scalar,
  data: fc.oneof(fc.dictionary(fc.constantFrom("a", "b", "é"), scalar, { maxKeys: 3 }), scalar),
};
const others = ["a", "b", "é", "7", "__proto__", "x y", "status"];
const name = fc.oneof(fc.constantFrom(...Object.keys(values)), fc.constantFrom(...others));
const member = name.chain((key) =>
  fc.tuple(
    fc.constant(key),
    (Object.hasOwn(values, key) ? values[key] : undefined) ?? fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
  ),
);
const entry = fc
  .tuple(fc.uniqueArray(member, { maxLength: 7, selector: ([key]) => key }), fc.nat(5), values.message ?? scalar)
  .map(([members, isWithout, message]): (readonly [string, unknown])[] => {
    return isWithout === 0 ? members : [...members.filter(([key]) => key !== "message"), ["message", message]];
  });

const lineOf = (members: readonly (readonly [string, unknown])[]) =>
  `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`;

test("entries in any order of members have the result of parsing, to the byte", () => {
  const plain = new OwnLines();
  let plainly = 0;
  const body = fc.tuple(fc.array(entry, { minLength: 1, maxLength: 5 }), fc.constantFrom("\n", "\r\n"));
  fc.assert(
    fc.property(body, ([entries, lineBreak]) => {
      const lines = entries.map(lineOf);
      for (const line of lines) {
        const bytes = new TextEncoder().encode(line);
        if (plain.read(bytes, 0, bytes.length, NOW, null)) plainly++;
      }
      const bytes = new TextEncoder().encode(lines.join(lineBreak));
      expect(verdictOf(bytes, "application/x-ndjson", NOW)).toEqual(
        referenceVerdict(bytes, "application/x-ndjson", NOW),
      );
    }),
    { numRuns: 4_000 },
  );
  // Many entries are read by the fast way, or the comparison says little.
  expect(plainly).toBeGreaterThan(1_000);
});

test.each([
  ["epoch milliseconds behind the message", { message: "m", status: 200, level: "warn", timestamp: NOW }],
  [
    "own data",
    { level: "log", message: "m", data: { a: [1, { b: "é" }] }, traceId: "t", timestamp: new Date(NOW).toISOString() },
  ],
  ["names of a category", { message: "m", type: "request", category: "http", service: "api", host: "h", session: "s" }],
])("an entry with %s is not parsed", (_, sent) => {
  const bytes = new TextEncoder().encode(JSON.stringify(sent));
  expect(new OwnLines().read(bytes, 0, bytes.length, NOW, null)).toBe(true);
});
