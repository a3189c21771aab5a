import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { axisTime } from "../../../../web/src/lib/axis-time.ts";
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
