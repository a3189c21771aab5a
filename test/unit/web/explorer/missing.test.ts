import { expect, test } from "vitest";
import { missingIn } from "../../../../web/src/pages/explorer/results/missing.ts";

test("18.5: missing entries are marked at the entry after them, with all reasons", () => {
  const found = missingIn([
    { reason: "unknown", entries: 7, gap: { beforeSeq: 3 } },
    { reason: "retries", entries: 30, gap: { beforeSeq: 3 } },
    { reason: "unknown", entries: 1, gap: { beforeSeq: 9 } },
    { reason: "unknown", entries: 2, gap: { beforeSeq: 9 } },
    { reason: "rejected", entries: 5, gap: null },
    { reason: "later", entries: 1, gap: { beforeSeq: 12 } },
  ]);
  expect([...found]).toEqual([
    [3, { entries: 37, reasons: ["their client gave up after its retries", "they never arrived"] }],
    [9, { entries: 3, reasons: ["they never arrived"] }],
    [12, { entries: 1, reasons: ["later"] }],
  ]);
});
