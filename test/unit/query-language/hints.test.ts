import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hintsOf } from "../../../src/query-language/hints.ts";
import { type ExplainedError, explained } from "../../../src/query-language/meant.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { print } from "../../../src/query-language/print.ts";
import { threadMs } from "../../support/thread-time.ts";
import { randomQuery } from "./random-query.ts";

/** Queries with a part of their only hint; after `?` the hint counts only if nothing matched. */
const HINTED: readonly [query: string, hint: string][] = [
  ["timeout or refused", "The operator is `OR`."],
  ["level:error and status:500", "`and` is searched for as a word. The operator is `AND`."],
  ["not level:error", "The operator is `NOT`."],
  ['error not "timed out"', "The operator is `NOT`."],
  ["(a) or (b)", "The operator is `OR`."],
  ["message:/req-\\d+/", "A regular expression is written `~/.../`."],
  ["message:/re d$/", "A regular expression is written `message:~/re d$/`."],
  ["message:/user (a b)/ x", "A regular expression is written `message:~/user (a b)/`."],
  ["/time d$/ x", "A regular expression is written `~/time d$/`."],
  ["message:/timeout/", "A regular expression is written `~/.../`."],
  ["route:/cart/", "?`/cart/` is taken as it is written."],
  ["message:~timeout", "A regular expression is written `~/.../`."],
  ["host:=~web", "A regular expression is written `~/.../`."],
  ["message=~web", "A regular expression is written `~/.../`."],
  ["/^GET/", "A regular expression is written `~/.../`."],
  ["/timeout/", "?A regular expression"],
  ["level=error", "`level=error` is searched for as text. A field is tested by `level:error`."],
  ['message="timed out"', 'by `message:"timed out"`.'],
  ["level!=error", "by `-level:error`."],
  ["level:", "?`level:` is searched for as text. A value touches the colon: `level:error`."],
  ["level:error service: | count", "?A value touches the colon: `service:value`."],
  ["ms>10", "by `ms:>10`."],
  ["ms > 10", "`ms > 10` is searched for as text. A field is tested by `ms:>10`."],
  ["level>=warn", "by `level:>=warn`."],
  ["* | where ms>10", "by `ms:>10`."],
  ["status:5xx", "`status:5xx` compares the whole value. A range is written `status:500..599`."],
  ["status:(200 OR 4XX)", "`status:400..499`"],
  ["* | count by status | where status:5xx", "`status:500..599`"],
  ["user.plan:!free", "A negation is written `-user.plan:free`."],
  ["!level:error", "A negation is written `-level:error`."],
  ["!timeout", "?A negation is written `-timeout`."],
  ["ms:1...5", "A range is written `ms:1..5`."],
  ["status:[500,502]", "A list is written `status:(500 OR 502)`."],
  ["status:[* TO *]", "is written `status:*`."],
  ['{path=~"/api/v1", level!="info"}', "It is written `path:~/\\/api\\/v1/ -level:info`."],
  ["time:", "?A value touches the colon: `time:1h`."],
  ["status:[500, 502]", "A list is written `status:(500 OR 502)`."],
  ["status:[500 TO 599]", "A range is written `status:500..599`."],
  ["status:500,502", "?A list is written `status:(500 OR 502)`."],
  ["user:'bob'", 'A text is quoted by `"`'],
  ["'timed out'", '?A phrase is written `"timed out"`.'],
  ["message:user", "?`message:user` compares the whole message. `message:*user*` or `user` finds a part."],
  ['message:"timed out"', '?`"timed out"` finds a part.'],
  ["time:<2h", "`time:<2h` finds entries older than 2h. `time:2h` is the last 2h."],
  ["received:<=90m", "`received:90m` is the last 90m."],
  ["route:POST /orders", '?With it the value is written `route:"POST /orders"`.'],
  ["-route:POST /orders/*", "?is written `route:POST*/orders/*`."],
  ["level:warn OR error", "`error` is searched for as text. Values of one field are written `level:(warn OR error)`."],
  ["a level:>=warn OR error OR FATAL b", "`level:(>=warn OR error OR FATAL)`"],
  ["status:500 OR 502", "`status:(500 OR 502)`"],
  ["* | where route:/a OR /b", "`route:(/a OR /b)`"],
  ['{app="api", env=~"x"}', "`app:api env:~/x/`"],
  ['rate({job!~"a.*"}[5m])', "`-job:~/a.*/`"],
  ['message contains "timed out"', "`message:*timed*out*`"],
  ["message LIKE '%timeout%'", "`message:*timeout*`"],
  ['route startswith "/api"', "`route:/api*`"],
  ["status in (500, 502)", "`status:(500 OR 502)`"],
  ["status not in (500)", "`-status:(500)`"],
  ["ms between 100 and 200", "`ms:100..200`"],
  ["* | where ms between (100 .. 200)", "`ms:100..200`"],
  ['message =~ "time.*"', "`message:~/time.*/`"],
  ["timestamp > ago(1h)", "`time:1h`"],
  ["earliest=-15m@m error", "`time:15m`"],
  ["select * from logs where level = 'error'", "SQL is searched for as words."],
  ["level:error && status:500", "White space means AND."],
  ["level: error", "?A value touches the colon: `level:error`."],
  ["ms:>100 AND <200", "Each test names its field: `ms:<200`."],
  ["ms:100 TO 200", "`ms:100..200`"],
  ["status:500-599", "?A range is written `status:500..599`."],
  ["status:[500 TO *]", "`status:>=500`"],
  ["status:[* TO 5]", "`status:<=5`"],
  ["status:{500 TO 599}", "`status:500..599`"],
  ["@timestamp:[now-1h TO now]", "`time:1h`"],
  ["_exists_:route", "?Entries with a field are found by `route:*`."],
  ["-has:route", "?Entries without a field are found by `-route:*`."],
  ["route:null", "?`-route:*`"],
  ["_time:5m", "?`time:5m`"],
  ["* | limit 10 | sort ms desc", "leaves only the newest 10 entries to sort. To sort all: `sort ms desc | limit 10`."],
  ["* | limit 5 | where a:b | sort ms", "`sort ms | limit 5`"],
  ["* | count by route | limit 5 | sort count desc", "only the first 5 rows to sort"],
  ["* | fields time, ms | limit 5 | sort ms", "`sort ms | limit 5`"],
  ["message:~/in \\d{4,} ms/$", "Within the expression it is written `~/in \\d{4,} ms$/`."],
  ["~/v/i.*/x/i b", "is written `~/v.*\\/x/i`."],
];

