import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EntryRejected } from "../../../src/logs/ingest/rejection.ts";
import { TimestampReader } from "../../../src/logs/ingest/timestamp.ts";

/** The canonical form of a timestamp, or the code of its rejection. */
function read(value: unknown, reader = new TimestampReader()): string {
  try {
    const { ms, iso } = reader.read(value);
    expect(new Date(ms).toISOString()).toBe(iso);
    return iso;
  } catch (error) {
    if (error instanceof EntryRejected) return error.code;
    throw error;
  }
}

describe("timestamps", () => {
  test.each([
    ["2026-11-20T10:11:12.345Z", "2026-11-20T10:11:12.345Z"],
    ["2026-11-20T10:11:12Z", "2026-11-20T10:11:12.000Z"],
    ["2026-11-20T10:11Z", "2026-11-20T10:11:00.000Z"],
    ["2026-11-20", "2026-11-20T00:00:00.000Z"],
    // A time without a zone is UTC, whatever the machine's zone.
    ["2026-11-20T10:11:12", "2026-11-20T10:11:12.000Z"],
    ["2026-11-20 10:11:12", "2026-11-20T10:11:12.000Z"],
    ["2026-11-20t10:11:12z", "2026-11-20T10:11:12.000Z"],
    ["2026-11-20T10:11:12+02:00", "2026-11-20T08:11:12.000Z"],
    ["2026-11-20T10:11:12-0330", "2026-11-20T13:41:12.000Z"],
    ["2026-11-20T00:30:00+01:00", "2026-11-19T23:30:00.000Z"],
    // Digits after the milliseconds are cut, not rounded up.
    ["2026-11-20T10:11:12.9Z", "2026-11-20T10:11:12.900Z"],
    ["2026-11-20T10:11:12.999999999Z", "2026-11-20T10:11:12.999Z"],
    ["2026-11-20T10:11:12,5Z", "2026-11-20T10:11:12.500Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    [1_795_000_000_000, "2026-11-18T11:06:40.000Z"],
    [1_795_000_000_000.9, "2026-11-18T11:06:40.000Z"],
    [0, "1970-01-01T00:00:00.000Z"],
  ])("%j is read as %s", (sent, iso) => expect(read(sent)).toBe(iso));

  test.each([
    "2026-02-30T10:00:00.000Z",
    "2026-02-30T10:00:00Z",
    "2026-02-30",
    "2026-02-29T01:00:00+02:00",
    "2026-11-31",
    "2026-13-01",
    "2026-00-01",
    "2026-01-00",
    "2026-11-20T24:00:00.000Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T24:00",
    "2026-11-20T10:60:00.000Z",
    "2026-11-20T10:00:60.000Z",
    "2026-11-20T10:00:60Z",
    "2026-11-20T10:00+24:00",
    "2026-11-20T10:00+10:60",
    "2026-11-20T10",
    "2026-11-20T10:11:12.Z",
    "2026-11-20T10:11:12.1234567890Z",
    "2026-11-20Z",
    "2026-11-20+02:00",
    " 2026-11-20",
    "2026-11-20\n",
    "20261120T101112Z",
    "2026-W47-5",
    "Fri, 20 Nov 2026 10:11:12 GMT",
    "yesterday",
    "1795000000000",
    "",
    "٢٠٢٦-11-20",
    "+002026-11-20T10:11:12.345Z",
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e300,
    253_402_300_800_000,
    null,
    true,
    {},
    [],
    ["2026-11-20"],
  ])("%j is rejected", (sent) => expect(read(sent)).toBe("INVALID_TIMESTAMP"));

  test("are read alike by a new reader and by one that has cached other seconds", () => {
    const ms = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2026, 0, 1, 0, 0, 3) });
    const sent = fc.oneof(
      ms.map((value) => new Date(value).toISOString()),
      ms,
      fc.constantFrom("2026-01-01T00:00:00.00Z", "2026-01-32T00:00:00.000Z", "2026-01-01T00:00:61.000Z", "x"),
    );
    fc.assert(
      fc.property(fc.array(sent), (values) => {
        const reader = new TimestampReader();
        for (const value of values) expect(read(value, reader)).toBe(read(value));
      }),
    );
  });

  test("are read as Date reads them, if both accept them", () => {
    const part = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
    const zone = fc.constantFrom("Z", "+00:00", "-07:30", "+13:45");
    const fraction = fc.constantFrom("", ".1", ".12", ".123");
    const text = fc
      .tuple(part(13), part(32), part(25), part(61), part(61), fraction, zone)
      .map(([month, day, h, m, s, f, z]) => `2026-${month}-${day}T${h}:${m}:${s}${f}${z}`);
    fc.assert(
      fc.property(text, (sent) => {
        const iso = read(sent);
        if (iso !== "INVALID_TIMESTAMP") expect(Date.parse(sent)).toBe(Date.parse(iso));
        // V8 also accepts overflowing days and the hour 24. Everything else that it accepts must be accepted here.
        else expect(Number.isNaN(Date.parse(sent)) || /-(29|3\d)T|T24/.test(sent)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
