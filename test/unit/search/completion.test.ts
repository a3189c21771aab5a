import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/logs/entry.ts";
import { completionAt } from "../../../src/logs/search/completion.ts";
import { suggestionsAt } from "../../../src/logs/search/suggest.ts";
import { printFilter } from "../../../src/query-language/print.ts";
import { threadMs } from "../../support/thread-time.ts";

/** A text with `|` replaced: `^` marks the position. */
function at(marked: string) {
  const position = marked.indexOf("^");
  return completionAt(marked.replace("^", ""), position);
}

function entry(message: string, data: Record<string, unknown>, level: Entry["level"] = "info"): Entry {
  return { timestamp: "2026-11-22T10:00:00.000Z", level, category: "http", type: "request", message, data };
}

const ENTRIES: readonly Entry[] = [
  entry("one", { status: 500, route: "/a", tags: ["x", "y"], "http.method": "GET", user: { id: 1 } }, "error"),
  entry("two", { status: 500, route: "/a b", slow: true }),
  entry("three", { status: 404 }),
];

const texts = (marked: string) => suggestionsAt(at(marked), ENTRIES, null).map(({ text }) => text);

describe("what is being written", () => {
  it.each([
    ["^", "filter", "", "*"],
    ["sta^", "filter", "sta", "*"],
    ["level:error sta^", "filter", "sta", "level:error"],
    ["level:error sta^ time:1h", "filter", "sta", "level:error time:1h"],
    ["level:error ^", "filter", "", "level:error"],
    ["rou^te:", "filter", "rou", "*"],
    ["rou^te: level:error", "filter", "rou", "level:error"],
    ['rou^te:"a b" level:error', "filter", "rou", "level:error"],
    ["rou^te:(a OR b) level:error", "filter", "rou", "level:error"],
    ["rou^te:>=5 level:error", "filter", "rou", "level:error"],
    ["level:^", "value", "", "*"],
    ["a:b level:er^", "value", "er", "a:b"],
    ["level:>=er^", "value", "er", "*"],
    ["route:x -status:5^", "value", "5", "route:x"],
    ["route:x NOT status:5^", "value", "5", "route:x"],
    ["route:x status:(200 OR 4^", "value", "4", "route:x"],
    ["(a:b OR c^", "filter", "c", "*"],
    ["a:b (c:d e^", "filter", "e", "a:b c:d"],
    ["a:b status:5^00 c:d", "value", "5", "a:b c:d"],
    ['a:b route:"/x y^', "value", '"/x y', "a:b"],
    ["a:b | ^", "pipe", "", "a:b"],
    ["a:b | where c:d | top 5 by ro^", "key", "ro", "a:b c:d"],
    ["a:b | stats p9^", "function", "p9", "a:b"],
    ['x:"a | b" | top by ^', "key", "", 'x:"a | b"'],
    ["~/(/ sta^", "filter", "sta", "~/(/"],
  ])("%s", (marked, kind, typed, filter) => {
    const completion = at(marked);
    expect({ kind: completion.kind, typed: completion.typed, filter: printFilter(completion.filter) }).toEqual({
      kind,
      typed,
      filter,
    });
  });

  it("replaces the rest of the word behind the position", () => {
    expect(at("a:b sta^tus:500")).toMatchObject({ start: 4, end: 10 });
    expect(at("a:b status:5^00 c")).toMatchObject({ start: 11, end: 14 });
  });
});

it("17: takes little time for paths of thousands of names", () => {
  for (const text of ['"a".'.repeat(1600), `${'"a"[0].'.repeat(1000)}"b"`, `x:${'"a".'.repeat(1600)}`]) {
    const times = [1, 2, 3].map(() => {
      const start = threadMs();
      completionAt(text, text.length);
      return threadMs() - start;
    });
    // The rest is the machine's.
    expect(Math.min(...times), text.slice(0, 20)).toBeLessThan(50);
  }
});

describe("suggestions", () => {
  it("has the most frequent fields first, then fields that the sample lacks", () => {
    const found = suggestionsAt(at("^"), ENTRIES, null);
    expect(found.slice(0, 5)).toEqual([
      { text: "level:", kind: "field", type: "level", count: 3 },
      { text: "category:", kind: "field", type: "string", count: 3 },
      { text: "type:", kind: "field", type: "string", count: 3 },
      { text: "message:", kind: "field", type: "string", count: 3 },
      { text: "status:", kind: "field", type: "number", count: 3 },
    ]);
    expect(found).toContainEqual({ text: "http.method:", kind: "field", type: "string", count: 1 });
    expect(found).toContainEqual({ text: "user.id:", kind: "field", type: "number", count: 1 });
    expect(found).toContainEqual({ text: "tags:", kind: "field", type: "string", count: 1 });
    expect(found).toContainEqual({ text: "time:", kind: "field", type: "time" });
  });

  it("has what begins with the text, then what contains it", () => {
    expect(texts("st^")).toEqual(["status:", "host:"]);
    expect(texts("ro^")).toEqual(["route:", "project:"]);
  });

  it("has values with counts, quoted where a query needs it, and operators of the type", () => {
    expect(suggestionsAt(at("status:^"), ENTRIES, null)).toEqual([
      { text: "500", kind: "value", count: 2 },
      { text: "404", kind: "value", count: 1 },
      ...[">=", "<=", ">", "<", "*"].map((text) => ({ text, kind: "operator" })),
    ]);
    expect(texts("route:^")).toEqual(["/a", '"/a b"', "*", "~/", "="]);
    expect(texts("route:/^")).toEqual(["/a", '"/a b"']);
    expect(texts("level:^").slice(0, 7)).toEqual(["info", "error", "trace", "debug", "log", "warn", "fatal"]);
    expect(texts("level:>=w^")).toEqual(["warn"]);
    expect(texts("slow:^")).toEqual(["true", "*"]);
    expect(texts("tags:(x OR ^")).toContain("y");
    expect(texts("time:^")).toContain("1h");
  });

  it("has stored counts in place of those of the sample", () => {
    expect(suggestionsAt(at("category:h^"), [], [{ text: "http", count: 70_000 }])).toEqual([
      { text: "http", kind: "value", count: 70_000 },
    ]);
  });

  it("has pipes, functions, keywords, keys and columns", () => {
    expect(texts("a | to^")).toEqual(["top"]);
    expect(texts("a | stats p^").slice(0, 2)).toEqual(["p50(", "p75("]);
    expect(texts("a | count ^")).toEqual(["by"]);
    expect(texts("a | count by ^")).toEqual(expect.arrayContaining(["status", "bin(5m)"]));
    expect(texts("a | count by route | sort ^")).toEqual(["route", "count"]);
    expect(texts("a | count by route | where ^")).toEqual(["route:", "count:"]);
  });
});