it("hints at what is accepted and probably means something else", () => {
  for (const [query, hint] of HINTED) {
    const hints = hintsOf(query);
    expect(hints, query).toHaveLength(1);
    expect(hints[0], query).toMatchObject({
      message: expect.stringContaining(hint.replace(/^\?/, "")),
      ifNothing: hint.startsWith("?"),
    });
  }
});

it("states the place of a hint", () => {
  expect(hintsOf("level:error status:5xx or x=1").map(({ position }) => position)).toEqual([19, 23, 26]);
});

it("has the operator that is meant, where a word is as long", () => {
  expect(hintsOf("level:error status:5xx or x=1").map(({ correction }) => correction)).toEqual([
    undefined,
    "OR",
    undefined,
  ]);
});

it("states what is to be said of a pipe after a hint that reaches over another", () => {
  const query = `select a from b where c | where d | where ${"x".repeat(300)} | limit 10 | sort ms`;
  const messages = hintsOf(query).map(({ message }) => message);
  expect(messages).toEqual([
    expect.stringContaining("SQL is searched for as words."),
    expect.stringContaining("`limit 10` before `sort`"),
  ]);
});

/** What people search for and mean. */
const USUAL = [
  "",
  "*",
  "timeout",
  "user not found",
  "not found",
  "order not and",
  '"this or that"',
  '"level=error"',
  "level:error -category:cache",
  "level:error AND (status:500 OR status:502) NOT route:/health",
  "route:/api/users/*",
  "/api/users",
  "route:/api x/",
  "GET /api/users - /x",
  "https://example.com/a?b=c",
  "12:30",
  "std::vector<int>",
  "Promise<void>",
  "a->b",
  "a=>b",
  "dGV4dA==",
  "Error: connect",
  "can't",
  "version:~1.2",
  "status:500..599",
  "status:(500 OR 502)",
  'state:"5xx"',
  "file:a.b.c",
  "ms:>=2.5",
  "time:2h",
  "time:>2h",
  "time:<2026-11-22",
  "-time:<2h",
  "message:~/user \\d+$/i",
  "message:*user*",
  "message:=user",
  "message:(*a* OR *b*)",
  "items[0].id:x",
  "~/re/",
  "level:error /api/users",
  "status:500 /api/users",
  "method:POST /orders",
  "service:api timeout",
  "level:error OR timeout",
  "level:error OR level:fatal OR fatal",
  "service:api OR web",
  "level:(warn OR error)",
  "status:500 OR 500",
  "(~/re/ OR ~/a/i) b",
  "x time:1h | patterns 20 vs 1d",
  "ms:* | stats count() as n, p99(ms) by route, bin(1h) | where n:>5 | sort n desc | limit 20",
  "* | limit 100 | sort time",
  "* | fields time, ms | limit 10 | sort time",
  "* | sort ms desc | limit 10 | sort route",
  "* | top 10 by route | limit 5 | sort route",
  "* | limit 100 | count by route | sort count desc",
  "select a plan from the list now",
  "date:2026-11",
  "nobody is in here",
  "nothing between the two",
  'said "no" in (a b)',
  "a |",
  "level:[error",
];

