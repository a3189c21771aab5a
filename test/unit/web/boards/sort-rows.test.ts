import { describe, expect, it } from "vitest";
import { nextOrder, sortedRows } from "../../../../web/src/charts/sort-rows.ts";

describe("19: the rows of a table", () => {
  const rows = [
    ["b", 2],
    ["a", 10],
    [null, null],
    ["c", 2],
  ];

  it("are sorted by a column, those without a value last, and equal ones as they were", () => {
    expect(sortedRows(rows, null)).toBe(rows);
    expect(sortedRows(rows, { column: 1, isDescending: true }).map(([name]) => name)).toEqual(["a", "b", "c", null]);
    expect(sortedRows(rows, { column: 1, isDescending: false }).map(([name]) => name)).toEqual(["b", "c", "a", null]);
    expect(sortedRows(rows, { column: 0, isDescending: false }).map(([name]) => name)).toEqual(["a", "b", "c", null]);
  });

  it("have two orders by each column, and that of the answer after them", () => {
    const first = nextOrder(null, 1, true);
    expect(first).toEqual({ column: 1, isDescending: true });
    expect(nextOrder(first, 1, true)).toEqual({ column: 1, isDescending: false });
    expect(nextOrder({ column: 1, isDescending: false }, 1, true)).toBe(null);
    expect(nextOrder(first, 0, false)).toEqual({ column: 0, isDescending: false });
    expect(nextOrder({ column: 0, isDescending: true }, 0, false)).toBe(null);
  });
});
