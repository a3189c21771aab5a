import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryRefText, readEntryRef } from "../../../../web/src/pages/explorer/view/entry-ref.ts";
import { provideLanguage } from "../../../../web/src/pages/explorer/view/language.ts";
import * as parts from "../../../../web/src/pages/explorer/view/language-parts.ts";
import { patched } from "../../../../web/src/pages/explorer/view/patched.ts";
import { DEFAULT_RANGE, PRESETS, type Range, timesOf, wider } from "../../../../web/src/pages/explorer/view/range.ts";
import { readView, type View, viewSearch } from "../../../../web/src/pages/explorer/view/view.ts";

provideLanguage(parts);

const word = fc.string({ minLength: 1, maxLength: 12, unit: "binary" }).filter((text) => text.isWellFormed());
const time = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString());
const columns = fc.uniqueArray(
  fc.record({ field: fc.constantFrom("status", "user.id", '"a,b"'), width: fc.integer({ min: 48, max: 800 }) }),
  { selector: ({ field }) => field, minLength: 1 },
);

const range: fc.Arbitrary<Range> = fc.oneof(
  fc.constantFrom(...PRESETS, { name: "90m" }).map(({ name }): Range => ({ kind: "last", preset: name })),
  fc.constant<Range>({ kind: "all" }),
  fc
    .tuple(fc.option(time), fc.option(time))
    .filter(([from, to]) => from !== null || to !== null)
    .map(([from, to]): Range => ({ kind: "between", from, to })),
);

const view: fc.Arbitrary<View> = fc
  .record({
    query: fc.option(word.filter((text) => text.trim() !== "")),
    columns: fc.option(columns),
    range,
    order: fc.constantFrom("asc" as const, "desc" as const),
    live: fc.boolean(),
  })
  .map(({ query, columns, ...each }) => ({
    ...(query === null ? {} : { query }),
    ...each,
    ...(columns === null ? {} : { columns }),
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
      "?level=error&level=loud&minLevel=x&data=[]&from=yesterday&range=2y&type=a&columns=%22",
    );
    expect(invalidParameters.toSorted()).toEqual(["columns", "data", "from", "level", "minLevel", "range"]);
    const long = readView(`?search=${"x".repeat(513)}`);
    expect([long.view.query, long.invalidParameters]).toEqual([undefined, ["search"]]);
    expect(view.query).toBe("level:error type:=a");
  });

  it("reads filters of earlier addresses as tests of the query, beside its own", () => {
    expect(readView("?level=error&q=a+OR+b&search=x").view.query).toBe("(a OR b) level:error x");
    expect(readView('?data={"a":{"gte":5}}&q=*+%7C+count').view.query).toBe("a:>=5 | count");
    // What the query language cannot express is said, and not left out silently.
    expect(readView('?data={"a":{"gte":"x"}}')).toMatchObject({ view: {}, invalidParameters: ["data"] });
    const many = Array.from({ length: 300 }, (_, index) => `type=t${index}`).join("&");
    expect(readView(`?${many}&q=a`)).toMatchObject({ view: { query: "a" }, invalidParameters: ["type"] });
    // A query that is wrong is shown as it is, with what cannot be added to it.
    expect(readView("?q=a:%3E%3D&level=error")).toMatchObject({
      view: { query: "a:>=" },
      invalidParameters: ["level"],
    });
  });

  it("accepts epoch milliseconds as a time", () => {
    expect(readView("?from=1795183200000").view.range).toEqual({
      kind: "between",
      from: "2026-11-20T14:00:00.000Z",
      to: null,
    });
  });

  it("reports times that the service refuses, and texts that only a browser reads as times", () => {
    const refused = ["-271821-04-20T00:00:00Z", "1969-12-31T23:59:59Z", "+010000-01-01T00:00:00Z", "253402300800000"];
    for (const time of [...refused, "0", "-1", "1", "Nov 20"]) {
      const { view, invalidParameters } = readView(`?${new URLSearchParams({ from: time, to: time })}`);
      expect([view.range, invalidParameters], time).toEqual([DEFAULT_RANGE, ["from", "to"]]);
    }
    const kept = { from: "1970-01-01T00:00:00.000Z", to: "9999-12-31T23:59:59.999Z" };
    expect(readView(`?${new URLSearchParams(kept)}`).view.range).toEqual({ kind: "between", ...kept });
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
  it("narrows the query to its value", () => {
    const before = readView("?q=level%3A%28error+OR+fatal%29+x&range=1h").view;
    const after = patched(before, { level: ["error"], data: { b: 3 } });
    expect(after.query).toBe("x level:error b:3");
    expect(after.range).toEqual(before.range);
    expect(patched(before, { from: "2026-11-20T14:00:00.000Z" }).range).toEqual({
      kind: "between",
      from: "2026-11-20T14:00:00.000Z",
      to: null,
    });
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
