import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { fingerprint } from "../../../src/logs/query/cursor.ts";
import {
  isForOneId,
  isOpenInRange,
  type LogFilter,
  matchesContent,
  matchesFilter,
  needsContent,
  OPEN_FILTER,
} from "../../../src/logs/query/filter.ts";
import { type Filters, QueryBody } from "../../../src/logs/query/schema.ts";
import { lineOf, type TestEntry } from "./store.ts";

const WANTED: TestEntry = {
  timestamp: 1_790_000_000_000,
  level: "error",
  category: "http",
  type: "request",
  message: "connection timed out",
  session: "sess_1",
  traceId: "trace_1",
  service: "checkout",
  host: "web-1",
  data: { status: 504 },
};

interface Narrowing {
  value: unknown;
  /** A change of `WANTED` that does not pass. */
  changed: Partial<TestEntry>;
  decidedBy: "time" | "counts" | "content";
  isId?: boolean;
}

const NARROWING: Record<keyof z.input<typeof Filters>, Narrowing> = {
  level: { value: "error", changed: { level: "fatal" }, decidedBy: "counts" },
  minLevel: { value: "warn", changed: { level: "info" }, decidedBy: "counts" },
  category: { value: ["http"], changed: { category: "queue" }, decidedBy: "counts" },
  type: { value: "request", changed: { type: "response" }, decidedBy: "counts" },
  session: { value: "sess_1", changed: { session: "sess_2" }, decidedBy: "content", isId: true },
  traceId: { value: "trace_1", changed: { traceId: "trace_2" }, decidedBy: "content", isId: true },
  service: { value: ["checkout", "search"], changed: { service: "billing" }, decidedBy: "content" },
  host: { value: "web-1", changed: { host: "Web-1" }, decidedBy: "content" },
  from: { value: WANTED.timestamp, changed: { timestamp: WANTED.timestamp - 1 }, decidedBy: "time" },
  to: { value: WANTED.timestamp + 1, changed: { timestamp: WANTED.timestamp + 1 }, decidedBy: "time" },
  search: { value: "TIMED", changed: { message: "connection refused" }, decidedBy: "content" },
  data: { value: { status: 504 }, changed: { data: { status: 200 } }, decidedBy: "content" },
};

const PLACE = { timestamp: WANTED.timestamp, receivedAt: WANTED.timestamp, seq: 1, projectId: "proj_a", id: "log_a1" };

function filterOf(filters: Record<string, unknown>): LogFilter {
  return QueryBody.parse({ filters }).filter;
}

function passes(filter: LogFilter, entry: TestEntry): boolean {
  return matchesFilter(filter, JSON.parse(lineOf(entry)), entry.timestamp, PLACE);
}

describe("every filter of a query", () => {
  it.each(Object.entries(NARROWING))("narrows, and its properties follow from the table: %s", (name, expected) => {
    const filter = filterOf({ [name]: expected.value });
    const changed = { ...WANTED, ...expected.changed };
    expect([passes(OPEN_FILTER, WANTED), passes(OPEN_FILTER, changed)]).toEqual([true, true]);
    expect([passes(filter, WANTED), passes(filter, changed)]).toEqual([true, false]);
    expect(matchesContent(filter, JSON.parse(lineOf(changed)), PLACE)).toBe(expected.decidedBy !== "content");
    expect(needsContent(filter)).toBe(expected.decidedBy === "content");
    expect(isOpenInRange(filter)).toBe(expected.decidedBy === "time");
    expect(isForOneId(filter)).toBe(expected.isId ?? false);
    expect(fingerprint(filter, "ws")).not.toBe(fingerprint(OPEN_FILTER, "ws"));
  });

  it("is open if it is absent", () => {
    expect(filterOf({})).toEqual(OPEN_FILTER);
    expect([needsContent(OPEN_FILTER), isOpenInRange(OPEN_FILTER), isForOneId(OPEN_FILTER)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("a fingerprint", () => {
  // The members of the first version.
  const { service: _service, host: _host, ...first } = NARROWING;
  const all = {
    ...Object.fromEntries(Object.entries(first).map(([name, { value }]) => [name, value])),
    category: ["http", "ai", "http"],
    data: { status: { gte: 500, ne: 501 }, "user.plan": "pro" },
  };

  // Clients keep cursors across deploys. A new member must not change the fingerprints of filters without it.
  it("does not change between versions", () => {
    expect(fingerprint(OPEN_FILTER, "ws_1")).toBe("NymEuKYkHxw");
    expect(fingerprint(filterOf(all), "ws_1")).toBe("fF7OJtnr26Y");
  });

  it("does not depend on order and repetition", () => {
    const other = { ...all, category: ["ai", "http"], data: { "user.plan": "pro", status: { ne: 501, gte: 500 } } };
    expect(fingerprint(filterOf(other), "ws_1")).toBe(fingerprint(filterOf(all), "ws_1"));
  });
});
