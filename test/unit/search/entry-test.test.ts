import fc from "fast-check";
import { expect, it } from "vitest";
import { entryTestOf } from "../../../src/logs/search/entry-test.ts";
import { compileAll, InvalidRegex, regexTestOf, wildcardTest } from "../../../src/logs/search/text-tests.ts";
import { threadMs } from "../../support/thread-time.ts";
import { entry, NOW, place, query } from "./arbitraries.ts";
import { passes } from "./reference.ts";

it("finds what a plain evaluator finds", () => {
  let found = 0;
  fc.assert(
    fc.property(
      query,
      fc.array(fc.tuple(entry, place), { minLength: 1, maxLength: 8 }),
      ({ text, filter }, entries) => {
        const test = entryTestOf(filter, NOW);
        for (const [each, where] of entries) {
          const expected = passes(filter, each, where, NOW);
          if (expected) found++;
          expect(test(each, where), `${text} of ${JSON.stringify(each)}`).toBe(expected);
        }
      },
    ),
    { numRuns: 5000 },
  );
  // Neither all nor none: the comparison means something.
  expect(found).toBeGreaterThan(3000);
});

it("refuses regular expressions that RE2 cannot run in linear time, or that are too large", () => {
  expect(regexTestOf({ kind: "regex", source: "(a*)*b", ignoreCase: false }).passes("a".repeat(100_000))).toBe(false);
  for (const source of ["a(b", "(?=a)", "\\1", "(a{1000}){1000}", "((a{100}){100}){5}", "x".repeat(1001)]) {
    expect(() => regexTestOf({ kind: "regex", source, ignoreCase: false }), source).toThrow(InvalidRegex);
  }
});

it("refuses regular expressions that are too large together, before compiling all of them", () => {
  const regexes = (count: number) =>
    Array.from({ length: count }, () => ({ kind: "regex", source: "\\pL{900}", ignoreCase: true }) as const);
  expect(() => compileAll(regexes(4))).not.toThrow();
  expect(() => compileAll(regexes(5))).toThrow(InvalidRegex);
  const times = [1, 2, 3].map(() => {
    const start = threadMs();
    expect(() => compileAll(regexes(190))).toThrow(InvalidRegex);
    return threadMs() - start;
  });
  // The rest is the machine's.
  expect(Math.min(...times)).toBeLessThan(500);
});

it("looks long paths up in time linear in the names of members", () => {
  const path = Array.from({ length: 3990 }, () => "a");
  const test = entryTestOf({ kind: "field", field: { kind: "data", path }, test: { kind: "is", text: "x" } }, NOW);
  const base = { timestamp: "", level: "info", category: "", type: "", message: "" } as const;
  const where = { timestamp: 0, receivedAt: 0, seq: 1, projectId: "", id: "" };
  const start = threadMs();
  expect(test({ ...base, data: { a: Array.from({ length: 20_000 }, () => ({ b: 1 })) } }, where)).toBe(false);
  expect(threadMs() - start).toBeLessThan(1000);
  const names = ["a", "b", "", "c", "d", "e", "f"];
  const deep = entryTestOf(
    { kind: "field", field: { kind: "data", path: names }, test: { kind: "is", text: "x" } },
    NOW,
  );
  for (const data of [{ "a.b..c.d.e.f": "x" }, { a: [{ "b..c.d.e": { f: "x" } }] }, { "a.b..c.d.e": [{ f: "x" }] }])
    expect(deep({ ...base, data }, where), JSON.stringify(data)).toBe(true);
  for (const data of [{ "a.b..c.d.e.f.": "x" }, { "a.b..c.d.e": "x" }, { "a.b.c.d.e.f": "x" }])
    expect(deep({ ...base, data }, where), JSON.stringify(data)).toBe(false);
});

it("compares wildcards in linear time, whatever the case", () => {
  expect(wildcardTest("*a*a*a*a*a*a*a*b", true)("a".repeat(100_000))).toBe(false);
  expect(wildcardTest("ab*ba", true)("aba")).toBe(false);
  expect(wildcardTest("AB*ba", true)("abBA")).toBe(true);
  expect(wildcardTest("time*out", false)("a Time was out.")).toBe(true);
});
