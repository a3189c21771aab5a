import {
  type Check,
  type Comparison,
  expectAll,
  expectCounts,
  expectDistinct,
  expectEntries,
  expectPercentiles,
  expectTop,
  type Goal,
  type Row,
} from "./comparison.ts";
import { type Fields, levelOf, messageAt, RARE_TEXT, searchedTrace, traceIdAt } from "./entries.ts";
import { type Facts, isoOf, routeOf, userOf } from "./facts.ts";
import { PAGE } from "./service.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TOP = 10;
const USER = "usr_77";
const PATTERNS = 50;

/** Milliseconds of VictoriaLogs when the targets were set, on 5 million entries over 24 h. */
const PEER_MS = { byHour: 19, byMinute: 11, percentile: 364, top: 40 } as const;

const times = (timesPeer: number, peerMs: number): Goal => ({ atMost: timesPeer * peerMs, timesPeer });
const within = (atMost: number): Goal => ({ atMost, timesPeer: null });

/** Questions that `POST /logger/query` and `POST /logger/stats` answer, with their targets. */
export function apiQuestions(facts: Facts): Comparison[] {
  const { data } = facts;
  const all = { from: data.start, to: data.end };
  const range = { from: isoOf(data.start), to: isoOf(data.end) };
  const recent = { from: data.end - 3 * HOUR_MS, to: data.end };
  const isRecent = (index: number) => Date.parse(facts.binOf(index, 1)) >= recent.from;
  const percentiles = expectPercentiles(facts.percentiles(0.99, routeOf), ({ route }) => String(route), "value");
  const users = expectDistinct(facts.distinctUsers(routeOf), ({ route }) => String(route), "value");
  const entries = (
    name: string,
    goal: Goal | null,
    filters: object,
    query: string,
    expected: string[],
  ): Comparison => ({
    name,
    grows: "logarithm",
    goal,
    request: { path: "/logger/query", body: { filters: { ...filters, ...range }, pagination: {} } },
    peer: { query, ...all, limit: PAGE, check: expectEntries(expected) },
    check: expectEntries(expected),
  });
  const table = (
    name: string,
    goal: Goal | null,
    { filters, ...body }: Record<string, unknown>,
    query: string,
    check: Check | Record<"service" | "peer", Check>,
    span = all,
  ): Comparison => {
    const bounds = { from: isoOf(span.from), to: isoOf(span.to) };
    const checks = typeof check === "function" ? { service: check, peer: check } : check;
    return {
      name,
      grows: "linear",
      goal,
      request: { path: "/logger/stats", body: { ...body, filters: { ...(filters ?? {}), ...bounds } } },
      peer: { query, ...span, limit: null, check: checks.peer },
      check: checks.service,
    };
  };
  const count = [{ fn: "count", as: "value" }];
  return [
    table(
      "count by hour where durationMs >= 1000",
      times(5, PEER_MS.byHour),
      { aggregations: count, groupBy: [{ bin: "1h" }], filters: { data: { durationMs: { gte: 1000 } } } },
      "data.durationMs:>=1000 | stats by (_time:1h) count() value",
      expectCounts(
        facts.counts(({ durationMs }, index) => (durationMs >= 1000 ? facts.binOf(index, HOUR_MS) : null)),
        timeOf,
        "value",
      ),
    ),
    table(
      "count by minute where the text has checkout, 3 h",
      times(4, PEER_MS.byMinute),
      { aggregations: count, groupBy: [{ bin: "1m" }], filters: { search: "checkout" } },
      "checkout | stats by (_time:1m) count() value",
      expectCounts(
        facts.counts((fields, index) =>
          routeOf(fields) === "/checkout" && isRecent(index) ? facts.binOf(index, MINUTE_MS) : null,
        ),
        timeOf,
        "value",
      ),
      recent,
    ),
    table(
      "p99 of durationMs by route",
      times(1.5, PEER_MS.percentile),
      { aggregations: [{ fn: "p99", field: "durationMs", as: "value" }], groupBy: ["route"] },
      "* | stats by (data.route) quantile(0.99, data.durationMs) value | rename data.route as route",
      percentiles,
    ),
    table(
      "top 10 users by errors",
      times(1.5, PEER_MS.top),
      { aggregations: count, groupBy: ["user.id"], filters: { level: "error" }, sort: { by: "value" }, limit: TOP },
      `level:=error | stats by (data.user.id) count() value | sort by (value) desc limit ${TOP} | rename data.user.id as user.id`,
      expectTop(
        TOP,
        facts.counts((fields) => (levelOf(fields.status) === "error" ? userOf(fields) : null)),
        (row) => String(row["user.id"]),
        "value",
      ),
    ),
    table(
      "distinct users by route",
      times(1.5, PEER_MS.top),
      { aggregations: [{ fn: "count_distinct", field: "user.id", as: "value" }], groupBy: ["route"] },
      "* | stats by (data.route) count_uniq(data.user.id) value | rename data.route as route",
      users,
    ),
    table(
      "count by minute and level",
      null,
      { aggregations: count, groupBy: ["level", { bin: "1m" }] },
      "* | stats by (_time:1m, level) count() value",
      expectCounts(
        facts.counts(({ status }, index) => `${facts.binOf(index, MINUTE_MS)} ${levelOf(status)}`),
        (row) => `${timeOf(row)} ${row.level}`,
        "value",
      ),
    ),
    entries(
      "newest 100 where status = 500 and durationMs >= 1495",
      within(100),
      { data: { status: 500, durationMs: { gte: 1495 } } },
      "data.status:=500 data.durationMs:>=1495",
      facts.newest(PAGE, ({ status, durationMs }) => status === 500 && durationMs >= 1495),
    ),
    entries(
      "rare substring inside a word",
      within(60),
      { search: RARE_TEXT },
      // Without its case, which costs the peer a hundred times as much.
      '~"glasspet"',
      facts.newest(PAGE, (_, index) => facts.isRare(index)),
    ),
    entries(
      "one trace id",
      within(8),
      { traceId: traceIdAt(searchedTrace(data)) },
      `traceId:=${traceIdAt(searchedTrace(data))}`,
      [traceIdAt(searchedTrace(data))],
    ),
    entries(
      "newest 100 of one user",
      within(60),
      { data: { "user.id": USER } },
      `data.user.id:=${USER}`,
      facts.newest(PAGE, (fields) => userOf(fields) === USER),
    ),
    entries(
      "newest 100 errors",
      null,
      { level: "error" },
      "level:=error",
      facts.newest(PAGE, ({ status }) => status === 500),
    ),
  ];
}

