import { describe, expect, it } from "vitest";
import { parseDataPath } from "../../../src/logs/query/data-path.ts";
import type { LogEntry } from "../../../web/src/model/types.ts";
import type { DataCondition, Filters } from "../../../web/src/pages/explorer/filters.ts";
import { writePath } from "../../../web/src/pages/explorer/results/data-path.ts";
import { fitsTail, remainingTest, tailParameters } from "../../../web/src/pages/explorer/tail/tail-filters.ts";

function entry(data: Record<string, unknown>, timestamp = "2026-11-20T12:00:00.000Z"): LogEntry {
  return {
    id: "log_1",
    seq: 1,
    projectId: "proj_1",
    level: "info",
    category: "custom",
    type: "log",
    message: "",
    timestamp,
    receivedAt: timestamp,
    data,
  };
}

function passes(data: Record<string, unknown>, path: string, condition: DataCondition): boolean {
  return remainingTest({ data: { [path]: condition } })(entry(data));
}

describe("the query parameters of a tail", () => {
  it("contain every simple filter, with lists repeated", () => {
    const filters: Filters = {
      level: ["warn", "error"],
      minLevel: "info",
      category: ["http"],
      search: "timed out",
      traceId: "t&1",
      session: "",
      type: [],
      from: "2026-11-20T00:00:00Z",
      data: { a: 1 },
    };
    expect(tailParameters(filters).toString()).toBe(
      "level=warn&level=error&category=http&minLevel=info&traceId=t%261&search=timed+out",
    );
  });

  it("are bounded like those of the service", () => {
    expect(fitsTail({ search: "x".repeat(512) })).toBe(true);
    expect(fitsTail({ search: "ü".repeat(500) })).toBe(false);
    expect(fitsTail({ category: Array.from({ length: 40 }, (_, index) => `category-number-${index}-of-many`) })).toBe(
      false,
    );
  });
});

describe("the filters that a live view applies itself", () => {
  it("include the time range, end exclusive", () => {
    const test = remainingTest({ from: "2026-11-20T12:00:00.000Z", to: "2026-11-20T13:00:00.000Z" });
    expect(test(entry({}, "2026-11-20T12:00:00.000Z"))).toBe(true);
    expect(test(entry({}, "2026-11-20T11:59:59.999Z"))).toBe(false);
    expect(test(entry({}, "2026-11-20T13:00:00.000Z"))).toBe(false);
  });

  it.each<[Record<string, unknown>, string, DataCondition, boolean]>([
    [{ a: { b: 1 } }, "a.b", 1, true],
    [{ a: { b: 1 } }, "a.b", "1", false],
    [{ "a.b": 1 }, '["a.b"]', 1, true],
    [{ items: [{ id: 7 }] }, "items.0.id", 7, true],
    [{ items: [1] }, "items.length", 1, false],
    [{ a: null }, "a", null, true],
    [{}, "a", null, false],
    [{}, "a", { ne: 1 }, true],
    [{ a: 1 }, "a", { ne: 1 }, false],
    [{ a: 5 }, "a", { gte: 5, lt: 6 }, true],
    [{ a: "5" }, "a", { gte: 5 }, false],
    [{ a: "b" }, "a", { gt: "a" }, true],
    [{ a: 2 }, "a", { in: [1, 2] }, true],
    [{ a: 3 }, "a", { in: [1, 2] }, false],
    [{ a: null }, "a", { exists: true }, true],
    [{}, "a", { exists: false }, true],
    [{}, "constructor", { exists: true }, false],
  ])("include data: %j, %s, %j: %s", (data, path, condition, expected) => {
    expect(passes(data, path, condition)).toBe(expected);
  });
});

it("an invalid condition of an edited link matches nothing and does not throw", () => {
  // SAFETY: invalid on purpose.
  const wrong = { in: "x" } as unknown as DataCondition;
  expect(remainingTest({ data: { a: wrong } })(entry({ a: "x" }))).toBe(false);
});

describe("paths written by the tree", () => {
  it.each([
    [["user", "plan"]],
    [["a.b", "c"]],
    [["items", "0", "id"]],
    [["x", "y[0]"]],
    [[""]],
    [['q"u', "é"]],
    [["a", "b.c", "d"]],
  ])("are parsed to the same names: %j", (names) => {
    expect(parseDataPath(writePath(names))).toEqual(names);
  });
});
