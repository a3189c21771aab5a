import { afterAll, beforeAll, expect, it } from "vitest";
import type { StoredEntry } from "../../../src/logs/entry.ts";
import { bearer, call } from "../accounts/support.ts";
import { clock, flushAll } from "../flush/support.ts";
import { newTenant, receiptOf, send, type Tenant } from "../ingest/support.ts";

let tenant: Tenant;

beforeAll(async () => {
  clock.start();
  tenant = await newTenant();
});
afterAll(() => clock.stop());

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await call(path, { body, headers: bearer(tenant.secret) });
  expect([answer.status, answer.code, answer.details]).toEqual([200, null, []]);
  // SAFETY: the tests compare the members that they read.
  return answer.data as T;
}

/** Messages of the entries that pass, in order. */
async function found(body: object): Promise<string[]> {
  const { logs } = await post<{ logs: StoredEntry[] }>("/logger/query", { ...body, order: "asc" });
  return logs.map(({ message }) => message);
}

const HEAD = { level: "info", category: "custom", type: "log" };

it("18.3: service and host are stored, found, grouped and suggested over both tiers, beside entries that have them in data", async () => {
  const at = (n: number) => new Date(clock.at + n).toISOString();
  // As the version before stored what clients sent beside the message, and as others send it in `data`.
  const lines = [
    { timestamp: at(1), ...HEAD, message: "own", service: "checkout", host: "web-1", data: { n: 1 } },
    { timestamp: at(2), ...HEAD, message: "in data", data: { service: "checkout", host: "web-2" } },
    { timestamp: at(3), ...HEAD, message: "otel", data: { "service.name": "checkout" } },
  ];
  const ndjson = lines.map((line) => JSON.stringify(line)).join("\n");
  receiptOf(await send(tenant, ndjson, { type: "application/x-ndjson" }));
  await flushAll(tenant);
  const recent = [
    { message: "recent", timestamp: at(4), service: "search", host: "web-1" },
    { message: "long", timestamp: at(5), service: "s".repeat(257), host: 7 },
  ];
  receiptOf(await send(tenant, recent));

  const { logs } = await post<{ logs: StoredEntry[] }>("/logger/query", { order: "asc" });
  expect(logs.map(({ service, host, data }) => ({ service, host, data }))).toEqual([
    { service: "checkout", host: "web-1", data: { n: 1 } },
    { data: { service: "checkout", host: "web-2" } },
    { data: { "service.name": "checkout" } },
    { service: "search", host: "web-1" },
    { data: { service: "s".repeat(257), host: 7 } },
  ]);
  expect(await found({ filters: { service: "checkout" } })).toEqual(["own", "in data", "otel"]);
  expect(await found({ filters: { service: ["search", "x"], host: "web-1" } })).toEqual(["recent"]);
  expect(await found({ filters: { data: { service: "checkout" } } })).toEqual(["own", "in data"]);
  expect(await found({ filters: { data: { host: { exists: false } } } })).toEqual(["otel"]);
  expect(await found({ q: "host:web-* -service:search" })).toEqual(["own", "in data"]);
  expect(await found({ filters: { search: "WEB-1" } })).toEqual(["own", "recent"]);

  const body = {
    aggregations: [{ fn: "count", as: "n" }],
    groupBy: ["service"],
    filters: { host: ["web-1", "web-2"] },
  };
  expect((await post<{ rows: unknown[][] }>("/logger/stats", body)).rows).toEqual([
    ["checkout", 2],
    ["search", 1],
  ]);
  const facets = await post<{ rows: unknown[][] }>("/logger/search", { query: "host:web-1 | facets" });
  expect(facets.rows).toEqual(
    expect.arrayContaining([
      ["host", "string", 2, "web-1", 2],
      ["service", "string", 2, "checkout", 1],
    ]),
  );
  const { items } = await post<{ items: { text: string }[] }>("/logger/search/suggest", { query: "serv", position: 4 });
  expect(items.map(({ text }) => text)).toContain("service:");
});