/** Questions in the query language, for `POST /logger/search`. At most twice the peer's time. */
export function languageQuestions(facts: Facts): Comparison[] {
  const { data } = facts;
  const range = { from: isoOf(data.start), to: isoOf(data.end) };
  const ask = (query: string, peer: string | null, check: Check, peerCheck = check): Comparison => ({
    name: query,
    grows: "linear",
    goal: { atMost: null, timesPeer: 2 },
    request: { path: "/logger/search", body: { query, ...range } },
    peer: peer === null ? null : { query: peer, from: data.start, to: data.end, limit: null, check: peerCheck },
    check,
  });
  const routeAndTime = (fields: Fields, index: number) => `${facts.binOf(index, 5 * MINUTE_MS)} ${routeOf(fields)}`;
  const cells = (row: Row) => `${timeOf(row)} ${row.route}`;
  const percentiles = expectPercentiles(facts.percentiles(0.99, routeAndTime), cells, "p99(durationMs)");
  // Its quantiles of small groups are other values than the nearest rank, so only its counts are compared.
  const counts = expectCounts(facts.counts(routeAndTime), cells, "count()");
  const matchCount = (pattern: RegExp) => {
    const isMatch = (fields: Fields, index: number) => pattern.test(messageAt(facts.data, index, fields));
    const counts = facts.counts((fields, index) => (isMatch(fields, index) ? "all" : null));
    return expectCounts(new Map([["all", counts.get("all") ?? 0]]), () => "all", "count");
  };
  return [
    ask(
      "level:error | top 10 by user.id",
      "level:=error | stats by (data.user.id) count() count | sort by (count) desc limit 10 | rename data.user.id as user.id",
      expectTop(
        TOP,
        facts.counts((fields) => (levelOf(fields.status) === "error" ? userOf(fields) : null)),
        (row) => String(row["user.id"]),
        "count",
      ),
    ),
    ask(
      "* | stats count(), p99(durationMs) by route, bin(5m)",
      '* | stats by (_time:5m, data.route) count() "count()", quantile(0.99, data.durationMs) "p99(durationMs)" | rename data.route as route',
      (answer) => percentiles.service(answer) ?? counts(answer),
      counts,
    ),
    ask(
      '"time" -status:200..399 | count by bin(1m)',
      "~time -data.status:range[200,399] | stats by (_time:1m) count() count",
      expectCounts(
        facts.counts(({ isTimeout }, index) => (isTimeout ? facts.binOf(index, MINUTE_MS) : null)),
        timeOf,
        "count",
      ),
    ),
    ask(
      `* | patterns ${PATTERNS}`,
      `* | collapse_nums | top ${PATTERNS} by (_msg) hits as count`,
      expectAll(facts, "count"),
    ),
    ask(
      String.raw`message:~/status 50\d: timeout after 1[34]\d\d/ | count`,
      String.raw`_msg:~"status 50\\d: timeout after 1[34]\\d\\d" | stats count() count`,
      matchCount(/status 50\d: timeout after 1[34]\d\d/),
    ),
    ask(
      String.raw`message:~/\w{3} 14[0-9][0-9] \w+$/ | count`,
      String.raw`_msg:~"\\w{3} 14[0-9][0-9] \\w+$" | stats count() count`,
      matchCount(/\w{3} 14[0-9][0-9] \w+$/),
    ),
  ];
}

/** Queries for which completions are asked, with the cursor at the end. */
export const SUGGESTED = ["level:error st", "level:error status:", "route:/api", "* | stats p99("];

function timeOf(row: Row): string {
  return isoOf(Date.parse(String(row.time)));
}
