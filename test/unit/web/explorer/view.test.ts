import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../../web/src/model/types.ts";
import { OPERATORS, testsOf, withoutTest, withTest } from "../../../../web/src/pages/explorer/view/data-conditions.ts";
import { entryRefText, readEntryRef } from "../../../../web/src/pages/explorer/view/entry-ref.ts";
import { PRESETS, type Range, timesOf, wider } from "../../../../web/src/pages/explorer/view/range.ts";
import { patched, readView, type View, viewSearch } from "../../../../web/src/pages/explorer/view/view.ts";

const word = fc.string({ minLength: 1, maxLength: 12, unit: "binary" }).filter((text) => text.isWellFormed());
const time = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString());
const scalar = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null));
const path = fc.oneof(word, fc.constantFrom("__proto__", "constructor", "a.b", '["a.b"]'));
const condition = fc.oneof(
  scalar,
  fc.record({ gte: fc.integer(), lt: fc.integer() }),
  fc.record({ in: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ exists: fc.boolean() }),
);
const data = fc
  .array(fc.tuple(path, condition), { minLength: 1, maxLength: 3 })
  .map((members): View["filters"]["data"] & object => Object.fromEntries(members));

function optional<T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<object> {
  return fc.oneof(
    fc.constant({}),
    value.map((each) => ({ [name]: each })),
  );
}

const filters = fc
  .tuple(
    optional("level", fc.uniqueArray(fc.constantFrom(...LEVELS), { minLength: 1 })),
    optional("minLevel", fc.constantFrom(...LEVELS)),
    optional("category", fc.uniqueArray(word, { minLength: 1, maxLength: 3 })),
    optional("type", fc.uniqueArray(word, { minLength: 1, maxLength: 3 })),
    optional("session", word),
    optional("traceId", word),
    optional("search", word),
    optional("data", data),
  )
  .map((parts): View["filters"] => Object.assign({}, ...parts));

const range: fc.Arbitrary<Range> = fc.oneof(
  fc.constantFrom(...PRESETS).map(({ name }): Range => ({ kind: "last", preset: name })),
  fc.constant<Range>({ kind: "all" }),
  fc
    .tuple(fc.option(time), fc.option(time))
    .filter(([from, to]) => from !== null || to !== null)
    .map(([from, to]): Range => ({ kind: "between", from, to })),
);

const view: fc.Arbitrary<View> = fc
  .record({
    query: fc.option(word.filter((text) => text.trim() !== "")),
    filters,
    range,
    order: fc.constantFrom("asc" as const, "desc" as const),
    live: fc.boolean(),
  })
  .map(({ query, ...each }) => ({
    ...(query === null ? {} : { query }),
    ...each,
    order: each.live ? "desc" : each.order,
  }));

describe("a view in the address", () => {
  it("survives a round trip with any content", () => {
    fc.assert(
      fc.property(view, (each) => {
        const search = viewSearch(each);
        expect(readView(search)).toEqual({ view: each, invalidParameters: [] });
        expect(viewSearch(readView(search).view)).toBe(search);
      }),
    );
  });

  it("stays within the limits of the API for any address", () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), (text) => {
        const { view } = readView(`?${text}`);
        expect(readView(viewSearch(view)).invalidParameters).toEqual([]);
      }),
    );
  });

  it("reports invalid parameters and reads the others", () => {
    const { view, invalidParameters } = readView(
      "?level=error&level=loud&minLevel=x&data=[]&from=yesterday&range=2y&type=a",
    );
    expect(invalidParameters).toEqual(["level", "minLevel", "data", "from", "range"]);
    const long = readView(`?search=${"x".repeat(513)}`);
    expect([long.view.filters.search, long.invalidParameters]).toEqual([undefined, ["search"]]);
    expect(view.filters).toEqual({ level: ["error"], type: ["a"] });
  });

  it("accepts epoch milliseconds as a time", () => {
    expect(readView("?from=1795183200000").view.range).toEqual({
      kind: "between",
      from: "2026-11-20T14:00:00.000Z",
      to: null,
    });
  });
});

