import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/cli/failure.ts";
import { jsonLine, prettyLine, type StoredEntry } from "../../src/cli/pretty.ts";
import { backoff } from "../../src/cli/retry.ts";
import { formatTime, formatWait, parseDuration, parseTime } from "../../src/cli/time.ts";

const ESCAPE = "\u001b";
const ENTRY: StoredEntry = {
  seq: 1,
  timestamp: new Date(2026, 10, 20, 14, 3, 5, 7).toISOString(),
  level: "error",
  category: "http",
  type: "response",
  message: "GET /x",
};

test.each([
  ["90s", 90_000],
  ["15m", 900_000],
  ["1h30m", 5_400_000],
  ["1.5h", 5_400_000],
  ["2d", 172_800_000],
  ["1w", 604_800_000],
  ["250ms", 250],
  ["", null],
  ["5", null],
  ["5y", null],
  ["-5m", null],
  ["5 m", null],
])("a duration: %s", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ["2026-11-20T14:00Z", Date.UTC(2026, 10, 20, 14)],
  ["2026-11-20T14:00:01.5+02:00", Date.UTC(2026, 10, 20, 12, 0, 1, 500)],
  ["2026-11-20T14:00", new Date(2026, 10, 20, 14).getTime()],
  ["2026-11-20 14:00", new Date(2026, 10, 20, 14).getTime()],
  ["2026-11-20", new Date(2026, 10, 20).getTime()],
  ["1795183200000", 1_795_183_200_000],
  ["15m", 100_000_000 - 900_000],
  ["now", 100_000_000],
  ["2026-02-30", null],
  ["2026-13-01", null],
  ["2026-11-20T25:00", null],
  ["yesterday", null],
])("a time: %s", (text, ms) => {
  expect(parseTime(text, 100_000_000)).toBe(ms);
});

test("formats times and waits", () => {
  expect(formatTime(ENTRY.timestamp)).toBe("2026-11-20 14:03:05.007");
  expect([300, 9_940, 12_000, 600_000].map(formatWait)).toEqual(["0.3 s", "9.9 s", "12 s", "10 min"]);
});

test("doubles the backoff up to a limit, minus at most half", () => {
  expect([0, 1, 2, 6, 60].map((failures) => backoff(failures, () => 0))).toEqual([250, 500, 1000, 15_000, 15_000]);
  expect(backoff(60, () => 0.999)).toBeGreaterThan(7_500);
});

test("formats an entry as one line, with data in the syntax of --data", () => {
  expect(prettyLine(ENTRY, false)).toBe("2026-11-20 14:03:05.007 ERROR http/response GET /x");
  const data = { status: 504, user: { plan: "team", "a.b": 1 }, text: "a b", none: {}, list: [1, { x: 2 }], nil: null };
  expect(prettyLine({ ...ENTRY, level: "info", data, traceId: "t1" }, false)).toBe(
    '2026-11-20 14:03:05.007 INFO  http/response GET /x status=504 user.plan=team user["a.b"]=1 text="a b" none={} list=[1,{"x":2}] nil=null trace=t1',
  );
  expect(prettyLine({ ...ENTRY, data: { long: "x".repeat(1000) } }, false).length).toBeLessThan(400);
});

test("escapes control characters of entries", () => {
  expect(prettyLine(ENTRY, true)).toContain(`${ESCAPE}[31mERROR${ESCAPE}[0m`);
  const evil = `${ESCAPE}[2J\u009b31m\r\n\u202e\u2028`;
  const line = prettyLine({ ...ENTRY, message: evil, category: evil, data: { [evil]: evil, list: [evil] } }, false);
  expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028]/u);
  expect(line).toContain("\\u001b[2J\\u009b31m\\r\\n\\u202e\\u2028");
  const json = jsonLine({ message: evil });
  expect(json).not.toMatch(/\p{Cc}/u);
  expect(JSON.parse(json)).toEqual({ message: evil });
});

test("masks keys in all texts", () => {
  expect(withoutSecrets("a sk_live-1_x b other c", "other")).toBe("a [key] b [key] c");
  expect(withoutSecrets("task_1.log")).toBe("task_1.log");
});
