import { expect, test } from "vitest";
import { isStorageFailure, storageFaultOf } from "../../../src/platform/failures.ts";
import { withRetry } from "../../../src/rpc/call.ts";

const FAILURES = [
  "database or disk is full: SQLITE_FULL",
  "D1_ERROR: database or disk is full: SQLITE_FULL",
  "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_SHMSIZE)",
  "unable to open database file: SQLITE_CANTOPEN",
  "internal error; reference = 6ngd56r4442rk687pv6s5d88",
  "D1_ERROR: internal error; reference = 6ngd56r4442rk687pv6s5d88",
  "D1_ERROR: Error: internal error; reference = 6ngd56r4442rk687pv6s5d88",
  "D1_ERROR: Failed to get session commit token: internal error; reference = 6ngd56r4442rk687pv6s5d88",
  // A read that ends with EIO.
  "database disk image is malformed: SQLITE_CORRUPT",
  "D1_ERROR: database disk image is malformed: SQLITE_CORRUPT",
  "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_CORRUPTFS)",
  "file is not a database: SQLITE_NOTADB",
  // A file system that was remounted after an error.
  "attempt to write a readonly database: SQLITE_READONLY (extended: SQLITE_READONLY_DBMOVED)",
  // The connection of a reset object that has not been closed yet.
  "NOSENTRY database is locked: SQLITE_BUSY (extended: SQLITE_BUSY_RECOVERY)",
  "locking protocol: SQLITE_PROTOCOL",
  // https://developers.cloudflare.com/d1/observability/debug-d1/
  "D1_ERROR: D1 DB reset because its code was updated.",
  "D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.",
  "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
  "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
  "D1_ERROR: Network connection lost.",
  "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
  "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
  "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
  "D1_ERROR: Exceeded maximum DB size.",
  "D1_ERROR: Failed to parse body as JSON, got: error code: 1105",
];

test.each(FAILURES)("C: %s is a failure of storage", (message) => {
  expect(isStorageFailure(new Error(message))).toBe(true);
});

test.each([
  "UNIQUE constraint failed: users.email: SQLITE_CONSTRAINT",
  "no such table: segments: SQLITE_ERROR",
  "D1_ERROR: no such column: was_reset at offset 7: SQLITE_ERROR",
  "database table is locked: SQLITE_LOCKED",
  // An error of an object, which has flags: `withRetry` decides whether to repeat the call.
  "Network connection lost.",
  "x",
])("C: %s is not a failure of storage", (message) => {
  expect(isStorageFailure(new Error(message))).toBe(false);
});

test("C: an object whose storage fails leads to a 503 without a retry", async () => {
  let calls = 0;
  const timer = { now: () => 0, wait: async () => {}, random: () => 0 };
  const call = withRetry(
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

test("C: the event has the code or the reference of a failure, and not its text", () => {
  const faults = FAILURES.map((message) => storageFaultOf(new Error(message)));
  expect(new Set(faults)).toEqual(
    new Set([
      "SQLITE_FULL",
      "SQLITE_IOERR",
      "SQLITE_CANTOPEN",
      "internal error; reference = 6ngd56r4442rk687pv6s5d88",
      "SQLITE_CORRUPT",
      "SQLITE_NOTADB",
      "SQLITE_READONLY",
      "SQLITE_BUSY",
      "SQLITE_PROTOCOL",
      "D1",
    ]),
  );
});
