import { expect, test } from "vitest";
import { exportParameters, manifestOf, readChoice } from "../../../web/src/pages/settings/export-choice.ts";

test("the choice of an export survives its address, and parameters that are wrong count as absent", () => {
  const choice = { format: "parquet", from: "2026-11-01T00:00", to: "2026-11-02T12:30:05" } as const;
  expect(readChoice(Object.fromEntries(exportParameters(choice)))).toEqual(choice);
  const wrong = { format: "xlsx", from: "2026-13-01T00:00", to: "javascript:1" };
  expect(readChoice(wrong)).toEqual({ format: "ndjson", from: "", to: "" });
});

test("the manifest is the last line, and no other line is taken for it", () => {
  const manifest = { count: 2, sha256: "ab", complete: true };
  const entry = JSON.stringify({ message: "x", data: { manifest: { count: 9 } } });
  expect(manifestOf(`half a line"}\n${entry}\n${JSON.stringify({ manifest })}\n`)).toEqual(manifest);
  expect(manifestOf(`${entry}\n`)).toBeNull();
  expect(manifestOf(`${JSON.stringify({ manifest })}`.slice(0, -3))).toBeNull();
  expect(manifestOf("")).toBeNull();
});
