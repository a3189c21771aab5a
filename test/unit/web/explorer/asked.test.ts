import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { requestBody } from "../../../../web/src/pages/explorer/filters.ts";
import { askedOf, binOf, withFilters } from "../../../../web/src/pages/explorer/search/asked.ts";
import { drawingOf } from "../../../../web/src/pages/explorer/search/series.ts";
import { readView, viewSearch } from "../../../../web/src/pages/explorer/view/view.ts";

describe("the query of a view", () => {
  it.each([
    ["", { isAnswer: false, q: null, text: "" }],
    ["*", { isAnswer: false, q: null, text: "" }],
    ["level:error timeout", { isAnswer: false, q: "level:error timeout", text: "timeout" }],
    ["a OR b | where c:d", { isAnswer: false, q: "(a OR b) c:d", text: "" }],
    ["a | count", { isAnswer: true, q: null, text: "" }],
    ["a | limit 5", { isAnswer: true, q: null, text: "" }],
    ["level:>=", { isAnswer: false, q: "level:>=", text: "" }],
  ])("%s", (query, asked) => {
    expect(askedOf(query)).toEqual(asked);
  });

  it("17.7: is in the address, which saved views hold; addresses without it are read as before", () => {
    expect(viewSearch(readView("?q=a%3Ab+%7C+count&level=error").view)).toBe("?q=a%3Ab+%7C+count&level=error");
    expect(readView("?search=old&range=6h").view).toEqual({
      filters: { search: "old" },
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

  it("takes the filters of the view as tests of its table", () => {
    const filters = {
      level: ["error" as const, "fatal" as const],
      minLevel: "warn" as const,
      category: ["http"],
      session: "s 1",
      search: "timed out",
      data: { "a.b": 5, c: { ne: "x", gte: 2 }, '["d.e"]': { in: [true, "y"] }, f: { exists: false } },
    };
    const query = withFilters("x OR y | count by z", filters);
    expect(query).toBe(
      'level:(error OR fatal) level:>=warn category:=http session:="s 1" "timed out" a.b:5 -c:=x c:>=2 "d.e":(true OR =y) -f:* (x OR y) | count by z',
    );
    expect(parse(query).ok).toBe(true);
    expect(withFilters("* | count", {})).toBe("* | count");
  });
});

describe("the chart of a table", () => {
  const table = {
    columns: [
      { name: "route", type: "string" },
      { name: "time", type: "time" },
      { name: "n", type: "number" },
    ],
    rows: [
      ["/a", "2026-11-22T10:00:00.000Z", 4],
      ["/b", "2026-11-22T10:10:00.000Z", 9],
      [null, "2026-11-22T10:05:00.000Z", 1],
    ],
  };

  it("17.6: has a series for each group, the highest first, at the places of its spans", () => {
    const drawing = drawingOf(table, 300_000);
    expect(drawing).toMatchObject({ measure: "n", spans: 3, groups: 3, peak: 9 });
    expect(drawing?.series.map(({ name, points }) => [name, [...points]])).toEqual([
      ["/b", [[2, 9]]],
      ["/a", [[0, 4]]],
      ["–", [[1, 1]]],
    ]);
  });

  it("is absent without spans of time, numbers or rows", () => {
    expect(binOf(parse("a | count by route"))).toBeNull();
    expect(binOf(parse("a | stats count() by route, bin(5m) | limit 3"))).toBe(300_000);
    expect(drawingOf(table, null)).toBeNull();
    expect(drawingOf({ ...table, rows: [] }, 300_000)).toBeNull();
    expect(drawingOf({ ...table, columns: table.columns.slice(0, 2) }, 300_000)).toBeNull();
  });
});
