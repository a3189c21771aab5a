import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsSearch, matchInData, partsOf } from "../../../../web/src/pages/explorer/results/search-match.ts";

/** Letters whose folding changes their length or depends on the letters around them, among others. */
const TEXT = fc.string({ unit: fc.constantFrom("a", "A", "b", "İ", "i", "ς", "Σ", "σ", "ß", "👩", "5", "0", " ") });

const marked = (text: string, search: string): string =>
  partsOf(text, search)
    .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
    .join("");

describe("partsOf", () => {
  it("marks every match, ignoring case", () => {
    expect(marked("Timeout: TIMEOUT after a timeout", "timeout")).toBe("[Timeout]: [TIMEOUT] after a [timeout]");
    expect(marked("a.b*c", ".b*")).toBe("a[.b*]c");
    expect(marked("aaa", "aa")).toBe("[aa]a");
    expect(marked("", "a")).toBe("");
  });

  it("marks the right characters although folding changes the length of others", () => {
    expect(marked("İİ error", "ERROR")).toBe("İİ [error]");
    expect(marked("ΟΔΟΣ", "οδος")).toBe("[ΟΔΟΣ]");
  });

  it("keeps the text, and has a match if and only if the search finds the text", () => {
    fc.assert(
      fc.property(TEXT, TEXT, (text, search) => {
        const parts = partsOf(text, search);
        expect(parts.map((part) => part.text).join("")).toBe(text);
        expect(parts.some(({ isMatch }) => isMatch)).toBe(containsSearch(text, search));
      }),
    );
  });

  it("marks a bounded number of matches", () => {
    const parts = partsOf("a".repeat(10_000), "a");
    expect(parts.filter(({ isMatch }) => isMatch)).toHaveLength(50);
    expect(parts.map(({ text }) => text).join("")).toHaveLength(10_000);
  });
});

describe("matchInData", () => {
  it("finds strings, numbers and booleans, but no names and no null", () => {
    const data = { status: 504, nested: { list: [null, { ok: false }] }, text: "Gateway" };
    expect(matchInData(data, "504")).toEqual({ names: ["status"], excerpt: "504" });
    expect(matchInData(data, "FALSE")).toEqual({ names: ["nested", "list", "1", "ok"], excerpt: "false" });
    expect(matchInData(data, "gate")).toEqual({ names: ["text"], excerpt: "Gateway" });
    for (const search of ["status", "null", "nested"]) expect(matchInData(data, search)).toBeNull();
    expect(matchInData(undefined, "a")).toBeNull();
  });

  it("returns an excerpt around the match of a long value", () => {
    const found = matchInData({ stack: `${"x".repeat(500)}NEEDLE${"y".repeat(500)}` }, "needle");
    expect(found?.excerpt).toBe(`…${"x".repeat(20)}NEEDLE${"y".repeat(54)}…`);
  });
});