it("gives none for usual queries, nor for a text that is no query", () => {
  for (const query of USUAL) expect(hintsOf(query), query).toEqual([]);
});

it("gives none for the tour, and one for what the document lists", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../../docs/query-language.md"), "utf8");
  const tour = [...page.matchAll(/^```query\n(.*?)\n```$/gms)].map(([, query = ""]) => query);
  expect(tour.length).toBeGreaterThan(9);
  for (const query of tour) {
    expect(parse(query).ok, query).toBe(true);
    expect(hintsOf(query), query).toEqual([]);
  }
  const [, table = ""] = /^### Hints\n(.*?)^## /ms.exec(page) ?? [];
  const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => [...cell.matchAll(/`(.*?)`/g)]);
  expect(listed.length).toBeGreaterThan(9);
  for (const [, query = ""] of listed) expect(hintsOf(query), query).toHaveLength(1);
});

it("gives at most 5, in bounded time, whatever the text is", () => {
  expect(hintsOf("a=1 b=2 c=3 d=4 e=5 f=6 g=7")).toHaveLength(5);
  const hostile = [
    "a:".padEnd(8000, "."),
    "a:1".padEnd(8000, "."),
    "'".repeat(150).split("").join(" "),
    "a:[".repeat(2000),
    `a:${"[ ".repeat(150)}`,
    "/".padEnd(8000, "["),
    "x".padEnd(8000, "="),
    `level:(${"a".repeat(7000)})`,
    `a${"(".repeat(3000)}]`,
    `* | stats ${"count ".repeat(60)}`,
    `${"a:b ".repeat(190)} | where ${"a= b ".repeat(60)}`,
    `* | x ${"by bin ".repeat(50)}`,
    `a:(${">1 AND <2 ".repeat(30)})`,
  ];
  for (const query of hostile) {
    const times = [1, 2, 3].map(() => {
      const start = threadMs();
      hintsOf(query);
      const result = parse(query);
      if (!result.ok) {
        const { position, corrected } = explained(query, result.error, 0);
        expect(position).toBeLessThanOrEqual(query.length);
        // What is suggested is right itself, or the error is further on.
        const next = parse(corrected ?? "");
        if (!next.ok) expect(next.error.position).toBeGreaterThan(position);
      }
      return threadMs() - start;
    });
    // The rest is the machine's.
    expect(Math.min(...times), query.slice(0, 20)).toBeLessThan(200);
  }
  fc.assert(
    fc.property(fc.oneof(randomQuery.map(print), fc.string({ unit: "binary", maxLength: 40 })), (query) => {
      const broken = `${query} | ${query.slice(0, 20)}`;
      const result = parse(broken);
      if (!result.ok) explained(broken, result.error, NOW);
      const hints = hintsOf(query);
      expect(hints.length).toBeLessThanOrEqual(5);
      for (const { position } of hints) expect(position).toBeLessThan(query.length);
    }),
    { numRuns: 2000 },
  );
});

const NOW = Date.UTC(2026, 10, 23, 12);

