import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SWEEP_AFTER_MS } from "../../../src/limits/limiter.ts";
import { API_DEFAULT } from "../../../src/limits/state.ts";
import { type Answer, call, callIn, callWith, dump } from "../accounts/support.ts";

/** A client IP for each test, because requests count by it. */
let ip = "";
let last = 0;
const newAddress = () => {
  ip = `198.51.100.${++last}`;
};
const from = (path: string, method = "GET") => call(path, { method, headers: { "CF-Connecting-IP": ip } });
const fetched = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  exports.default.fetch(
    new Request(`http://taffrail.test${path}`, {
      method,
      redirect: "manual",
      headers: { "CF-Connecting-IP": ip, ...headers },
    }),
  );
const limitOf = ({ headers }: Pick<Answer, "headers">) => [
  headers.get("X-RateLimit-Limit"),
  headers.get("X-RateLimit-Remaining"),
];
const object = () => env.ADDRESSES.get(env.ADDRESSES.idFromName(`ip:${ip}`));

describe("A6: answers outside the API's groups", () => {
  afterEach(() => vi.useRealTimers());

  it("A6: /health, /openapi.json, 404 and 405 count by client IP and have the three headers", async () => {
    newAddress();
    let left: number = API_DEFAULT.limit;
    for (const [method, path] of [
      ["GET", "/health"],
      ["HEAD", "/health"],
      ["POST", "/health"],
      ["GET", "/openapi.json"],
      ["DELETE", "/openapi.json"],
      ["GET", "/nothing"],
      ["POST", "/"],
      ["PROPFIND", "/loggers"],
      ["GET", "/app/files/nothing.js"],
      ["GET", "/docs/nothing"],
      ["POST", "/docs"],
      ["GET", "/cdn-cgi/x"],
      ["GET", "/dev/outbox"],
    ] as const) {
      const answer = await fetched(path, method);
      await answer.text();
      expect([method, path, ...limitOf(answer)]).toEqual([method, path, "1000", String(--left)]);
      expect(answer.headers.get("X-RateLimit-Reset")).toMatch(/^\d+$/);
    }
    // All requests of a client IP without credentials share one counter.
    expect(limitOf(await from("/projects"))).toEqual(["1000", String(--left)]);
    newAddress();
    expect(limitOf(await from("/health"))).toEqual(["1000", "999"]);
  });

  it("A6: above the limit they are 429 with Retry-After", async () => {
    newAddress();
    const cost = API_DEFAULT.limit - 2;
    await object().check({ identifier: `ip:${ip}`, ...API_DEFAULT, cost }, "API_DEFAULT");
    expect((await from("/health")).status).toBe(200);
    expect((await from("/nothing")).status).toBe(404);
    for (const path of ["/health", "/openapi.json", "/nothing"]) {
      const refused = await from(path);
      expect([path, refused.status, refused.code, ...limitOf(refused)]).toEqual([
        path,
        429,
        "RATE_LIMITED",
        "1000",
        "0",
      ]);
      expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(refused.details).toMatchObject([
        { message: "At most 1000 requests in 60 s for this client IP (rule: API_DEFAULT)." },
      ]);
    }
  });

  it("A6: OPTIONS, pages and static files stay free", async () => {
    newAddress();
    const page = await (await fetched("/")).text();
    const file = /(?:src|href)="(\/app\/[^"]+)"/.exec(page)?.[1] ?? "";
    for (const [method, path] of [
      ["GET", "/"],
      ["HEAD", "/login"],
      ["GET", "/docs"],
      ["GET", "/docs/reference.js"],
      ["GET", file],
      ["OPTIONS", "/health"],
      ["OPTIONS", "/nothing"],
      ["OPTIONS", "/openapi.json"],
    ] as const) {
      const answer = await fetched(path, method);
      await answer.text();
      expect([method, path, answer.status, ...limitOf(answer)]).toEqual([
        method,
        path,
        path === "/nothing" ? 404 : method === "OPTIONS" ? 204 : 200,
        null,
        null,
      ]);
    }
    expect(limitOf(await from("/health"))).toEqual(["1000", "999"]);
  });

  it("A6: an address object with 404s only deletes itself", async () => {
    newAddress();
    for (let i = 0; i < 5; i++) await from(`/nothing-${i}`);
    expect(Object.keys(await runInDurableObject(object(), (_, { storage }) => dump(storage.sql)))).toContain(
      "rate_seconds",
    );
    await runInDurableObject(object(), (_, { storage }) => {
      storage.sql.exec("UPDATE rate_seconds SET second = second - ?", (2 * SWEEP_AFTER_MS) / 1000);
    });
    await runDurableObjectAlarm(object());
    expect(await runInDurableObject(object(), (_, { storage }) => dump(storage.sql))).toEqual({});
  });

  it("A6: any page may read the document, and its limit", async () => {
    newAddress();
    const answer = await fetched("/openapi.json", "GET", { Origin: "https://elsewhere.example" });
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("X-RateLimit-Remaining");
    // The frontend's origin, which may read everything, gets the header once, too.
    const own = await fetched("/openapi.json", "GET", { Origin: "http://127.0.0.1:8787" });
    expect(own.headers.get("Access-Control-Allow-Origin")).toBe("*");
    await Promise.all([answer.text(), own.text()]);
  });
});

describe("A6: health probes", () => {
  /** Bindings with a database that counts its queries and fails on demand. */
  function watched() {
    const asked = { count: 0, fails: false };
    const bindings: object = {
      DB: {
        prepare: () => ({
          run: async () => {
            asked.count++;
            if (asked.fails) throw new Error("away");
          },
        }),
      },
    };

    return { asked, environment: { ...env, ...bindings } };
  }

  it("A6: query the database once within a second, and again after it", async () => {
    newAddress();
    const { asked, environment } = watched();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    // One environment for all requests, as in an isolate; `callWith` would create one for each.
    const probe = () => callIn(environment, "/health", { headers: { "CF-Connecting-IP": ip } });
    for (let i = 0; i < 20; i++) expect((await probe()).status).toBe(200);
    expect(asked.count).toBe(1);
    asked.fails = true;
    vi.setSystemTime(Date.now() + 1001);
    const down = await probe();
    expect([down.status, down.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(down.text).toContain("The database does not answer.");
    expect(down.headers.get("X-RateLimit-Limit")).toBe("1000");
    asked.fails = false;
    vi.setSystemTime(Date.now() + 1001);
    expect((await probe()).status).toBe(200);
    expect(asked.count).toBe(3);
  });

  it("A6: report unreachable objects, although nothing can be counted then", async () => {
    newAddress();
    const ADDRESSES = { idFromName: (name: string) => env.ADDRESSES.idFromName(name), get: () => ({}) };
    const answer = await callWith({ ADDRESSES }, "/health");
    expect([answer.status, answer.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(answer.text).toContain("Objects do not answer.");
  });
});
