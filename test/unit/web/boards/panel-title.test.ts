import { expect, it } from "vitest";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { titleOf } from "../../../../web/src/pages/boards/panel-title.ts";

it.each([
  ['"payment failed" | count by level, bin(5m)', "Entries with “payment failed” by level"],
  ["level:>=error | count by service, bin(5m)", "Errors by service"],
  ['level:error "payment failed" | count by bin(5m)', "Errors with “payment failed”"],
  ["level:error | count by service", "Errors by service"],
  ["level:>=error | count by level, bin(5m)", "Errors"],
  ["level:>=warn | count by level, bin(5m)", "Warnings and errors by level"],
  [
    'pattern:="charge of ord-<N> failed: nordpay timed out" | count by level, bin(5m)',
    "Entries like “charge of ord-… failed: nordpay timed out” by level",
  ],
  ['level:>=error pattern:="\\"<N>\\" is no id" | count', 'Errors like “"…" is no id”'],
  ["pattern:started | count", "Entries like “started”"],
  ["pattern:* | count", "Entries: pattern:*"],
  ['pattern:="a <N>" host:b | count', "Entries on b like “a …”"],
  ["level:error OR timeout | count", "Entries: level:error OR timeout"],
  ["level:>=warn | top 5 by host", "Top 5 by host: warnings and errors"],
  ["level:>=error nordpay | count by level, bin(5m)", "Errors with “nordpay”"],
  ["level:error nordpay | count by level, bin(5m)", "Errors with “nordpay”"],
  [
    "timeout service:payments status:502 | count by route",
    "Entries of payments with “timeout” and status 502 by route",
  ],
  ["level:warn service:payments | stats p95(ms) by route", "p95 of ms by route: warnings of payments"],
  ["-timeout level:error | count", "Entries: -timeout level:error"],
  ["level:info level:warn | count", "Entries: level:info level:warn"],
  ["status:>=500 | count by host", "Entries by host: status:>=500"],
  ["* | stats count() by category, bin(10m)", "Entries by category"],
  ["* | count", "Entries"],
  ["level:>=error | where host:a | top 10 by category, type | where count:>5", "Top 10 by category, type: errors on a"],
  ["* | stats avg(ms), max(ms) by route | sort max(ms) desc | limit 5", "Average of ms, highest ms by route"],
  ["* | stats p95(ms) by bin(1h)", "p95 of ms"],
  ['* | stats p95(ms) as "slow ones" by route', "slow ones by route"],
  ["a OR b | rare by host", "Rarest by host: a OR b"],
  ["* | stats count_distinct(user), rate()", "Distinct user, entries per second"],
  ["timeout | patterns 10", "Top patterns: entries with “timeout”"],
  ["* | facets", "Fields"],
  // Others keep their pipes.
  [
    "* | stats count() as n by route, host | stats max(n) by host",
    "stats count() as n by route, host | stats max(n) by host",
  ],
  ["* | patterns 10 vs 1d", "patterns 10 vs 1d"],
  ["| |", ""],
])("suggests a title for %s", (query, title) => {
  expect(titleOf(query)).toBe(title);
});

it("keeps the limit of the service, which counts UTF-16 units, and has no half of a pair and no control character", () => {
  const long = titleOf(`${"😀".repeat(300)} | count`);
  expect(long.length).toBeGreaterThan(BOARD_LIMITS.title - 2);
  expect(long.length).toBeLessThanOrEqual(BOARD_LIMITS.title);
  expect(long.isWellFormed()).toBe(true);
  expect(titleOf("~/a\tb/ | count")).toBe("Entries: ~/a b/");
});