/** Errors: position, part of the message, suggestion. */
const EXPLAINED: readonly [query: string, position: number, message: string, suggestion?: string][] = [
  ["time:today", 5, "takes a time", "2026-11-23"],
  ["x received:yesterday | count", 11, "takes a time", "2026-11-22"],
  ["time:someday", 5, "takes a time"],
  ["level:(error, fatal)", 6, "joined by `OR`", "level:(error OR fatal)"],
  ["a:b level:(error,fatal) c", 10, "joined by `OR`", "level:(error OR fatal)"],
  ["a:(x or y)", 2, "joined by `OR`", "a:(x OR y)"],
  ["level:[error,fatal]", 6, "joined by `OR`", "level:(error OR fatal)"],
  ["level:warn...error", 6, "Unknown level", "warn..error"],
  ['message:~"\\d"', 8, "`~/.../`", "message:~/\\d/"],
  ["level:eror a:(x OR y)", 6, "Unknown level `eror`", "error"],
  ["level:(x, y)", 7, "Unknown level"],
  ["* | patterns vs 1d | where change:new", 34, "`new` is not a number", "before:0"],
  ["* | patterns vs 1d | where change:Gone", 34, "is not a number", "count:0"],
  ["* | patterns vs 1d | where change:risen", 34, "is not a number", "change:>0"],
  ["* | count by a | where count:big", 29, "`big` is not a number"],
  ["* | patterns vs 2026-11-21", 16, "`vs` takes a duration", "2d"],
  ["* | patterns 5 vs yesterday", 18, "`vs` takes a duration", "1d"],
  ["* | patterns vs last week", 16, "`vs` takes a duration", "7d"],
  ["* | patterns vs 2027-01-01", 16, "not a duration", "1d"],
  ["* | count by service per 10m", 21, "Spans of time are a key", ", bin(10m)"],
  ["* | stats p99(ms) per minute", 18, "Spans of time are a key", "by bin(1m)"],
  ["* | context 3 3", 14, "`context` takes one number"],
  ["* | context 3, 3", 13, "`context` takes one number"],
  ["time:last 12h", 5, "takes a time", "time:12h"],
  ["a time:last_24_hours b", 7, "takes a time", "time:24h"],
  ['time:"past hour" | count', 5, "takes a time", "time:1h"],
  ["time:12 hours", 5, "takes a time", "time:12h"],
  ["received:>now-90m", 10, "takes a time", "received:90m"],
  ["time:>=-1h30m", 7, "takes a time", "time:90m"],
  ["time:<now-1h", 6, "takes a time"],
  ["time:last month", 5, "takes a time"],
  ["* | stats count() as n, count(status:>=500) as m by bin(1h)", 36, "(`status:>=500 | stats count()`)"],
  ["* | stats count(level:error)", 21, "`level:error | stats count()`"],
  ["* | stats sum( status >= 500 )", 22, "(`status:>=500 | stats count()`), or count by the field (`count by status`)"],
  ["* | stats count(a!=b)", 17, "`-a:b | stats count()`"],
  ["* | stats countIf(status = 500)", 10, "`status:500 | stats count()`"],
  ["* | stats count(a b)", 18, "The parenthesis is not closed"],
  ["(status:500", 0, "The parenthesis is not closed", "(status:500)"],
  ["* | stats percentile(ms,95)", 10, "Unknown function `percentile`", "p95(ms)"],
  ["* | stats count(), quantile(0.999, a.b) as q", 19, "Unknown function `quantile`", "p999(a.b)"],
  ["* | stats percentiles(ms, 50, 99) by x", 10, "Unknown function", "p50(ms), p99(ms)"],
  ["* | stats percentile(ms, 42)", 10, "Unknown function `percentile`"],
  ["* | stats count() by service, 10m", 30, "Spans of time are a key", "bin(10m)"],
  ["* | count by 5 minutes", 13, "Spans of time are a key", "bin(5m)"],
  ["* | sort 10m", 9, "not the name of a field", '"10m"'],
  ["* | stats count() as n by a | sort by n desc", 35, "without `by`", "sort n desc"],
  ["* | sort by ms | limit 5", 9, "without `by`", "sort ms"],
  ["* | count by a | order by -count | limit 5", 23, "without `by`", "sort count desc"],
  ["* | count by a | sort by nn", 22, "no column `by`"],
  ["route:~/api/v1/", 6, "unknown flag", "~/api\\/v1/"],
  ["a ~/x/items/i b", 2, "unknown flag", "~/x\\/items/i"],
  ["~/x/gi", 4, "unknown flag"],
  ["* | limit 5 5", 12, "`limit` takes one number"],
];

