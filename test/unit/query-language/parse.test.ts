import fc from "fast-check";
import { expect, it } from "vitest";
import { LEVELS } from "../../../src/logs/entry.ts";
import { analyze, parse, parseFilterText, placeAt } from "../../../src/query-language/parse.ts";
import { format, print } from "../../../src/query-language/print.ts";
import { LEVEL_NAMES, type Query } from "../../../src/query-language/syntax.ts";
import { randomQuery } from "./random-query.ts";

function read(text: string): Query {
  const result = parse(text);
  if (!result.ok) throw new Error(`${text}: ${JSON.stringify(result.error)}`);
  return result.query;
}

function errorOf(text: string) {
  const result = parse(text);
  if (result.ok) throw new Error(`${text} is a query: ${JSON.stringify(result.query)}`);
  return result.error;
}

/** Queries, and the text that `print` writes for them. */
const PRINTED: readonly [string, string][] = [
  ["", "*"],
  ["*", "*"],
  ["timeout", "timeout"],
  ["a b", "a b"],
  ["a AND b OR c", "a b OR c"],
  ["a (b OR c)", "a (b OR c)"],
  ["(a b) c", "a b c"],
  ["NOT a", "-a"],
  ["-a:b c", "-a:b c"],
  ["-(a OR b)", "-(a OR b)"],
  ["NOT NOT a", "-(-a)"],
  ["and or not", "and or not"],
  ["--x", '"--x"'],
  ["a - b", 'a "-" b'],
  ["http://x/y", '"http://x/y"'],
  ["12:30", '"12:30"'],
  ["a::b", '"a::b"'],
  ["Error: x", '"Error:" x'],
  ["Error:", '"Error:"'],
  ["(Error:)", '"Error:"'],
  ['"connection reset" time:1h', '"connection reset" time:1h'],
  ["time*out", "time*out"],
  ["~/a\\/b/i", "~/a\\/b/i"],
  ["level:>=error", "level:>=error"],
  ["level:ERROR", "level:error"],
  ["level:warn..error", "level:warn..error"],
  ["a:OR", 'a:"OR"'],
  ["a:-5", "a:-5"],
  ["a:5..7.50", "a:5..7.5"],
  ["a:../x", 'a:"../x"'],
  ["a:1.2..beta", 'a:"1.2..beta"'],
  ['a:"*"', 'a:"*"'],
  ['a:":"', 'a:":"'],
  ['a:"//x"', 'a:"//x"'],
  ["a:(//x*)", "a:(//x*)"],
  ["a:(:x* OR y)", "a:((:x*) OR y)"],
  ["a:*", "a:*"],
  ["-a:*", "-a:*"],
  ['a:="X"', "a:=X"],
  ["a:(x OR >5 OR ~/y/)", "a:(x OR >5 OR ~/y/)"],
  ["a:((x OR y) OR z)", "a:(x OR y OR z)"],
  ["route:/api/*", "route:/api/*"],
  ["url:http://x/y", "url:http://x/y"],
  ["traceId:abc", "trace:abc"],
  ["data.level:x", "data.level:x"],
  ["data.status:5", "status:5"],
  ['"http.status":5', '"http.status":5'],
  ["tags[0].name:x", "tags[0].name:x"],
  ["time:2026-11-22", "time:2026-11-22"],
  ["time:2026-11-22T10:30+02:00", "time:2026-11-22T08:30"],
  ["received:>=90m", "received:>=90m"],
  ["time:2026-11-20..2026-11-22", "time:2026-11-20..2026-11-22"],
  ["|count", "* | count"],
  ["level:error | top 10 by user.id", "level:error | top 10 by user.id"],
  ["* | stats count(), p99(durationMs) by route, bin(5m)", "* | stats count(), p99(durationMs) by route, bin(5m)"],
  ['"time" -status:200..399 | count by bin(60s)', "time -status:200..399 | count by bin(1m)"],
  ["x | patterns 20 vs 1d", "x | patterns 20 vs 1d"],
  [
    "* | count by a | where count:>10 | sort count desc | limit 5",
    "* | count by a | where count:>10 | sort count desc | limit 5",
  ],
  [
    "* | stats p99(ms), avg(x) as mean by a | where p99(ms):>5 mean:<=2",
    "* | stats p99(ms), avg(x) as mean by a | where p99(ms):>5 mean:<=2",
  ],
  ["* | fields time, a.b | sort a.b", "* | fields time, a.b | sort a.b"],
  ["* | patterns vs 1d | where before:0 count:(5 OR >7)", "* | patterns vs 1d | where before:0 count:(5 OR >7)"],
  ["* | stats max(a) by x | where max(a):b*", "* | stats max(a) by x | where max(a):b*"],
  ["* | context 5", "* | context 5"],
  ["* | facets", "* | facets"],
];

