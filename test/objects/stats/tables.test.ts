import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { z } from "zod";
import { tableAnswerSchema } from "../../../src/logs/stats/table-schema.ts";
import { bearer, call } from "../accounts/support.ts";
import { clock, flushAll, tiers } from "../flush/support.ts";
import { addKey, addProject, newTenant, receiptOf, send } from "../ingest/support.ts";

type Table = z.output<typeof tableAnswerSchema>;

beforeEach(() => clock.start());
afterEach(() => clock.stop());

async function tableOf(secret: string, body: object): Promise<Table> {
  const answer = await call("/logger/stats", { body, headers: bearer(secret) });
  expect([answer.status, answer.code]).toEqual([200, null]);
  expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
  return tableAnswerSchema.strict().parse(answer.data);
}

const ROUTES = ["/orders", "/users", "/жилет"];
const entries = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    message: `GET ${ROUTES[(from + at) % 3]}`,
    level: (from + at) % 4 === 0 ? "error" : "info",
    timestamp: clock.at - 60_000 + from + at,
    data: { route: ROUTES[(from + at) % 3], durationMs: (from + at) * 1.1, "user.id": `u${(from + at) % 7}` },
  }));

const BODY = {
  aggregations: [
    { fn: "count", as: "n" },
    { fn: "p99", field: "durationMs" },
    { fn: "sum", field: "durationMs" },
    { fn: "count_distinct", field: "user.id", as: "users" },
    { fn: "first", field: "message" },
  ],
  groupBy: ["route", "level"],
};

describe("POST /logger/stats with aggregations", () => {
  it("4: gives the same table of recent entries, of flushed ones and of both, in one snapshot", async () => {
    const tenant = await newTenant();
    receiptOf(await send(tenant, entries(0, 500)));
    receiptOf(await send(tenant, entries(500, 500)));
    const recent = await tableOf(tenant.secret, BODY);
    expect(recent).toMatchObject({
      kind: "table",
      matched: 1000,
      scanned: 1000,
      complete: true,
      exact: true,
      notes: [],
    });
    expect(recent.columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      "route: string",
      "level: string",
      "n: number",
      "p99(durationMs): number",
      "sum(durationMs): number",
      "users: number",
      "first(message): string",
    ]);
    const expected = ROUTES.flatMap((route, at) => ["info", "error"].map((level) => [route, level, at] as const));
    const rows = expected.map(([route, level, at]) => {
      const own = Array.from({ length: 1000 }, (_, n) => n).filter(
        (n) => n % 3 === at && (n % 4 === 0 ? "error" : "info") === level,
      );
      const users = new Set(own.map((n) => n % 7)).size;
      const p99 = (own[Math.ceil(own.length * 0.99) - 1] ?? 0) * 1.1;
      return [
        route,
        level,
        own.length,
        p99,
        expect.closeTo(
          own.reduce((sum, n) => sum + n * 1.1, 0),
          6,
        ),
        users,
        `GET ${route}`,
      ];
    });
    expect(recent.rows).toEqual(rows);
    expect(await flushAll(tenant)).toBeGreaterThan(0);
    expect(await tiers(tenant)).toEqual({ cold: 1000, recent: 0 });
    const flushed = await tableOf(tenant.secret, BODY);
    expect([flushed.rows, flushed.asOf]).toEqual([recent.rows, recent.asOf]);
    receiptOf(await send(tenant, { message: "new", level: "fatal", data: { route: "/orders" } }));
    const both = await tableOf(tenant.secret, BODY);
    expect(both).toMatchObject({
      matched: 1001,
      rows: expect.arrayContaining([["/orders", "fatal", 1, null, null, 0, "new"]]),
    });
    expect((await tableOf(tenant.secret, { ...BODY, asOf: recent.asOf })).rows).toEqual(recent.rows);
    const future = await call("/logger/stats", { body: { ...BODY, asOf: "zz" }, headers: bearer(tenant.secret) });
    expect([future.status, future.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("counts by level and hour from stored counts as from lines", async () => {
    const tenant = await newTenant();
    receiptOf(await send(tenant, entries(0, 700)));
    await flushAll(tenant);
    receiptOf(await send(tenant, entries(700, 100)));
    const counts = { aggregations: [{ fn: "count" }], groupBy: ["level", { bin: "1h" }] };
    const stored = await tableOf(tenant.secret, counts);
    const lines = await tableOf(tenant.secret, { ...counts, filters: { search: "GET" } });
    expect(stored.rows).toEqual(lines.rows);
    expect(stored).toMatchObject({ matched: 800, scanned: 800 });
    const top = { ...counts, groupBy: ["type", "category"], sort: { by: "count()" }, limit: 1 };
    expect((await tableOf(tenant.secret, top)).rows).toEqual([["log", "custom", 800]]);
  });

  it("reads the project of a key only, and with the scope for reading", async () => {
    const tenant = await newTenant();
    const other = { ...tenant, projectId: await addProject(tenant) };
    const { secret } = await addKey(other);
    receiptOf(await send(tenant, entries(0, 3)));
    const count = { aggregations: [{ fn: "count" }] };
    expect((await tableOf(secret, count)).rows).toEqual([[0]]);
    const codeOf = async (token: string, body: object) => {
      const answer = await call("/logger/stats", { body, headers: bearer(token) });
      return [answer.status, answer.code];
    };
    const writeOnly = await addKey(tenant, ["logs:write"]);
    expect(await codeOf(writeOnly.secret, count)).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(await codeOf(secret, { ...count, projectId: tenant.projectId })).toEqual([404, "NOT_FOUND"]);
  });

  it("names the field of an invalid request", async () => {
    const { secret } = await newTenant();
    const pathOf = async (body: object) => {
      const { status, details } = await call("/logger/stats", { body, headers: bearer(secret) });
      expect(status).toBe(400);
      return details.map((detail) => Reflect.get(Object(detail), "path")).join(" ");
    };
    const count = { fn: "count" };
    expect(await pathOf({ aggregations: [] })).toBe("aggregations");
    expect(await pathOf({ aggregations: Array.from({ length: 21 }, (_, at) => ({ ...count, as: `c${at}` })) })).toBe(
      "aggregations",
    );
    expect(await pathOf({ aggregations: [count], interval: "1h" })).toBe("interval");
    expect(await pathOf({ aggregations: [count, count] })).toBe("aggregations");
    expect(await pathOf({ aggregations: [count], groupBy: ["a", "b", "c", "d", "e", "f"] })).toBe("groupBy");
    expect(await pathOf({ aggregations: [count], groupBy: [{ bin: "1w" }] })).toContain("groupBy.0");
    expect(await pathOf({ aggregations: [{ fn: "p98", field: "n" }] })).toContain("aggregations.0");
    expect(await pathOf({ aggregations: [{ fn: "sum" }] })).toContain("aggregations.0");
    expect(await pathOf({ aggregations: [{ fn: "sum", field: "message" }] })).toBe("aggregations.0.field");
    expect(await pathOf({ aggregations: [{ fn: "rate" }] })).toBe("aggregations.0.fn");
    expect(await pathOf({ aggregations: [count], sort: { by: "n" } })).toBe("sort.by");
    expect(await pathOf({ aggregations: [count], asOf: "?" })).toBe("asOf");
    expect(await pathOf({ groupBy: ["level"] })).toBe("interval groupBy");
  });
});