it("suggests what the parser cannot know", () => {
  for (const [query, position, message, suggestion] of EXPLAINED) {
    const result = parse(query);
    if (result.ok) throw new Error(query);
    const error = explained(query, result.error, NOW);
    expect({ query, position: error.position, suggestion: error.suggestion }).toEqual({ query, position, suggestion });
    expect(error.message).toContain(message);
  }
});

/** What people write who are used to other languages, with what it becomes. */
const CORRECTED: readonly [query: string, corrected: string][] = [
  ["a level:eror b", "a level:error b"],
  ["a:!=x b", "-a:x b"],
  ["time:1h.. b", "time:>=1h b"],
  ["a time:last 12h b", "a time:12h b"],
  ['time:"past hour" | count', "time:1h | count"],
  ["time:>now-1h b", "time:1h b"],
  ["time:10:30..11:00", "time:2026-11-23T10:30..2026-11-23T11:00"],
  ["a level:[error,fatal] b", "a level:(error OR fatal) b"],
  ["* | where status in (500, 502) | count", "* | where status:(500 OR 502) | count"],
  ["ms:(>100 AND <200) b", "(ms:>100 ms:<200) b"],
  ["status:<>200 b", "-status:200 b"],
  ["ms:>1s b", "ms:>1000 b"],
  ['message:~"\\d" b', "message:~/\\d/ b"],
  ["route:~/api/v1/ b", "route:~/api\\/v1/ b"],
  ["a || b", "a OR b"],
  ["AND a", "a"],
  ["(a | count", "(a) | count"],
  ['level:"error', 'level:"error"'],
  ['{app="api"} |= "error"', 'app:api "error"'],
  ['{app="api"} |~ "a/b" | count', "app:api ~/a\\/b/ | count"],
  ["a | json | status >= 500", "a | where status:>=500"],
  ["a | head 10", "a | limit 10"],
  ["a | stats count by route", "a | stats count() by route"],
  ["a | stats count(*) by route", "a | stats count() by route"],
  ["a | stats p95 ms by route", "a | stats p95(ms) by route"],
  ["a | stats count() n by route", "a | stats count() as n by route"],
  ["a | stats dc(user.id) by route", "a | stats count_distinct(user.id) by route"],
  ["a | stats percentile(ms, 95) by route", "a | stats p95(ms) by route"],
  ["a | stats count() where status:500", "a | where status:500 | stats count()"],
  ["a | count(*) by route", "a | count by route"],
  ["a | count as n by route", "a | stats count() as n by route"],
  ["a | count by route having count > 5", "a | count by route | where count:>5"],
  ["a | count by route per 10m", "a | count by route, bin(10m)"],
  ["a | count by route, 5 minutes", "a | count by route, bin(5m)"],
  ["a | summarize count() by bin(timestamp, 5m)", "a | stats count() by bin(5m)"],
  ["a | timechart span=5m count by level", "a | stats count() by level, bin(5m)"],
  ["a | count by span(1h) | limit 3", "a | count by bin(1h) | limit 3"],
  ["a | bucket time span=5m", "a | count by bin(5m)"],
  ["a | avg(ms) by route", "a | stats avg(ms) by route"],
  ["a | percentile(ms, 95)", "a | stats p95(ms)"],
  ["a | max ms", "a | stats max(ms)"],
  ["a | rate 5m", "a | stats rate() by bin(5m)"],
  ["a | table time, route", "a | fields time, route"],
  ["a | fields + time route", "a | fields time, route"],
  ["a | dedup route", "a | count by route"],
  ["a | group by route | sort count", "a | count by route | sort count"],
  ["a | tail 5", "a | limit 5"],
  ["a | grep x=1", "a | where x:1"],
  ['a | filter level == "error" and ms > 5', 'a | where level:"error" ms:>5'],
  ["a | route:/api", "a | where route:/api"],
  ["a | count by r | where count > 5", "a | count by r | where count:>5"],
  ['a | count by r | where count>=5 AND r != "x y"', 'a | count by r | where count:>=5 -r:"x y"'],
  ["a | top 5 by ms desc", "a | sort ms desc | limit 5"],
  ["a | top limit=5 route", "a | top 5 by route"],
  ["a | sort ms DESC", "a | sort ms desc"],
  ["a | order by ms desc | limit 3", "a | sort ms desc | limit 3"],
  ["a | facets route", "a | top 10 by route"],
  ["a | patterns 10 by route", "a | count by pattern, route"],
  ["a | patterns vs last week", "a | patterns vs 7d"],
  ['a | grep "status=500"', 'a | where "status=500"'],
  ["a | grep 'timed and out'", 'a | where "timed and out"'],
  ["a | grep can't and won't", "a | where can't won't"],
  ['a | search "timeout and retry"', 'a | where "timeout and retry"'],
  ['a | where message = "a=b and c"', 'a | where message:"a=b and c"'],
  ["a | grep -v debug", "a | where -(debug)"],
  ["a | grep -v -i x=1 and b", "a | where -(x:1 b)"],
  ["a | grep -i error", "a | where error"],
  ["a | search -error", "a | where -error"],
  ["a | stats count() by route | fields rout, count()", "a | stats count() by route | fields route, count()"],
  ["a | stats count(*), avg ms", "a | stats count(), avg(ms)"],
  ['{app="api"} |= `"status":500`', 'app:api "\\"status\\":500"'],
  ['{app="api"} |~ "a\\\\d+"', "app:api ~/a\\d+/"],
  ['{app="api"} |~ `a\\/b/c`', "app:api ~/a\\/b\\/c/"],
  ['* |~ "a b"', "* |where ~/a b/"],
  ["a | rate by route", "a | stats rate() by route, bin(5m)"],
  ["a | rate(1m) by bin(10m)", "a | stats rate() by bin(10m)"],
  ["a | rate(ms)", "a | stats rate(ms)"],
  ["a | stats rate(5m) by route", "a | stats rate() by route, bin(5m)"],
  ["a | stats rate(5m) as r, count()", "a | stats rate() as r, count() by bin(5m)"],
  ["a | top by ms desc", "a | sort ms desc | limit 10"],
  ["ms:>1,000 b", "ms:>1000 b"],
  ["a | patterns vs 1d | where change:new", "a | patterns vs 1d | where before:0"],
];