it("reads queries and prints each in one way", () => {
  for (const [text, printed] of PRINTED) expect(print(read(text)), text).toBe(printed);
});

/** Texts that are no queries: position, part of the message, suggestion. */
const REFUSED: readonly [text: string, position: number, message: string, suggestion?: string][] = [
  ["level:>=", 8, "value is missing"],
  ["level:>= error", 8, "value is missing", "level:>=error"],
  ["a:!=x", 2, "negated", "-a:x"],
  ["a:..5", 2, "no beginning", "a:<=5"],
  ["a:5..", 2, "no end", "a:>=5"],
  ["a:7..5", 2, "before it begins", "a:5..7"],
  ["level:eror", 6, "Unknown level", "error"],
  ["level:warning", 6, "Unknown level", "warn"],
  ["time:yesterday", 5, "takes a time"],
  ["time:2026-02-30", 5, "takes a time"],
  ["a:>x", 3, "number"],
  ["message:>5", 9, "text"],
  ["a OR", 4, "ends"],
  ["(a", 0, "not closed"],
  ["a)", 1, "not opened"],
  ['"a', 0, "not closed"],
  ["~/a", 0, "not closed"],
  ["~/a/x", 4, "flag"],
  ["a:(x y)", 5, "joined by `OR`", "OR y"],
  ["a |", 3, "pipe is missing"],
  ["a | cuont", 4, "Unknown pipe", "count"],
  ["a | head 5", 4, "Unknown pipe", "limit"],
  ["a | stats p9(ms)", 10, "Unknown function `p9`", "p90"],
  ["a | stats mean(ms)", 10, "Unknown function", "avg"],
  ["a | stats sum()", 10, "needs a field", "sum(field)"],
  ["a | top 5", 9, "needs the fields", "by field"],
  ["a | top 3 error.code", 10, "needs the fields", "by error.code"],
  ["a | top 0 by x", 8, "whole number"],
  ["a | count by bin(5)", 17, "not a duration", "5m"],
  ["a | count by x | where n > 10", 23, "without spaces", "n:>10"],
  ["a | where a,b", 11, "A test is expected"],
  ["a | where n > 10", 10, "without spaces", "n:>10"],
  ["a | count by x | where conut:>10", 23, "no column", "count"],
  ["a | count by x | where boom", 23, "no text"],
  ["a | count by x | patterns", 17, "makes a table"],
  ["a | count by x, x", 4, "two columns"],
  ["a | count by bin(5m), bin(1h)", 4, "two columns `time`: remove one"],
  ["a | count by x limt 5", 15, "Unexpected", "| limit"],
  ["a | facets x", 11, "Unexpected"],
  ["a | context 2 before", 14, "Unexpected"],
  ["a | count by time(1m)", 17, "Unexpected"],
  ["a | count by x | sort -count", 22, "not the name", "count desc"],
  ["a | stats count() | sort -count", 25, "not the name", "count() desc"],
  ["a | count by x | where count:new", 29, "is compared with a number"],
  ["a | stats p99(ms) as slow by x | where slow:~/9/", 44, "a regular expression is not a number"],
  ["a | patterns vs 1d | where before:0*", 34, "is compared with a number"],
  ["a | facets | where entries:many", 27, "is compared with a number"],
  ["a | count by x | fields count | where count:=5", 44, "compares strings", "5"],
  ["a | sort -time", 9, "not the name", "time desc"],
];

