import { expect, it } from "vitest";
import type { IngestMediaType } from "../../../src/logs/ingest/parse-entries.ts";
import { verdictOf } from "./reference-ingest.ts";

const NOW = Date.UTC(2026, 10, 20);

/** The rejected entries of a body, and the data of the stored ones. */
function ingest(body: string, type: IngestMediaType = "application/json") {
  const { failure, lines, rejected } = verdictOf(new TextEncoder().encode(body), type, NOW);
  if (failure !== null) throw new Error(failure);
  return { refused: rejected.map(([index, code]) => [index, code]), lines };
}

const entry = (number: string) => `{"message":"m","data":{"deep":[{"id":${number}}]}}`;

const FORMS: [string, IngestMediaType, (entries: readonly string[]) => string][] = [
  ["an array", "application/json", (entries) => `[${entries.join(",")}]`],
  ["a wrapper", "application/json", (entries) => `{"logs":[${entries.join(",")}]}`],
  ["lines", "application/x-ndjson", (entries) => entries.join("\n")],
];

it.each(FORMS)(
  "an integer that would lose digits is rejected by name, without effect on other entries: %s",
  (_, type, form) => {
    const good = ["1", "-0.5", "1e300", "9007199254740991", "9007199254740992", "10000000000000000000", "1.5e19"];
    const bad = ["12345678901234567890", "9007199254740993", "-9007199254740993"];
    const numbers = [...good, ...bad];
    const { refused, lines } = ingest(form(numbers.map(entry)), type);
    expect(refused).toEqual(bad.map((_, i) => [good.length + i, "INVALID_DATA"]));
    expect(lines.map((line) => JSON.parse(line).data.deep[0].id)).toEqual(good.map(Number));
  },
);

it("the same rules apply to a single entry, a folded member and the digits of a string", () => {
  expect(ingest(entry("12345678901234567890")).refused).toEqual([[0, "INVALID_DATA"]]);
  expect(ingest('{"message":"m","id":12345678901234567890}').refused).toEqual([[0, "INVALID_DATA"]]);
  expect(ingest(entry('"12345678901234567890"')).refused).toEqual([]);
});