function explain(query: string): ExplainedError {
  const result = parse(query);
  if (result.ok) throw new Error(`The query has no error: ${query}`);
  return explained(query, result.error, NOW);
}

it("writes the suggestion into the query", () => {
  for (const [query, corrected] of CORRECTED) {
    expect({ query, corrected: explain(query).corrected }).toEqual({ query, corrected });
    expect(parse(corrected).ok, corrected).toBe(true);
  }
  // One error at a time: what follows is not changed.
  expect(explain("level:eror | head 3 | x").corrected).toBe("level:error | head 3 | x");
});

/** Errors that no suggestion corrects. */
const UNCORRECTED: readonly [query: string, message: string][] = [
  ["level:>=", "A value is missing"],
  ["a | eval x=ms*2", "`eval` does not exist: queries make no new values"],
  ["a | join b", "`join` does not exist: a query reads one set of entries"],
  ["a | json", "`json` is not needed: members of `data` are fields"],
  ["a | fields - route", "`fields` names the columns that remain"],
  ["a | stats count() by bin(ms, 100)", "`bin` makes spans of time, and takes a duration alone"],
  ["a | sum(ms)/count()", "queries make no new values"],
  ["a | stats count() as n, sum(ms) / 5 as m", "queries make no new values"],
  ["a | last 5 by time", "Unknown pipe `last`"],
  ["a | stats sum(5)", "`5` is not the name of a field"],
  ["a | project a, b as c", "`fields` names each column by its field alone"],
  ["a | project ms = d", "`fields` names each column by its field alone"],
  ["a | select *", "`fields` names each column by its field alone"],
  ["a | grep -A 3 error", "Unknown pipe `grep`"],
  ["a | stats count(status >= 500) / count()", "A function takes a field and no test."],
];

it("suggests nothing where nothing is meant", () => {
  for (const [query, message] of UNCORRECTED) {
    const { corrected, suggestion, ...error } = explain(query);
    expect({ query, corrected, suggestion }).toEqual({ query, corrected: undefined, suggestion: undefined });
    expect(error.message).toContain(message);
  }
});
