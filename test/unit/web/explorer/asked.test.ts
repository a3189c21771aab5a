import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { axesOf } from "../../../../web/src/charts/table-shape.ts";
import { requestBody } from "../../../../web/src/pages/explorer/filters.ts";
import { askedOf } from "../../../../web/src/pages/explorer/search/asked.ts";
import { narrowed } from "../../../../web/src/pages/explorer/search/suggestions.ts";
import { provideLanguage } from "../../../../web/src/pages/explorer/view/language.ts";
import * as parts from "../../../../web/src/pages/explorer/view/language-parts.ts";
import { readView, viewSearch } from "../../../../web/src/pages/explorer/view/view.ts";

provideLanguage(parts);

describe("the query of a view", () => {
  it.each([
    ["", { isAnswer: false, q: null, text: "", hints: [] }],
    ["*", { isAnswer: false, q: null, text: "", hints: [] }],
    ["level:error timeout", { isAnswer: false, q: "level:error timeout", text: "timeout", hints: [] }],
    ["a OR b | where c:d", { isAnswer: false, q: "(a OR b) c:d", text: "", hints: [] }],
    ["a | count", { isAnswer: true, q: "a", text: "", hints: [] }],
    ["a | limit 5", { isAnswer: true, q: "a", text: "", hints: [] }],
    // The entries that the table is made of, for what counts and downloads entries.
    ["a | where c:d | count by e | where e:f", { isAnswer: true, q: "a c:d", text: "", hints: [] }],
    ["* | patterns", { isAnswer: true, q: null, text: "", hints: [] }],
    ["level:>=", { isAnswer: false, q: "level:>=", text: "", hints: [] }],
  ])("%s", (query, asked) => {
    expect(askedOf(query)).toEqual({ ...asked, isInvalid: !parse(query).ok && query !== "" });
  });

  it("17: has hints on a text that finds entries", () => {
    expect(askedOf("level:info or status:5xx").hints.map(({ message }) => message)).toEqual([
      "`or` is searched for as a word. The operator is `OR`.",
      "`status:5xx` compares the whole value. A range is written `status:500..599`.",
    ]);
    // Of use only if nothing matches: the service says it then, and for tables.
    expect(askedOf("message:timeout").hints).toEqual([]);
    expect(askedOf("status:5xx | count").hints).toEqual([]);
  });

  it("17.7: is in the address, which saved views hold; addresses without it are read as before", () => {
    expect(viewSearch(readView("?q=a%3Ab+%7C+count").view)).toBe("?q=a%3Ab+%7C+count");
    expect(readView("?search=old&range=6h").view).toEqual({
      query: "old",
      range: { kind: "last", preset: "6h" },
      order: "desc",
      live: false,
    });
    expect(readView(`?q=${"x".repeat(9000)}`)).toMatchObject({ invalidParameters: ["q"] });
  });

  it("is beside the filters of a request", () => {
    expect(requestBody({ filters: { level: ["error"], q: "a" }, order: "asc" })).toEqual({
      filters: { level: ["error"] },
      q: "a",
      order: "asc",
    });
    expect(requestBody({ order: "asc" })).toEqual({ order: "asc" });
  });
});

describe("the axes of a table", () => {
  it("are absent without spans of time", () => {
    expect(axesOf(parse("a | count by route"))).toBeNull();
    expect(axesOf(parse("a | stats count() by user.id, bin(5m) | limit 3"))).toEqual({
      binMs: 300_000,
      keys: ["user.id", "time"],
    });
    expect(axesOf(parse("a | count by b, bin(5m) | stats max(count) by time"))).toEqual({
      binMs: 300_000,
      keys: ["time"],
    });
  });
});

it("17: suggestions stay while the same word is written on, and go where the text differs", () => {
  const items = ["route:", "received:", "user.route:"].map((text) => ({ text, kind: "field" }));
  const suggestions = { query: "a:b r c:d", start: 4, end: 5, items };
  const textsOf = (text: string) => narrowed(suggestions, text)?.items.map((item) => item.text) ?? null;
  expect(textsOf("a:b r c:d")).toEqual(["route:", "received:", "user.route:"]);
  expect(narrowed(suggestions, "a:b rou c:d")).toMatchObject({ start: 4, end: 7, query: "a:b rou c:d" });
  expect(textsOf("a:b ROU c:d")).toEqual(["route:", "user.route:"]);
  expect(textsOf("a:b rx c:d")).toBeNull();
  expect(textsOf("a:x r c:d")).toBeNull();
  expect(textsOf("a:b r c:")).toBeNull();
  expect(textsOf("a:b c:d")).toBeNull();
  expect(textsOf("")).toBeNull();
});
