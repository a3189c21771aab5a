import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import {
  freePlace,
  inOrder,
  isChanged,
  LEAST,
  legible,
  moved,
  movedInOrder,
  overlaps,
  type Place,
  resized,
  settled,
} from "../../../../web/src/pages/boards/layout.ts";

const place = fc
  .record({
    x: fc.integer({ min: 0, max: BOARD_LIMITS.columns - 1 }),
    y: fc.integer({ min: 0, max: 30 }),
    w: fc.integer({ min: 1, max: BOARD_LIMITS.columns }),
    h: fc.integer({ min: 1, max: 12 }),
  })
  .map((each) => ({ ...each, w: Math.min(each.w, BOARD_LIMITS.columns - each.x) }));
const board = fc
  .array(place, { minLength: 1, maxLength: 12 })
  .map((places) => places.map((each, at): Place => ({ ...each, id: `p${at}` })));
const step = fc.record({
  at: fc.nat(),
  size: fc.boolean(),
  dx: fc.integer({ min: -14, max: 14 }),
  dy: fc.integer({ min: -14, max: 14 }),
});

function check(before: readonly Place[], after: readonly Place[]): void {
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  for (const [at, panel] of after.entries()) {
    expect(panel.x).toBeGreaterThanOrEqual(0);
    expect(panel.y).toBeGreaterThanOrEqual(0);
    expect(panel.x + panel.w).toBeLessThanOrEqual(BOARD_LIMITS.columns);
    for (const other of after.slice(at + 1)) expect(overlaps(panel, other), `${panel.id} ${other.id}`).toBe(false);
    // Nothing could move up: no empty rows.
    const above = { ...panel, y: panel.y - 1 };
    if (panel.y > 0) expect(after.some((each) => each.id !== panel.id && overlaps(each, above))).toBe(true);
  }
}

describe("the layout of a board", () => {
  it("never overlaps, never leaves the grid and has no empty rows, however panels are moved and resized", () => {
    fc.assert(
      fc.property(board, fc.array(step, { maxLength: 12 }), (panels, steps) => {
        let now = settled(panels);
        check(panels, now);
        for (const { at, size, dx, dy } of steps) {
          const panel = now[at % now.length];
          if (panel === undefined) continue;
          const change = size
            ? resized(now, panel.id, panel.w + dx, panel.h + dy)
            : moved(now, panel.id, panel.x + dx, panel.y + dy);
          check(now, change);
          now = change;
        }
        const free = { ...freePlace(now), id: "new" };
        expect(now.some((each) => overlaps(each, free))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a settled board as it is", () => {
    fc.assert(
      fc.property(board, (panels) => {
        const once = settled(panels);
        expect(settled(once)).toEqual(once);
      }),
    );
  });

  it("shows each panel of a board that the API stored: not below another one, nor too small for its title", () => {
    fc.assert(
      fc.property(board, (panels) => {
        const shown = legible(panels);
        check(panels, shown);
        for (const { w, h } of shown) expect(w >= LEAST.w && h >= LEAST.h).toBe(true);
        // What the console stored stays in its places.
        expect(legible(shown)).toEqual(shown);
      }),
    );
    const far = { id: "far", x: 11, y: 999, w: 1, h: 1 };
    expect(legible([far, { ...far, id: "behind" }])).toEqual([
      { id: "far", x: 10, y: 0, w: 2, h: 3 },
      { id: "behind", x: 10, y: 3, w: 2, h: 3 },
    ]);
  });

  it("moves a panel to the place of another one, which goes below it", () => {
    const panels = [
      { id: "a", x: 0, y: 0, w: 12, h: 4 },
      { id: "b", x: 0, y: 4, w: 6, h: 5 },
      { id: "c", x: 6, y: 4, w: 6, h: 5 },
    ];
    expect(inOrder(moved(panels, "b", 0, 0)).map(({ id, y }) => [id, y])).toEqual([
      ["b", 0],
      ["a", 5],
      ["c", 9],
    ]);
    expect(moved(panels, "c", 0, 4)).toEqual([
      panels[0],
      { id: "b", x: 0, y: 9, w: 6, h: 5 },
      { id: "c", x: 0, y: 4, w: 6, h: 5 },
    ]);
  });

  it("moves a panel up and down in the order of reading, to both ends of it", () => {
    fc.assert(
      fc.property(board, fc.nat(), fc.constantFrom("earlier", "later"), (panels, at, to) => {
        let now = settled(panels);
        const id = `p${at % panels.length}`;
        const placeOf = () => inOrder(now).findIndex((panel) => panel.id === id);
        const end = to === "earlier" ? 0 : panels.length - 1;
        for (let before = placeOf(); before !== end; before = placeOf()) {
          now = movedInOrder(now, id, to);
          check(panels, now);
          expect(to === "earlier" ? placeOf() < before : placeOf() > before).toBe(true);
        }
        expect(movedInOrder(now, id, to)).toEqual(now);
      }),
      { numRuns: 300 },
    );
  });

  it("gives a new panel with many spans of time the whole width", () => {
    const panels = [{ id: "a", x: 0, y: 2, w: 6, h: 5 }];
    expect(freePlace(panels, 120)).toEqual({ x: 0, y: 7, w: 6, h: 8 });
    expect(freePlace(panels, 121)).toEqual({ x: 0, y: 7, w: 12, h: 8 });
  });

  it("bounds sizes", () => {
    const [panel] = resized([{ id: "a", x: 4, y: 0, w: 6, h: 5 }], "a", 99, -3);
    expect(panel).toEqual({ id: "a", x: 4, y: 0, w: 8, h: LEAST.h });
  });

  it("finds a draft changed by what would be stored, not by an arrangement that was undone", () => {
    const panels = [
      { id: "a", x: 0, y: 0, w: 6, h: 5, title: "A", query: "| count", kind: "number" as const },
      { id: "b", x: 6, y: 0, w: 6, h: 5, title: "B", query: "| count", kind: "number" as const },
    ];
    const stored = { name: "Shop", panels };
    const further = moved(panels, "b", 0, 0);
    expect(isChanged({ name: "Shop", panels: further }, stored)).toBe(true);
    expect(isChanged({ name: "Shop ", panels: resized(resized(panels, "a", 5, 5), "a", 6, 5) }, stored)).toBe(false);
    expect(isChanged({ name: "Shop 2", panels }, stored)).toBe(true);
    const [first, second] = panels as [(typeof panels)[0], (typeof panels)[0]];
    const { kind, query, title, ...place } = second;
    const reordered = { kind, query, title, ...place };
    expect(isChanged({ name: "Shop", panels: [reordered, first] }, stored)).toBe(false);
    // All times, which is not the board's range.
    expect(isChanged({ name: "Shop", panels: [first, { ...second, range: null }] }, stored)).toBe(true);
  });
});
