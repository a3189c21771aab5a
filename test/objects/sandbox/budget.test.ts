import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Limiter } from "../../../src/limits/limiter.ts";
import { SANDBOX_INTAKE, SANDBOX_WORKSPACE_ID } from "../../../src/sandbox/sandbox.ts";
import { type Answer, bearer, call, registered } from "../accounts/support.ts";
import { numbered, onSql, storedEntries } from "../ingest/support.ts";
import {
  addressStub,
  BASE,
  cron,
  demoKey,
  evict,
  freshIp,
  from,
  HOUR_MS,
  left,
  query,
  remaining,
  sandbox,
  send,
} from "./support.ts";

let key = "";
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: BASE });
  key = await demoKey();
});
afterEach(() => vi.useRealTimers());

const limitOf = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Limit"));
const verdict = ({ status, code }: Answer) => [status, code];
const sentWith = async (text: string) =>
  (await storedEntries(SANDBOX_WORKSPACE_ID)).filter(({ entry }) => entry.message === text).length;

describe("the budget of entries", () => {
  it("admits exactly 100 of 40 parallel batches of 5, and stores exactly those", async () => {
    const ip = freshIp();
    const batch = Array.from({ length: 5 }, () => ({ message: "parallel" }));
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(key, ip, batch)));
    const admitted = answers.filter(({ status }) => status === 201);
    expect(admitted).toHaveLength(20);
    expect(admitted.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i * 5));
    for (const refused of answers.filter(({ status }) => status !== 201)) {
      expect(verdict(refused)).toEqual([429, "RATE_LIMITED"]);
      expect([limitOf(refused), remaining(refused)]).toEqual([100, 0]);
      expect(refused.details).toMatchObject([
        { message: "At most 100 entries in 3600 s for this client IP (rule: SANDBOX_LOGS)." },
      ]);
      expect(Number(refused.headers.get("Retry-After"))).toBe(3600);
      expect(Number(refused.headers.get("X-RateLimit-Reset"))).toBe((BASE + HOUR_MS) / 1000);
    }
    expect(await sentWith("parallel")).toBe(100);
    await evictDurableObject(addressStub(ip));
    expect(verdict(await send(key, ip, { message: "late" }))).toEqual([429, "RATE_LIMITED"]);
  });

  it("refuses a whole batch that does not fit, and admits a smaller one", async () => {
    const ip = freshIp();
    expect((await send(key, ip, numbered(98))).status).toBe(201);
    const refused = await send(key, ip, [{ message: "whole" }, { message: "whole" }, { message: "whole" }]);
    expect([...verdict(refused), remaining(refused)]).toEqual([429, "RATE_LIMITED", 2]);
    expect(await sentWith("whole")).toBe(0);
    expect((await send(key, ip, numbered(2))).status).toBe(201);
  });

  it("returns 413 for a batch larger than the whole budget, without cost and without a retry time", async () => {
    const ip = freshIp();
    for (const count of [101, 1000, 1001]) {
      const answer = await send(key, ip, { logs: numbered(count) });
      expect([...verdict(answer), limitOf(answer), remaining(answer)]).toEqual([413, "PAYLOAD_TOO_LARGE", 100, 100]);
      expect(answer.headers.get("Retry-After")).toBeNull();
    }
    expect((await send(key, ip, numbered(100))).status).toBe(201);
    expect(verdict(await send(key, ip, numbered(101)))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("slides: an hour after an entry there is room for another one", async () => {
    const ip = freshIp();
    expect((await send(key, ip, numbered(60))).status).toBe(201);
    vi.setSystemTime(BASE + HOUR_MS / 2);
    expect((await send(key, ip, numbered(40))).status).toBe(201);
    vi.setSystemTime(BASE + HOUR_MS - 1);
    const refused = await send(key, ip, { message: "m" });
    expect([...verdict(refused), refused.headers.get("Retry-After")]).toEqual([429, "RATE_LIMITED", "1"]);
    vi.setSystemTime(BASE + HOUR_MS);
    expect((await send(key, ip, numbered(60))).status).toBe(201);
    expect((await send(key, ip, { message: "m" })).status).toBe(429);
  });

  it("is separate for each client IP, and one for a /64 of IPv6", async () => {
    expect((await send(key, "2001:db8:1:1::1", numbered(100))).status).toBe(201);
    expect((await send(key, "2001:db8:1:1:ffff::2", { message: "m" })).status).toBe(429);
    expect((await send(key, "2001:db8:1:2::1", numbered(100))).status).toBe(201);
    expect((await send(key, freshIp(), numbered(100))).status).toBe(201);
  });

  it("is spent by what is sent: rejected entries, a repeated request, a body without entries", async () => {
    const ip = freshIp();
    const bad = { message: "" };
    const spent = async (cost: number, expected: number, request: Promise<Answer>, before: number) => {
      const answer = await request;
      expect([answer.status, limitOf(answer), remaining(answer)]).toEqual([expected, 100, before - cost]);
      return before - cost;
    };
    let rest = 100;
    rest = await spent(3, 201, send(key, ip, [{ message: "good" }, bad, bad]), rest);
    rest = await spent(2, 400, send(key, ip, [bad, bad]), rest);
    rest = await spent(1, 400, send(key, ip, []), rest);
    rest = await spent(1, 400, send(key, ip, "no JSON"), rest);
    rest = await spent(1, 415, send(key, ip, "x", { headers: { "Content-Type": "text/plain" } }), rest);
    const once = { headers: { "Idempotency-Key": "k" } };
    rest = await spent(2, 201, send(key, ip, numbered(2), once), rest);
    rest = await spent(2, 201, send(key, ip, numbered(2), once), rest);
    rest = await spent(4, 409, send(key, ip, numbered(4), once), rest);
    const elsewhere = call("/logger/proj_000000000000/log", {
      body: [{ message: "m" }],
      headers: { ...bearer(key), ...from(ip) },
    });
    rest = await spent(1, 404, elsewhere, rest);
    expect(await left(key, ip, "entries")).toBe(rest);
  });
});

describe("the sandbox as a whole", () => {
  it("accepts at most its share of the storage from all clients, and the whole share again an hour later", async () => {
    const request = { identifier: "sandbox-intake", ...SANDBOX_INTAKE, cost: 0 };
    await onSql(SANDBOX_WORKSPACE_ID, (sql) => {
      const limiter = new Limiter(sql);
      const { remaining: rest } = limiter.peek(request, BASE);
      // Earlier tests have sent a little, but not nothing.
      expect([rest > SANDBOX_INTAKE.limit - 100_000, rest < SANDBOX_INTAKE.limit]).toEqual([true, true]);
      limiter.check({ ...request, cost: rest - 300 }, BASE);
      limiter.flush();
    });
    await evict();
    expect((await send(key, freshIp(), { message: "small" })).status).toBe(201);
    const full = await send(key, freshIp(), {
      message: Buffer.from(crypto.getRandomValues(new Uint8Array(300))).toString("hex"),
    });
    expect([...verdict(full), full.headers.get("Retry-After")]).toEqual([503, "SERVICE_UNAVAILABLE", "3600"]);
    expect((await query(key, freshIp())).status).toBe(200);
    vi.setSystemTime(BASE + HOUR_MS);
    expect((await send(key, freshIp(), { message: "again" })).status).toBe(201);
  });
});

describe("the budget of reads", () => {
  it("admits exactly 20 of 50 parallel queries, independent of the budget of entries", async () => {
    const ip = freshIp();
    expect((await send(key, ip, numbered(100))).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 50 }, () => query(key, ip, { pagination: { limit: 1 } })));
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect([...verdict(refused), limitOf(refused)]).toEqual([429, "RATE_LIMITED", 20]);
    }
    await evictDurableObject(addressStub(ip));
    expect((await query(key, ip)).status).toBe(429);
    expect((await query(key, freshIp())).status).toBe(200);
  });

  it("counts the requests of one search once: 24 of them, for ten minutes, whatever they ask", async () => {
    const ip = freshIp();
    const ask = (search: string, path = "/logger/query", body: unknown = {}) =>
      call(path, { body, headers: { ...bearer(key), ...from(ip), "X-Search-Id": search } });
    expect(remaining(await ask("one"))).toBe(19);
    const others = await Promise.all([
      ask("one", "/logger/stats", { interval: "1h" }),
      ask("one", "/logger/search", { query: "level:error | top 3 by category" }),
      ask("one", "/logger/stats", { interval: "1h", groupBy: "level" }),
    ]);
    expect(others.map((answer) => [answer.status, remaining(answer)])).toEqual(Array(3).fill([200, 19]));
    // On disk: an eviction does not begin the search again.
    await evictDurableObject(addressStub(ip));
    for (let covered = 0; covered < 20; covered++) expect(remaining(await ask("one"))).toBe(19);
    expect(remaining(await ask("one"))).toBe(18);
    expect(remaining(await ask("two"))).toBe(17);
    vi.setSystemTime(BASE + 10 * 60_000);
    expect(remaining(await ask("two"))).toBe(16);
    // An invalid name counts as absent.
    for (const name of ["", "a b", "x".repeat(65), "'; DROP TABLE"]) await ask(name);
    expect(await left(key, ip, "reads")).toBe(12);
    // Entries that are sent have no such cover.
    for (const rest of [99, 98]) {
      const { projectId } = await sandbox();
      const headers = { ...bearer(key), ...from(ip), "X-Search-Id": "one" };
      expect(remaining(await call(`/logger/${projectId}/log`, { body: { message: "m" }, headers }))).toBe(rest);
    }
  });

  it("never covers a search whose first request was refused, and admits 20 searches at once", async () => {
    const ip = freshIp();
    const ask = (search: string) =>
      call("/logger/query", { body: {}, headers: { ...bearer(key), ...from(ip), "X-Search-Id": search } });
    const firsts = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(`s${at}`)));
    const refused = firsts.flatMap(({ status }, at) => (status === 429 ? [at] : []));
    expect(refused).toHaveLength(10);
    const again = await Promise.all(firsts.map((_, at) => ask(`s${at}`)));
    expect(again.flatMap(({ status }, at) => (status === 429 ? [at] : []))).toEqual(refused);
  });

  it("is spent by an invalid query, too", async () => {
    const ip = freshIp();
    const answer = await query(key, ip, { filters: { nonsense: 1 } });
    expect([...verdict(answer), limitOf(answer), remaining(answer)]).toEqual([400, "VALIDATION_ERROR", 20, 19]);
    expect(verdict(await query(key, ip, { projectId: "proj_000000000000" }))).toEqual([404, "NOT_FOUND"]);
    expect(await left(key, ip, "reads")).toBe(18);
  });
});

