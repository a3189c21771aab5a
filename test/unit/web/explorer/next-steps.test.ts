import { describe, expect, it } from "vitest";
import { explained } from "../../../../src/query-language/meant.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { asksOf, type NextStep } from "../../../../web/src/pages/explorer/next-steps.ts";
import type { Times } from "../../../../web/src/pages/explorer/view/range.ts";

const NOW = Date.UTC(2026, 10, 27, 6);
const HOUR_MS = 3_600_000;

function last(hours: number): Times {
  const start = NOW - hours * HOUR_MS;
  return { from: new Date(start).toISOString(), start, end: NOW };
}

/** Answers every question: `top` with the values, a count with its number. */
function steps(query: string, times: Times, values: [string, number][], count: number): NextStep[] {
  return asksOf(query, times, NOW).flatMap(({ question, read }) => {
    expect(parse(question.query)).toMatchObject({ ok: true });
    return read({ rows: question.query.includes("| top ") ? values : [[count]], complete: true });
  });
}

const SERVICES: [string, number][] = [
  ["checkout", 40],
  ["search", 9],
];

describe("19.1: a search without entries", () => {
  it("offers the value that is probably meant, in its place", () => {
    const found = steps("a service:chekout | where b:1", last(24), SERVICES, 0);
    expect(found).toEqual([
      { kind: "value", text: "service:checkout", query: "a service:checkout | where b:1", count: 40, isExact: true },
    ]);
    expect(steps("service:(search OR chekout)", last(24), SERVICES, 0)[0]?.query).toBe("service:(search OR checkout)");
    expect(steps('service:="chekout"', last(24), SERVICES, 0)[0]?.query).toBe("service:=checkout");
  });

  it("offers no value for one that exists, for one that is like no other, and for tests of other kinds", () => {
    for (const query of [
      "service:Checkout",
      "service:warehouse",
      "-service:chekout",
      "service:chek*",
      "n:>5",
      "chekout",
    ])
      expect(steps(query, last(24), SERVICES, 0)).toEqual([]);
  });

  it("offers to leave out each test, if entries are found then", () => {
    const found = steps("timeout (a OR b) level:error", last(24), [], 7);
    const dropped = found.filter(({ kind }) => kind === "drop");
    expect(dropped.map(({ text, query }) => [text, query])).toEqual([
      ["timeout", "(a OR b) level:error"],
      ["(a OR b)", "timeout level:error"],
      ["level:error", "timeout (a OR b)"],
    ]);
    expect(steps("timeout", last(24), [], 7).some(({ kind }) => kind === "drop")).toBe(false);
  });

  it("offers longer ranges alone", () => {
    const ranges = (times: Times) => steps("a", times, [], 7).map(({ range }) => range);
    const day = { kind: "last", preset: "24h" };
    const week = { kind: "last", preset: "7d" };
    expect(ranges(last(1))).toEqual([day, week]);
    expect(ranges(last(24))).toEqual([week]);
    expect(ranges({ start: 0, end: NOW })).toEqual([]);
    expect(steps("", last(1), [], 0)).toEqual([]);
  });

  it("asks at most 11 questions, whatever the query is", () => {
    const many = Array.from({ length: 40 }, (_, at) => `f${at}:v${at}`).join(" ");
    expect(asksOf(many, last(1), NOW).length).toBe(11);
    expect(asksOf("level:>=", last(24), NOW).map(({ question }) => question.query)).toEqual(["level:>= | count"]);
  });
});

describe("19.1: a text that is no query", () => {
  it("is corrected where the language has a suggestion", () => {
    const corrected = (query: string) => {
      const result = parse(query);
      return result.ok ? undefined : (explained(query, result.error, NOW).corrected ?? null);
    };
    expect(corrected("a level:eror b")).toBe("a level:error b");
    expect(corrected("* | stats p9(ms)")).toBe("* | stats p90(ms)");
    expect([corrected("level:>="), corrected("("), corrected("a")]).toEqual([null, null, undefined]);
  });
});
