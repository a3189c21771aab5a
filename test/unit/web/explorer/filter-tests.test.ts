import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileFilter } from "../../../../src/logs/search/compile-filter.ts";
import { entryTestOf } from "../../../../src/logs/search/entry-test.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { printFilter } from "../../../../src/query-language/print.ts";
import { joined } from "../../../../src/query-language/syntax.ts";
import type { DataCondition } from "../../../../web/src/pages/explorer/filters.ts";
import { isTestable, testsOf } from "../../../../web/src/pages/explorer/view/filter-tests.ts";

describe("filters of earlier addresses as tests of a query", () => {
  const filters = {
    level: ["error" as const, "fatal" as const],
    minLevel: "warn" as const,
    category: ["http"],
    type: ["a b"],
    service: ["api"],
    session: "s 1",
    traceId: "t",
    search: "timed out",
    data: { "a.b": 5, c: { ne: "x", gte: 2 }, '["d.e"]': { in: [true, "y"] }, f: { exists: false }, level: "x" },
  };

  it("are written as a query", () => {
    const text = printFilter(joined("and", testsOf(filters)));
    expect(text).toBe(
      'level:(error OR fatal) level:>=warn category:=http type:="a b" service:=api session:="s 1" trace:=t "timed out" a.b:5 -c:=x c:>=2 "d.e":(true OR =y) -f:* data.level:=x',
    );
    expect(parse(text)).toMatchObject({ ok: true, query: { filter: joined("and", testsOf(filters)) } });
  });

  it("are those of the service again, so that it counts from its summaries", () => {
    const { data: _, ...own } = filters;
    const compiled = compileFilter(joined("and", testsOf({ ...own, service: [] })), 0);
    expect(compiled).toMatchObject({
      categories: ["http"],
      types: ["a b"],
      session: "s 1",
      traceId: "t",
      search: "timed out",
      rest: null,
    });
  });

  it("find the same values of data", () => {
    const value = fc.constantFrom<unknown>(undefined, null, "x", "y", "", 0, 5, 7.5, true, false);
    const conditions: { a: DataCondition }[] = [
      { a: null },
      { a: "x" },
      { a: 5 },
      { a: true },
      { a: { ne: null } },
      { a: { ne: "x" } },
      { a: { in: [null, "y", 7.5] } },
      { a: { exists: true } },
      { a: { exists: false } },
      { a: { gte: 5, lt: 7 } },
    ];
    const expected = [
      (each: unknown) => each === null,
      (each: unknown) => each === "x",
      (each: unknown) => each === 5,
      (each: unknown) => each === true,
      (each: unknown) => each !== null,
      (each: unknown) => each !== "x",
      (each: unknown) => each === null || each === "y" || each === 7.5,
      (each: unknown) => each !== undefined,
      (each: unknown) => each === undefined,
      (each: unknown) => typeof each === "number" && each >= 5 && each < 7,
    ];
    fc.assert(
      fc.property(value, fc.nat(conditions.length - 1), (each, at) => {
        const data = conditions[at];
        if (data === undefined) return;
        const test = entryTestOf(joined("and", testsOf({ data })), 0);
        const entry = { level: "info", category: "a", type: "b", message: "m", timestamp: "", data: { a: each } };
        if (each === undefined) Reflect.deleteProperty(entry.data, "a");
        const place = { timestamp: 0, receivedAt: 0, seq: 1, projectId: "p", id: "i" };
        // SAFETY: an entry as far as tests of data read one.
        expect(test(entry as Parameters<typeof test>[0], place), JSON.stringify([data, each])).toBe(
          expected[at]?.(each) ?? null,
        );
      }),
    );
  });

  it("name the items of an array and members with numbers alike", () => {
    const test = entryTestOf(joined("and", testsOf({ data: { "items.0.id": 5 } })), 0);
    const place = { timestamp: 0, receivedAt: 0, seq: 1, projectId: "p", id: "i" };
    const passes = (data: object): boolean =>
      // SAFETY: an entry as far as tests of data read one.
      test({ level: "info", category: "a", type: "b", message: "m", data } as Parameters<typeof test>[0], place);
    expect(passes({ items: [{ id: 5 }, { id: 6 }] })).toBe(true);
    expect(passes({ items: [{ id: 6 }, { id: 5 }] })).toBe(false);
    expect(passes({ items: { 0: { id: 5 } } })).toBe(true);
  });

  it("are refused if the query language cannot express them", () => {
    expect(isTestable({ a: { gt: "x" } })).toBe(false);
    expect(isTestable({ a: { in: [] } })).toBe(false);
    expect(isTestable({ a: { gt: 1 }, b: null, c: "x" })).toBe(true);
  });
});
