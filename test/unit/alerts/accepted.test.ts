import fc from "fast-check";
import { expect, it } from "vitest";
import { countedQuery } from "../../../src/alerts/definition.ts";
import { InvalidQuery } from "../../../src/logs/search/search-plan.ts";
import { SearchBody } from "../../../src/logs/search/search-schema.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { print } from "../../../src/query-language/print.ts";
import { previewBody } from "../../../src/routes/workspaces/alert-body.ts";
import { randomQuery } from "../query-language/random-query.ts";

const PIECES = [
  "level:",
  'level:""',
  "a:=",
  "~/(/",
  "~/a/",
  "(",
  ")",
  "OR",
  "-",
  "*",
  '"',
  "time:1h",
  "| count by a",
  "| stats p99(ms)",
];
const piece = fc.constantFrom(...PIECES);
/** Queries, and texts that are nearly some. */
const text = fc.oneof(
  randomQuery.map(print),
  fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(" ")),
  fc.tuple(randomQuery.map(print), fc.nat(), piece).map(([query, n, added]) => {
    const at = n % (query.length + 1);
    return query.slice(0, at) + added + query.slice(at);
  }),
);

/** Returns why a rule cannot have a query that a search can have; `null`: it can. */
function refusal(query: string): string | null {
  const parsed = parse(query);
  if (!parsed.ok) throw new Error("A search accepts what is no query.");
  try {
    countedQuery(parsed.query);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidQuery)) throw error;
    return error.message;
  }
}

it("A rule accepts a query exactly if a search does, it has the form of a rule and is well-formed Unicode", () => {
  const seen = { both: 0, search: 0, none: 0 };
  for (const query of fc.sample(text, { numRuns: 3000, seed: 20 })) {
    const isSearched = SearchBody.safeParse({ query }).success;
    const rule = previewBody.safeParse({ query, condition: { kind: "threshold", value: 1 }, window: "5m" });
    if (!isSearched) {
      seen.none++;
      expect(rule.success, query).toBe(false);
      continue;
    }
    const why = query.isWellFormed() ? refusal(query) : "Must be well-formed Unicode.";
    seen[why === null ? "both" : "search"]++;
    expect(rule.success, query).toBe(why === null);
    if (!rule.success) expect(rule.error.issues.map(({ message }) => message)).toEqual([why]);
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(300);
});
