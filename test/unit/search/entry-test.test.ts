import fc from "fast-check";
import { expect, it } from "vitest";
import { entryTestOf } from "../../../src/logs/search/entry-test.ts";
import { InvalidRegex, regexTest, wildcardTest } from "../../../src/logs/search/text-tests.ts";
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
  expect(regexTest({ kind: "regex", source: "(a*)*b", ignoreCase: false })("a".repeat(100_000))).toBe(false);
  for (const source of ["a(b", "(?=a)", "\\1", "(a{1000}){1000}", "((a{100}){100}){5}", "x".repeat(1001)]) {
    expect(() => regexTest({ kind: "regex", source, ignoreCase: false }), source).toThrow(InvalidRegex);
  }
});

it("compares wildcards in linear time, whatever the case", () => {
  expect(wildcardTest("*a*a*a*a*a*a*a*b", true)("a".repeat(100_000))).toBe(false);
  expect(wildcardTest("ab*ba", true)("aba")).toBe(false);
  expect(wildcardTest("AB*ba", true)("abBA")).toBe(true);
  expect(wildcardTest("time*out", false)("a Time was out.")).toBe(true);
});
