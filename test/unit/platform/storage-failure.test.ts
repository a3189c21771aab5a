import { expect, test } from "vitest";
import { withReplay } from "../../../src/objects/replay.ts";
import { isStorageFailure } from "../../../src/platform/storage-failure.ts";

const FAILURES = [
  "database or disk is full: SQLITE_FULL",
  "D1_ERROR: database or disk is full: SQLITE_FULL",
  "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_SHMSIZE)",
  "unable to open database file: SQLITE_CANTOPEN",
  "internal error; reference = 6ngd56r4442rk687pv6s5d88",
  "D1_ERROR: internal error; reference = 6ngd56r4442rk687pv6s5d88",
];

test.each(FAILURES)("C: %s is a failure of storage", (message) => {
  expect(isStorageFailure(new Error(message))).toBe(true);
});

test.each(["UNIQUE constraint failed: users.email: SQLITE_CONSTRAINT", "no such table: segments: SQLITE_ERROR", "x"])(
  "C: %s is none",
  (message) => {
    expect(isStorageFailure(new Error(message))).toBe(false);
  },
);

test("C: an object whose storage fails is a 503 that is not repeated", async () => {
  let calls = 0;
  const timer = { now: () => 0, wait: async () => {}, random: () => 0 };
  const call = withReplay(
    "replay-safe",
    async () => {
      calls++;
      throw new Error(FAILURES[0]);
    },
    timer,
  );
  await expect(call).rejects.toMatchObject({
    refusal: { code: "SERVICE_UNAVAILABLE", headers: { "Retry-After": "30" } },
  });
  expect(calls).toBe(1);
});
