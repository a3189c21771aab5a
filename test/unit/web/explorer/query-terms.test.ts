import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import type { Filter } from "../../../../src/query-language/syntax.ts";
import {
  narrowedTo,
  negated,
  stateOf,
  termsOf,
  tests,
  toggled,
  withoutField,
  withoutTerm,
  withPipes,
  withTests,
} from "../../../../web/src/pages/explorer/view/query-terms.ts";

const PARTS = [
  "level:>=warn",
  "a",
  '"two words"',
  "-b:x",
  "NOT c:*",
  "(d OR e)",
  "(f:1 g:2)",
  "-(h OR i)",
  "route:/api/*",
  "status:(200 OR 201)",
  "~/re \\/ x|y/i",
  "n:1..5",
  "time:1h",
  '"a|b"',
];
const part = fc.constantFrom(...PARTS);
const filter = fc.array(part, { minLength: 1, maxLength: 5 });
const separator = fc.constantFrom(" ", "  ", " AND ");
const pipes = fc.constantFrom("", "| count", "| where n:>3 | top 5 by a, b", "|count by bin(5m)");

function filterOf(query: string): Filter {
  const read = parse(query);
  if (!read.ok) throw new Error(`${query}: ${read.error.message}`);
  return read.query.filter;
}

describe("the tests of a query", () => {
  it("are its text and its filter, in their places", () => {
    fc.assert(
      fc.property(filter, separator, pipes, (parts, between, rest) => {
        const query = `${parts.join(between)} ${rest}`;
        const found = termsOf(query);
        expect(found?.terms.map(({ text }) => text)).toEqual(parts);
        expect(found?.pipes).toBe(rest);
        for (const { start, end, text, filter } of found?.terms ?? []) {
          expect(query.slice(start, end)).toBe(text);
          expect(filterOf(text)).toEqual(filter);
        }
      }),
    );
  });

  it("are one with OR outside of parentheses, and none of a query that is wrong or open", () => {
    expect(termsOf("a b OR c | count")?.terms.map(({ text }) => text)).toEqual(["a b OR c"]);
    expect(termsOf("* | count")).toEqual({ terms: [], pipes: "| count" });
    expect(termsOf("")?.terms).toEqual([]);
    expect(termsOf("* a")?.terms.map(({ text }) => text)).toEqual(["a"]);
    expect(termsOf("a:>=")).toBeNull();
  });

  it("are added and taken away without a change to the others", () => {
    fc.assert(
      fc.property(filter, separator, pipes, part, fc.nat(4), (parts, between, rest, added, at) => {
        const query = `${parts.join(between)} ${rest}`;
        const more = withTests(query, [filterOf(added)]);
        expect(more.startsWith(parts.join(" "))).toBe(true);
        expect(withTests(more, [filterOf(added)])).toBe(more);
        const index = at % parts.length;
        const left = withoutTerm(query, index);
        expect(termsOf(left)?.terms.map(({ text }) => text)).toEqual(parts.filter((_, each) => each !== index));
        expect(termsOf(left)?.pipes).toBe(rest);
        const twice = negated(negated(query, index), index);
        expect(filterOf(twice)).toEqual(filterOf(query));
      }),
    );
  });

  it("get parentheses beside others", () => {
    expect(withTests("a OR b | count", [filterOf("c:1")])).toBe("(a OR b) c:1 | count");
    expect(withTests("(a) OR (b)", [filterOf("c:1")])).toBe("((a) OR (b)) c:1");
    expect(withTests("*", [filterOf("a OR b")])).toBe("a OR b");
    expect(withTests("| count", [filterOf("a")])).toBe("a | count");
    expect(withTests("x", [filterOf("a OR b")])).toBe("x (a OR b)");
  });

  it("keep the filter when the pipes change", () => {
    expect(withPipes('"a|b"  c | count', "| top 5 by d")).toBe('"a|b" c | top 5 by d');
    expect(withPipes("a OR b | count", "")).toBe("a OR b");
    expect(withPipes("", "| count")).toBe("* | count");
    expect(withPipes("| count", "")).toBe("*");
  });
});

describe("a value of the field list", () => {
  it("is included beside others, and taken away again", () => {
    const one = toggled("timeout", "status", 500, "included");
    expect(one).toBe("timeout status:500");
    const two = toggled(one, "status", 502, "included");
    expect(two).toBe("timeout status:(500 OR 502)");
    expect([500, 502, 200].map((value) => stateOf(two, "status", value))).toEqual(["included", "included", null]);
    expect(toggled(two, "status", 500, "included")).toBe("timeout status:502");
    expect(toggled(one, "status", 500, "included")).toBe("timeout");
  });

  it("is excluded, in place of being included", () => {
    const one = toggled("a", "route", "/x y", "excluded");
    expect(one).toBe('a -route:="/x y"');
    expect(stateOf(one, "route", "/x y")).toBe("excluded");
    expect(toggled(one, "route", "/x y", "included")).toBe('a route:="/x y"');
    expect(toggled("a -route:(=b OR =c)", "route", "b", "excluded")).toBe("a -route:=c");
  });

  it("holds for any text and any field", () => {
    // A level is one of seven.
    const name = fc.constantFrom("a.b", '"x y".z', "data.level", '"200"');
    const value = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.integer(), fc.boolean());
    fc.assert(
      fc.property(
        filter,
        name,
        value,
        fc.constantFrom("included" as const, "excluded" as const),
        (parts, field, each, as) => {
          fc.pre(typeof each !== "string" || each.isWellFormed());
          const query = parts.join(" ");
          const next = toggled(query, field, each, as);
          expect(parse(next).ok).toBe(true);
          expect(stateOf(next, field, each)).toBe(as);
          expect(tests(next, field)).toBe(true);
          expect(stateOf(toggled(next, field, each, as), field, each)).toBeNull();
        },
      ),
    );
  });

  it("narrows to itself with a click in an entry, in place of the other values", () => {
    expect(narrowedTo("level:(error OR fatal) a", [filterOf("level:error")])).toBe("a level:error");
    expect(narrowedTo("level:>=warn -level:info", [filterOf("level:error")])).toBe(
      "level:>=warn -level:info level:error",
    );
    expect(narrowedTo("", [filterOf("b:1")])).toBe("b:1");
  });

  it("can be counted without the tests of its field", () => {
    expect(withoutField("level:error -level:warn a:1 b OR level:info", "level")).toBe(
      "level:error -level:warn a:1 b OR level:info",
    );
    expect(withoutField("level:error -level:warn a:1 (b OR level:info)", "level")).toBe("a:1 (b OR level:info)");
  });
});
