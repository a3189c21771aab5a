import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { chartsOf } from "../../../../web/src/charts/chart-data.ts";
import { drawnOf } from "../../../../web/src/charts/drawn.ts";
import { COLOURS, coloursOf, type KnownColours, NEUTRAL } from "../../../../web/src/charts/series-colours.ts";
import { shapeOf } from "../../../../web/src/charts/table-shape.ts";

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: COLOURS });
const sorted = (colours: ReadonlyMap<string, number>) => [...colours].sort(([a], [b]) => (a < b ? -1 : 1));

describe("colours of series", () => {
  it("differ among those shown together, also where names of other charts are known", () => {
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 6 }), (charts) => {
        const known: KnownColours = new Map();
        for (const shown of charts) {
          const colours = [...coloursOf(shown, known).values()];
          expect(new Set(colours).size).toBe(shown.length);
          expect(colours.every((each) => each >= 0 && each < COLOURS)).toBe(true);
        }
      }),
    );
  });

  it("do not depend on the order of the counts", () => {
    const shuffled = names.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        expect(sorted(coloursOf(all, new Map()))).toEqual(sorted(coloursOf(other, new Map())));
      }),
    );
  });

  it("stay with their names when series go, come back, or come anew", () => {
    fc.assert(
      fc.property(names, names, (first, second) => {
        const known: KnownColours = new Map();
        const before = coloursOf(first, known);
        for (const name of first) expect(coloursOf([name], known).get(name)).toBe(before.get(name));
        coloursOf(second, known);
        expect(coloursOf(first, known)).toEqual(before);
        const both = [...first, ...second].slice(0, COLOURS);
        const after = coloursOf(both, known);
        for (const name of first) expect(after.get(name)).toBe(before.get(name));
      }),
    );
  });

  it("are those of the hash for names alone, spread over all, and neutral beyond the sixth", () => {
    const counts = Array<number>(COLOURS).fill(0);
    for (let at = 0; at < 600; at++) {
      const colour = coloursOf([`host-${at}`], new Map()).get(`host-${at}`) ?? NEUTRAL;
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    for (const count of counts) expect(count).toBeGreaterThan(70);
    const known: KnownColours = new Map();
    const seven = ["a", "b", "c", "d", "e", "f", "g"];
    expect([...coloursOf(seven, known).values()].sort()).toEqual([0, 1, 2, 3, 4, 5, NEUTRAL]);
    // Alone, a series has a colour again.
    for (const name of seven) expect(coloursOf([name], known).get(name)).toBeLessThan(NEUTRAL);
  });

  it("of a drawing are the same for other counts and other ranges, and those of one series without a name the first", () => {
    const known: KnownColours = new Map();
    const drawn = (counts: Record<string, number>, isLines = false) => {
      const table = {
        columns: [
          { name: "service", type: "string" },
          { name: "time", type: "time" },
          { name: "count", type: "number" },
        ],
        rows: Object.entries(counts).map(([name, count]) => [name, "2026-11-22T10:00:00Z", count]),
      };
      const shape = shapeOf(parse("* | count by service, bin(5m)"));
      const [chart] = chartsOf(table, shape, { from: null, to: null });
      if (chart?.kind !== "time") throw new Error("No chart over time.");
      return new Map(drawnOf(chart, isLines, null, known).all.map(({ name, colour }) => [name, colour]));
    };
    const day = drawn({ api: 90, checkout: 40, worker: 5 });
    expect(new Set(day.values()).size).toBe(3);
    expect(drawn({ worker: 70, checkout: 40, api: 1 })).toEqual(day);
    const hour = drawn({ worker: 3, mailer: 2, api: 1 }, true);
    expect([hour.get("worker"), hour.get("api")]).toEqual([day.get("worker"), day.get("api")]);
    expect(new Set(hour.values()).size).toBe(3);
    const many = drawn({ a: 9, b: 8, c: 7, d: 6, e: 5, f: 4, g: 3, h: 2 });
    expect([many.size, many.get("2 more")]).toEqual([COLOURS + 1, NEUTRAL]);
    expect([...many.values()].filter((colour) => colour === NEUTRAL).length).toBe(1);
  });
});