it("refuses other texts with the place, what is accepted, and what may be meant", () => {
  for (const [text, position, message, suggestion] of REFUSED) {
    const error = errorOf(text);
    expect({ text, position: error.position, suggestion: error.suggestion }).toEqual({ text, position, suggestion });
    expect(error.message).toContain(message);
  }
});

it("has the levels of entries", () => {
  expect([...LEVEL_NAMES].sort()).toEqual([...LEVELS].sort());
});

it("refuses pipes where only a filter is accepted", () => {
  expect(parseFilterText("a:b").ok).toBe(true);
  expect(parseFilterText("a:b | count")).toMatchObject({ ok: false, error: { position: 4 } });
});

it("tells a column from one whose name is the other in quotes", () => {
  const result = parse('* | stats count(x) as "(", count(x) by "(" | fields "(", "\\"(\\""');
  expect(result).toMatchObject({ ok: true, columns: [{ name: "(" }, { name: '"("' }] });
});

it("prints a query so that it is read as the same query", () => {
  fc.assert(
    fc.property(randomQuery, (query) => {
      for (const text of [print(query), format(query)]) {
        const result = parse(text);
        if (!result.ok && /more than 200|longer/.test(result.error.message)) return;
        expect(result, text).toMatchObject({ ok: true, query });
      }
    }),
    { numRuns: 3000 },
  );
});

const PIECES = [
  "a",
  ":",
  "(",
  ")",
  "|",
  '"',
  "\\",
  "~/",
  "/",
  "*",
  "..",
  "-",
  "OR",
  "AND",
  "NOT",
  " ",
  ",",
  ">=",
  "=",
  "level",
  "time",
  "1h",
  "stats",
  "count",
  "by",
  "bin(",
  "5m",
  "[0]",
  ".",
  "ü",
  "\n",
  "where",
  "as",
  "p99(",
];

it("is total: 100,000 random texts give a query or an error within the text, and tokens in order", () => {
  const random = fc.oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  fc.assert(
    fc.property(random, (text) => {
      const { result, tokens } = analyze(text);
      let end = 0;
      for (const token of tokens) {
        if (token.start < end || token.end <= token.start || token.end > text.length)
          throw new Error(`Token of ${text}`);
        end = token.end;
      }
      placeAt(text, text.length >> 1);
      if (result.ok) {
        const again = parse(print(result.query));
        if (!again.ok || JSON.stringify(again.query) !== JSON.stringify(result.query))
          throw new Error(`${text} is printed as ${print(result.query)}`);
      } else if (result.error.position > text.length || result.error.message === "")
        throw new Error(`Error of ${text}`);
    }),
    { numRuns: 100_000 },
  );
});

it("bounds length, depth and number of tests", () => {
  expect(errorOf("x".repeat(9000)).message).toContain("8,192 bytes");
  expect(errorOf("ü".repeat(5000)).message).toContain("8,192 bytes");
  expect(errorOf("(".repeat(70)).message).toContain("64 deep");
  expect(errorOf(`${"-(".repeat(70)}a`).message).toContain("64 deep");
  expect(errorOf("a ".repeat(201)).message).toContain("200 tests");
  expect(errorOf(`a:(${"x OR ".repeat(200)}x)`).message).toContain("200 tests");
  expect(errorOf(`a:${"(".repeat(70)}x`).message).toContain("64 deep");
});

it("says what may be written at the end of a text", () => {
  expect(placeAt("", 0)).toMatchObject({ kind: "filter", start: 0 });
  expect(placeAt("level:er", 8)).toMatchObject({ kind: "value", start: 6, field: { kind: "own", name: "level" } });
  expect(placeAt("a:b sta", 7)).toMatchObject({ kind: "filter", start: 4 });
  expect(placeAt("a | st", 6)).toMatchObject({ kind: "pipe", start: 4 });
  expect(placeAt("a | stats p9", 12)).toMatchObject({ kind: "function", start: 10 });
  expect(placeAt("a | stats p99(dur", 17)).toMatchObject({ kind: "key", start: 14 });
  expect(placeAt("a | count by x | sort ", 22)).toMatchObject({
    kind: "key",
    columns: [{ name: "x" }, { name: "count" }],
  });
});
