import { expect, test } from "vitest";
import { exportParameters, readChoice } from "../../../web/src/pages/settings/export-choice.ts";

test.each([
  { kind: "all" },
  { kind: "last", preset: "24h" },
  { kind: "last", preset: "90m" },
  { kind: "between", from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T12:30:05.000Z" },
  { kind: "between", from: null, to: "2026-11-02T12:30:05.000Z" },
] as const)("the choice of an export survives its address, $kind", (range) => {
  const choice = { format: "parquet", range } as const;
  expect(readChoice(Object.fromEntries(exportParameters(choice)))).toEqual(choice);
});

test("parameters that are wrong count as absent", () => {
  const wrong = { format: "xlsx", from: "2026-13-01T00:00", to: "javascript:1" };
  expect(readChoice(wrong)).toEqual({ format: "ndjson", range: { kind: "all" } });
});