describe("a revoked key", () => {
  it("uses no budget: it counts as an unauthenticated client IP", async () => {
    const old = key;
    vi.setSystemTime(BASE + 5 * HOUR_MS);
    await cron(BASE + 5 * HOUR_MS);
    const ip = freshIp();
    for (const answer of [await send(old, ip, numbered(50)), await query(old, ip), await send(old, ip, "no JSON")]) {
      expect([...verdict(answer), limitOf(answer)]).toEqual([401, "API_KEY_REVOKED", 1000]);
    }
    key = await demoKey();
    expect(await left(key, ip, "entries")).toBe(100);
    expect(await left(key, ip, "reads")).toBe(20);
  });
});

describe("access to the sandbox", () => {
  it("refusals are recorded in the address object", async () => {
    const ip = freshIp();
    await Promise.all(Array.from({ length: 25 }, () => query(key, ip)));
    const rows = await runInDurableObject(addressStub(ip), (_, { storage }) =>
      storage.sql.exec("SELECT identifier, rule, rate_limit, window_seconds FROM violations").toArray(),
    );
    expect(rows).toEqual([{ identifier: `ip:${ip}`, rule: "SANDBOX_QUERIES", rate_limit: 20, window_seconds: 3600 }]);
  });

  it("every route that accepts an API key counts the demo key by client IP", async () => {
    const { projectId } = await sandbox();
    const response = await exports.default.fetch("http://taffrail.test/openapi.json");
    const { paths } = await response.json<{
      paths: Record<string, Record<string, { security: object[]; tags: string[] }>>;
    }>();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security.some((scheme) => "apiKey" in scheme))
        .map(([method, { tags }]) => [method.toUpperCase(), path, tags] as const),
    );
    expect(routes.length).toBeGreaterThanOrEqual(2);
    for (const [method, path, tags] of routes) {
      // What clients of other services ask for before they send, without a key.
      if (method !== "POST" && tags.includes("Doors")) continue;
      const real = path.replace("{projectId}", projectId).replace("{logId}", "log_000000000000");
      const body = method === "GET" ? {} : { body: {} };
      const answer = await exports.default.fetch(
        new Request(`http://taffrail.test${real}`, {
          method,
          headers: { ...bearer(key), ...from(freshIp()), "Content-Type": "application/json" },
          ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
        }),
      );
      await answer.arrayBuffer();
      const isIngest = method !== "GET" && (path.endsWith("/log") || tags.includes("Doors"));
      const limit = isIngest ? "100" : "20";
      expect([method, path, answer.headers.get("X-RateLimit-Limit")]).toEqual([method, path, limit]);
    }
  });

  it("no user sees, changes or deletes the sandbox", async () => {
    const { accessToken } = await registered("curious@example.com");
    const headers = { ...bearer(accessToken), "X-Workspace-Id": SANDBOX_WORKSPACE_ID };
    const base = `/workspaces/${SANDBOX_WORKSPACE_ID}`;
    const { projectId } = await sandbox();
    const keys = `/projects/${projectId}/keys`;
    const attempts: [string, string, object?][] = [
      ["GET", base],
      ["PATCH", base, { name: "mine" }],
      ["DELETE", base],
      ["GET", `${base}/usage`],
      ["GET", `${base}/members`],
      ["POST", `${base}/members`, { email: "x@example.com", role: "viewer" }],
      ["GET", `${base}/rate-limits`],
      ["PUT", `${base}/rate-limits`, { rules: [] }],
      ["GET", "/projects"],
      ["POST", "/projects", { name: "mine" }],
      ["DELETE", `/projects/${projectId}`],
      ["GET", keys],
      ["POST", keys, { name: "mine", scopes: ["logs:read"] }],
      ["POST", "/logger/query", {}],
      ["POST", "/logger/search", { query: "*" }],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await call(path, { method, headers, ...(body ? { body } : {}) });
      expect([method, path, ...verdict(answer)]).toEqual([method, path, 404, "NOT_FOUND"]);
    }
    const list = await call("/workspaces", { headers: bearer(accessToken) });
    expect(list.text).not.toContain(SANDBOX_WORKSPACE_ID);
    expect((await query(key, freshIp())).status).toBe(200);
  });
});

describe("GET /sandbox", () => {
  it("counts by client IP under API_DEFAULT, may be called from any origin, and is not cached", async () => {
    const ip = freshIp();
    const first = await call("/sandbox", { headers: { ...from(ip), Origin: "https://anywhere.example" } });
    const second = await call("/sandbox", { headers: { ...from(ip), ...bearer(key) } });
    expect([limitOf(first), remaining(first), remaining(second)]).toEqual([1000, 999, 998]);
    expect(first.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(first.headers.get("Access-Control-Allow-Credentials")).toBeNull();
    expect(first.headers.get("Cache-Control")).toBe("no-store");
    expect(verdict(await call("/sandbox", { method: "POST", body: {} }))).toEqual([405, "METHOD_NOT_ALLOWED"]);
  });
});
