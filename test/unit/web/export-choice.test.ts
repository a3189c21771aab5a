import { expect, test } from "vitest";
import { exportParameters, readChoice } from "../../../web/src/pages/settings/export-choice.ts";

test("the choice of an export survives its address, and parameters that are wrong count as absent", () => {
  const choice = { format: "parquet", from: "2026-11-01T00:00", to: "2026-11-02T12:30:05" } as const;
  expect(readChoice(Object.fromEntries(exportParameters(choice)))).toEqual(choice);
  const wrong = { format: "xlsx", from: "2026-13-01T00:00", to: "javascript:1" };
  expect(readChoice(wrong)).toEqual({ format: "ndjson", from: "", to: "" });
});