describe("6: an entry in the address", () => {
  const place = { projectId: "proj_abc", id: "log_XyZ" };

  it("survives a round trip on the page of its project and on that of all projects", () => {
    for (const page of ["proj_abc", null]) expect(readEntryRef(entryRefText(place, page), page)).toEqual(place);
  });

  it("is null if the address identifies no entry", () => {
    for (const text of [undefined, "", "log_XyZ", ".log_XyZ", "proj_abc."]) expect(readEntryRef(text, null)).toBeNull();
    expect(readEntryRef("", "proj_abc")).toBeNull();
  });
});

describe("a click on an entry", () => {
  it("replaces its members and merges data", () => {
    const before = readView('?level=error&category=http&data={"a":1,"b":2}&range=1h').view;
    const after = patched(before, { category: ["auth"], data: { b: 3, c: null } });
    expect(after.filters).toEqual({ level: ["error"], category: ["auth"], data: { a: 1, b: 3, c: null } });
    expect(after.range).toEqual(before.range);
    expect(patched(before, { from: "2026-11-20T14:00:00.000Z" }).range).toEqual({
      kind: "between",
      from: "2026-11-20T14:00:00.000Z",
      to: null,
    });
  });
});

describe("conditions on data", () => {
  it("are added and removed one by one", () => {
    fc.assert(
      fc.property(data, (each) => {
        let left: typeof each | undefined = each;
        const tests = testsOf(each);
        for (const [index, test] of tests.entries()) {
          expect(testsOf(left)).toHaveLength(tests.length - index);
          left = withoutTest(left, test);
        }
        expect(left).toBeUndefined();
        const rebuilt = tests.reduce<typeof each | undefined>(withTest, undefined);
        expect(testsOf(rebuilt)).toEqual(tests);
      }),
    );
  });

  it("are combined on one path", () => {
    const both = withTest(withTest(undefined, { path: "ms", op: "gte", value: 5 }), { path: "ms", op: "lt", value: 9 });
    expect(both).toEqual({ ms: { gte: 5, lt: 9 } });
    expect(withTest({ ms: 7 }, { path: "ms", op: "ne", value: 9 })).toEqual({ ms: { eq: 7, ne: 9 } });
    expect(OPERATORS.map(({ op }) => op)).toEqual(["eq", "ne", "gt", "gte", "lt", "lte", "in", "exists"]);
  });
});

describe("a range", () => {
  const now = Date.parse("2026-11-20T14:07:31.500Z");

  it("starts at a whole minute and has no end if relative", () => {
    const times = timesOf({ kind: "last", preset: "15m" }, now, 30);
    expect(times).toMatchObject({ from: "2026-11-20T13:52:00.000Z", end: now });
    expect(times).not.toHaveProperty("to");
  });

  it("has no bounds for all time", () => {
    const { from, to, start } = timesOf({ kind: "all" }, now, 7);
    expect([from, to, Math.round((now - start) / 86_400_000)]).toEqual([undefined, undefined, 7]);
  });

  it("doubles around its middle", () => {
    const times = timesOf(wider({ start: 100 * 60_000, end: 120 * 60_000 }, now), now, 30);
    expect([times.start / 60_000, times.end / 60_000]).toEqual([90, 130]);
  });

  it("6: grows on both sides, but has no end instead of one in the future", () => {
    const HOUR = 3_600_000;
    expect(wider({ start: now - HOUR, end: now }, now)).toEqual({
      kind: "between",
      from: new Date(now - 2 * HOUR).toISOString(),
      to: null,
    });
    const moment = fc.integer({ min: now - 300 * 24 * HOUR, max: now + 24 * HOUR });
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 60 * 24 * HOUR }), (start, length) => {
        const range = wider({ start, end: start + length }, now);
        const times = timesOf(range, now, 365);
        expect(times.end).toBeLessThanOrEqual(now);
        expect(times.start).toBeLessThanOrEqual(start);
        // Entries ahead of the clock stay in the range.
        if (start + length > now) expect(times).not.toHaveProperty("to");
        else expect(times.end).toBeGreaterThanOrEqual(start + length);
        expect(times.end - times.start).toBeGreaterThanOrEqual(2 * length - 1);
      }),
    );
  });

  it("becomes all time after enough doublings", () => {
    let range: Range = { kind: "last", preset: "15m" };
    for (let round = 0; round < 100 && range.kind !== "all"; round++) range = wider(timesOf(range, now, 365), now);
    expect(range).toEqual({ kind: "all" });
  });
});
