import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { emailSchema } from "../../../src/accounts/email.ts";
import { passwordSchema } from "../../../src/accounts/password.ts";
import { nameSchema, requiredNameSchema } from "../../../src/http/fields.ts";
import { integerParameter } from "../../../src/http/paging.ts";
import { TimestampReader, timeSchema } from "../../../src/logs/ingest/timestamp.ts";
import { DATA_PATH, parseDataPath } from "../../../src/logs/query/data-path.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { threadMs } from "../../support/thread-time.ts";

const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

describe("D23: schemas that validate and are published", () => {
  it("D23: a filter's time is a time or whole milliseconds", () => {
    const from = (value: unknown) => takes(QueryBody, { filters: { from: value } });
    for (const value of [0, 1795183200000, "2026-11-20", "2026-11-20T14:00:00+0200", "2028-02-29 10:00"]) {
      expect([value, from(value)]).toEqual([value, true]);
    }
    for (const value of [
      1.5,
      -1,
      8.64e15,
      "",
      "sample",
      "2026-02-30",
      "2026-11-20T24:00",
      "1795183200000",
      null,
      true,
    ]) {
      expect([value, from(value)]).toEqual([value, false]);
    }
  });

  it("D23: a year is one of 1970 to 9999, in any form of a time", () => {
    const read = (text: string) => {
      try {
        return new TimestampReader().read(text).ms;
      } catch {
        return null;
      }
    };
    for (const end of [".000Z", "Z", ""]) {
      expect(read(`1969-12-31T23:59:59${end}`)).toBeNull();
      expect(read(`0000-01-01T00:00:00${end}`)).toBeNull();
      expect(read(`1970-01-01T00:00:00${end}`)).toBe(0);
      expect(read(`9999-12-31T23:59:59${end}`)).toBe(Date.UTC(9999, 11, 31, 23, 59, 59));
    }
    // A time zone does not move a time out of range.
    expect(read("1970-01-01T00:00:00+01:00")).toBe(0);
    expect(read("9999-12-31T23:59:59-01:00")).toBe(Date.UTC(10_000, 0, 1) - 1);
  });

  it("D23: the schema agrees with the calendar on every day of the years 0 to 9999", () => {
    for (let year = 1960; year < 10_000; year += year < 2110 ? 1 : 97) {
      for (let month = 1; month <= 12; month++) {
        for (let day = 28; day <= 32; day++) {
          const text = [
            String(year).padStart(4, "0"),
            String(month).padStart(2, "0"),
            String(day).padStart(2, "0"),
          ].join("-");
          const isDay = year >= 1970 && new Date(Date.UTC(year, month - 1, day)).toISOString().startsWith(text);
          if (takes(timeSchema, text) !== isDay) expect([text, takes(timeSchema, text)]).toEqual([text, isDay]);
        }
      }
    }
  });

  it("D23: a name has 100 characters between the space around it", () => {
    const long = "n".repeat(100);
    expect(requiredNameSchema.parse(`\n  ${long}\t `)).toBe(long);
    expect(requiredNameSchema.parse("😀".repeat(100))).toBe("😀".repeat(100));
    for (const name of ["", " ", "\n", `${long}n`, "a\nb", "a\u202eb", "a\ud800", "\u0000"]) {
      expect([name, takes(requiredNameSchema, name)]).toEqual([name, false]);
    }
    expect([nameSchema.parse(""), nameSchema.parse("  ")]).toEqual(["", ""]);
  });

  it("D23: a parameter's integer is decimal digits", () => {
    const limit = integerParameter(1, 200);
    expect([limit.parse("1"), limit.parse("007"), limit.parse("200")]).toEqual([1, 7, 200]);
    for (const text of ["", "0", "201", "1e1", "0x10", "+1", " 1", "1 ", "1.0", "1_0", "9".repeat(17), 5, null]) {
      expect([text, takes(limit, text)]).toEqual([text, false]);
    }
  });

  it("D23: the pattern accepts exactly the paths that have names", () => {
    for (const path of ["a", "a.b", 'a["b.c"]', '["a"]["b"].c', "a[0].b", "a.0", '["\\u0041\\n"]', "a b", "é"]) {
      expect([path, DATA_PATH.test(path), parseDataPath(path) !== null]).toEqual([path, true, true]);
    }
    for (const path of ["", ".", "a.", ".a", "a..b", "a[", "a]", "a[01]", '["a', '["\\x"]', '["a\nb"]', '["a"]b']) {
      expect([path, DATA_PATH.test(path), parseDataPath(path)]).toEqual([path, false, null]);
    }
  });

  it("D23: no text that fits into a body takes a pattern long", () => {
    const size = 256 * 1024;
    // Only a rough bound: a pattern that backtracks takes minutes at this size, any other a few milliseconds.
    const BUSY_MS = 5_000;
    const patterns: [string, z.ZodType][] = [
      ["name", requiredNameSchema],
      ["e-mail", emailSchema],
      ["password", passwordSchema],
      ["time", timeSchema],
    ];
    const texts = [" ", "a", "x ", "a.", "a@", "\ud800", "-", "["].flatMap((unit) => {
      const text = unit.repeat(size / unit.length);
      return [text, `${text}\u0000`, `a${text}\u0000`, `${text}@`, `a@b.co${text}\u0000`];
    });
    for (const [name, schema] of patterns) {
      for (const text of texts) {
        const startedAt = threadMs();
        takes(schema, text);
        const tookMs = threadMs() - startedAt;
        if (tookMs > BUSY_MS) expect([name, text.slice(0, 5), tookMs]).toEqual([name, text.slice(0, 5), "less"]);
      }
    }
    for (const text of texts) {
      const startedAt = threadMs();
      DATA_PATH.test(text);
      expect(threadMs() - startedAt).toBeLessThan(BUSY_MS);
    }
  });
});
