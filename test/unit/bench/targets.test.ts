import { expect, test } from "vitest";
import { type Answer, expectCounts, expectEntries, expectTop } from "../../../bench/targets/comparison.ts";
import { levelOf, linesOf, RARE_TEXT, searchedTrace, traceIdAt } from "../../../bench/targets/entries.ts";
import { Facts, isoOf, routeOf, userOf } from "../../../bench/targets/facts.ts";

const END = Date.UTC(2026, 10, 20);
const DATA = { entries: 20_000, start: END - 24 * 3_600_000, end: END };

interface Line {
  timestamp: string;
  level: string;
  message: string;
  traceId: string;
  data: { route: string; status: number; durationMs: number; user: { id: string } };
}

const text = linesOf(DATA, 0, DATA.entries).toString();
// SAFETY: the generator writes these members.
const lines = text.split("\n").map((line) => JSON.parse(line) as Line);
const facts = new Facts(DATA);

function table(rows: Answer["rows"]): Answer {
  return { rows, traceIds: [], isExact: true };
}

test("entries of the targets have about 360 bytes, rising times and different trace ids", () => {
  expect(text.length / DATA.entries).toBeGreaterThan(350);
  expect(text.length / DATA.entries).toBeLessThan(370);
  expect(new Set(lines.map(({ traceId }) => traceId)).size).toBe(DATA.entries);
  expect(lines.every(({ timestamp }, at) => at === 0 || timestamp > (lines[at - 1]?.timestamp ?? ""))).toBe(true);
  expect(lines.map((line) => JSON.stringify(line)).join("\n")).toBe(text);
});

test("entries do not depend on the request that they are sent with", () => {
  expect(linesOf(DATA, 777, 50).toString()).toBe(text.split("\n").slice(777, 827).join("\n"));
});

test("facts are what the lines say", () => {
  const hours = new Map<string, number>();
  const users = new Map<string, Set<string>>();
  for (const { timestamp, data } of lines) {
    const hour = isoOf(Date.parse(timestamp), 3_600_000);
    if (data.durationMs >= 1000) hours.set(hour, (hours.get(hour) ?? 0) + 1);
    users.set(data.route, (users.get(data.route) ?? new Set()).add(data.user.id));
  }
  const own = facts.counts(({ durationMs }, index) => (durationMs >= 1000 ? facts.binOf(index, 3_600_000) : null));
  expect(own).toEqual(hours);
  expect(facts.distinctUsers(routeOf)).toEqual(new Map([...users].map(([route, ids]) => [route, ids.size])));
  const errors = lines.filter(({ level }) => level === "error").reverse();
  expect(facts.newest(10, ({ status }) => levelOf(status) === "error")).toEqual(
    errors.slice(0, 10).map(({ traceId }) => traceId),
  );
  const slow = lines.filter(({ data }) => data.route === "/checkout").map(({ data }) => data.durationMs);
  slow.sort((a, b) => a - b);
  expect(facts.percentiles(0.99, routeOf).get("/checkout")).toBe(slow[Math.ceil(slow.length * 0.99) - 1]);
  expect(lines.filter(({ message }) => message.toLowerCase().includes(RARE_TEXT.toLowerCase()))).toHaveLength(5);
  expect(lines[searchedTrace(DATA)]?.traceId).toBe(traceIdAt(searchedTrace(DATA)));
});

test("wrong answers are found", () => {
  const counts = facts.counts(userOf);
  const rows = [...counts].map(([user, value]) => ({ user, value }));
  const check = expectCounts(counts, ({ user }) => String(user), "value");
  expect(check(table(rows))).toBeNull();
  expect(check(table(rows.slice(1)))).toContain("rows instead of");
  expect(check(table(rows.map((row, at) => (at === 5 ? { ...row, value: row.value + 1 } : row))))).toContain(
    "instead of",
  );
  const top = expectTop(3, counts, ({ user }) => String(user), "value");
  const largest = rows.toSorted((a, b) => b.value - a.value);
  expect(top(table(largest.slice(0, 3)))).toBeNull();
  expect(top(table(largest.slice(-3)))).toContain("instead of");
  const entries = expectEntries(["a", "b"]);
  expect(entries({ rows: [], traceIds: ["a", "b"], isExact: true })).toBeNull();
  expect(entries({ rows: [], traceIds: ["b", "a"], isExact: true })).toContain("entry 0");
});
