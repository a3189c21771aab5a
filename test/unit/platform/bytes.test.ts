import { expect, test } from "vitest";
import { counted, sized } from "../../../src/platform/bytes.ts";

test("counted separates thousands", () => {
  expect([0, 999, 1000, 20_000, 1_234_567].map(counted)).toEqual(["0", "999", "1,000", "20,000", "1,234,567"]);
});

test("sized uses the largest unit that divides the bytes", () => {
  expect([0, 1000, 1024, 1536, 262_144, 1_048_576, 20_971_520].map(sized)).toEqual([
    "0 bytes",
    "1,000 bytes",
    "1 KiB",
    "1,536 bytes",
    "256 KiB",
    "1 MiB",
    "20 MiB",
  ]);
});
