import fc from "fast-check";
import { expect, it } from "vitest";
import { foldCase } from "../../../src/logs/query/fold-case.ts";
import { casedLiteralOf, literalOf, literalOfValue } from "../../../src/logs/search/literals.ts";
import { regexTest, wildcardTest } from "../../../src/logs/search/text-tests.ts";

const literal = (source: string, ignoreCase = false) => literalOf({ kind: "regex", source, ignoreCase });

it.each([
  ["Timeout", "timeout"],
  ["^GET \\/api", "get /api"],
  ["abc+d", "abc"],
  ["abc?defg", "defg"],
  ["abcd*", "abc"],
  ["abc{2}de", "ab"],
  ["x.*timeout.*y", "timeout"],
  ["a|b", ""],
  ["(a|b)cde", "cde"],
  ["(?:abc)?defg", "defg"],
  ["(?P<name>x)tail", "tail"],
  ["(?i)abc", ""],
  ["[abc]+ing", "ing"],
  ["[]abc]ing", "ing"],
  ["\\dabc\\.def", "abc.def"],
  ["\\x{1F600}abc", "abc"],
  ["\\p{Greek}abc", "abc"],
  ["\\Qa.b\\E", ""],
  ["abc)", ""],
  ["\\bword\\b", "word"],
  ["a{,3}bcd", "bcd"],
])("of a regular expression is a text of each match: %s", (source, expected) => {
  expect(literal(source)).toBe(expected);
});

it("of a regular expression without case has no letter that another one stands for", () => {
  // The long s has no other lower case, and stands for s.
  expect(literal("reset by", true)).toBe("et by");
  expect(literal("straße", true)).toBe("tra");
  expect(regexTest({ kind: "regex", source: "reset", ignoreCase: true })("re\u017fet")).toBe(true);
});

it("is in every text that passes", () => {
  const part = fc.constantFrom(
    ...["a", "B", "ab", "k", "s", "\\.", "\\d", "[ab]", "[^a]", "(a|b)", "(?:ab)", "(ab)?", "a*", "b+", "c?", "a{2}"],
    ...["a{0,1}", ".", "^", "$", "\\b", "\\x61", "\\pL", "|", "{", "]", "ß", "\\/", "(?i)", "\\n", "\\101"],
  );
  const text = fc
    .array(
      fc.constantFrom("a", "A", "b", "B", "ab", "k", "\u212a", "s", "\u017f", ".", "1", "ß", "{", "]", "/", "\n"),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.join(""));
  let matches = 0;
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("")),
      fc.boolean(),
      fc.array(text, { minLength: 10, maxLength: 10 }),
      (source, ignoreCase, texts) => {
        let passes: (text: string) => boolean;
        try {
          passes = regexTest({ kind: "regex", source, ignoreCase });
        } catch {
          return;
        }
        const wanted = literal(source, ignoreCase);
        if (wanted === "") return;
        for (const each of texts) {
          if (!passes(each)) continue;
          matches++;
          expect(foldCase(each), `${source} ${ignoreCase}`).toContain(wanted);
          expect(each, source).toContain(casedLiteralOf({ kind: "regex", source, ignoreCase }));
        }
      },
    ),
    { numRuns: 3000 },
  );
  expect(matches).toBeGreaterThan(500);
  expect(literalOf({ kind: "wildcard", pattern: "GET*/Orders/*" })).toBe("/orders/");
  expect(wildcardTest("GET*/Orders/*", true)("get x /ORDERS/1")).toBe(true);
  expect(literalOfValue({ kind: "is", text: "ABC" })).toBe("abc");
  expect(literalOfValue({ kind: "exists" })).toBe("");
  const regex = { kind: "regex", source: "GET \\d", ignoreCase: false } as const;
  expect(casedLiteralOf({ kind: "anyOf", tests: [regex] })).toBe("GET ");
  expect(casedLiteralOf({ kind: "anyOf", tests: [regex, regex] })).toBe("");
  expect(casedLiteralOf({ ...regex, ignoreCase: true })).toBe("");
});
