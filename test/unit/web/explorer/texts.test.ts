import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { axisTime } from "../../../../web/src/lib/axis-time.ts";
import { perSpan } from "../../../../web/src/lib/span-text.ts";
import { visible } from "../../../../web/src/lib/visible.ts";
import { acceptedNames } from "../../../../web/src/pages/explorer/search/suggestions.ts";

describe("visible", () => {
  it("escapes invisible characters and keeps the others", () => {
    expect(visible("a\u202eb\u2066c\u200bd\u0000e\u001b[31m\ufeff\u{e0041}")).toBe(
      "a\\u202eb\\u2066c\\u200bd\\u0000e\\u001b[31m\\ufeff\\u{e0041}",
    );
    for (const text of ["tab\t and\r\nlines", "👩‍👧 🏳️‍🌈", "می‌خواهم", "שלום", "e\u0301"])
      expect(visible(text)).toBe(text);
  });
});

describe("ticks of a time axis", () => {
  it.each([
    [5000, 10],
    [15_000, 8],
    [60_000, 10],
    [300_000, 10],
  ])("are all different, %i ms apart", (step, count) => {
    const start = new Date(2026, 4, 5, 20, 57).getTime();
    const marks = Array.from({ length: count }, (_, index) => axisTime(start + index * step, step));
    expect(new Set(marks).size).toBe(count);
  });
});

describe("names that are accepted in place of another", () => {
  it.each([
    ["* | zzz", "where"],
    ["* | stats zzz(ms)", "count"],
    ["level:zzz", "error"],
  ])("%s", (query, name) => {
    const result = parse(query);
    expect(result.ok ? [] : acceptedNames(query, result.error)).toContain(name);
  });

  it.each(["* |", "* | stats", "(a", "ms:>x", "a:/(/"])("none in %s", (query) => {
    const result = parse(query);
    expect(result.ok ? ["right"] : acceptedNames(query, result.error)).toEqual([]);
  });
});

it("19: the time of a bar is said in its largest whole unit", () => {
  const MINUTE = 60_000;
  const all = [500, 1000, 90_000, MINUTE, 5 * MINUTE, 60 * MINUTE, 36 * 60 * MINUTE, 1440 * MINUTE, 28 * 1440 * MINUTE];
  expect(all.map(perSpan)).toEqual([
    ...["per 500 milliseconds", "per second", "per 90 seconds", "per minute", "per 5 minutes", "per hour"],
    ...["per 36 hours", "per day", "per 4 weeks"],
  ]);
});
