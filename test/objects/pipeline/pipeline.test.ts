import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ERROR_STATUS } from "../../../src/http/errors.ts";
import { app } from "../../../src/routes/app.ts";
import { type Answer, answerOf, bearer, call, callWith, requestOf } from "../accounts/support.ts";
import { newIp } from "../client-ips.ts";
import { newTenant, numbered, send, type Tenant } from "../ingest/support.ts";
import { as, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

const raw = (path: string, init: RequestInit = {}) =>
  exports.default.fetch(new Request(`http://taffrail.test${path}`, init));

const documentShape = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
/** Every documented path with its methods, parameters filled in. */
async function routes(): Promise<[path: string, methods: string[]][]> {
  const { paths } = documentShape.parse(await (await raw("/openapi.json")).json());
  return Object.entries(paths)
    .filter(([, item]) => !isDoor(item))
    .map(([path, item]) => [
      path.replace(/\{(\w+)\}/g, "x"),
      Object.keys(item)
        .filter((name) => /^(get|post|put|patch|delete)$/.test(name))
        .map((name) => name.toUpperCase()),
    ]);
}

/** Doors, Loki's API and the routes of agents answer in other protocols; their own tests cover them. */
function isDoor(item: Record<string, unknown>): boolean {
  return /"tags":\["(Doors|Loki|Agents)"\]/.test(JSON.stringify(Object.values(item)[0]));
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"];

describe("a path", () => {
  it("that is unknown is 404 in the envelope", async () => {
    const odd = [
      "/x",
      "/w",
      "/w/",
      "/login/",
      "/Login",
      "/playground/x",
      "/app/",
      "/app/index.html",
      "/app/made-from.txt",
      "/app/files/x.js",
      "/auth/sign-up/x",
      "//",
      "/projects/",
      "/projects/x/",
      "/PROJECTS",
      "/logger",
      "/logger/x",
      "/logger/x/logs",
      "/cdn-cgi/x",
    ];
    const encoded = [
      "/%",
      "/%00",
      "/%ff",
      "/%2e%2e/x",
      "/a%2fb",
      "/docs/x",
      "/docs/%00",
      "/docs/%E0%A4%A",
      "/docs/..%2f..%2fx",
      "/auth",
    ];
    for (const path of [...odd, ...encoded, `/${"x".repeat(8000)}`]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const answer = await call(path, { method });
        expect([path.slice(0, 30), method, ...refusal(answer)]).toEqual([path.slice(0, 30), method, 404, "NOT_FOUND"]);
        expect(answer.headers.get("Content-Type")).toBe("application/json");
      }
    }
  });

  it("that is known answers other methods with 405 and lists its methods", async () => {
    const all = await routes();
    expect(all.length).toBeGreaterThan(10);
    for (const [path, methods] of all) {
      for (const method of METHODS.filter((name) => !methods.includes(name))) {
        const answer = await call(path, { method });
        expect([path, method, ...refusal(answer)]).toEqual([path, method, 405, "METHOD_NOT_ALLOWED"]);
        const allow = (answer.headers.get("Allow") ?? "").split(", ").sort();
        expect(allow).toEqual([...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort());
      }
    }
  });

  it("answers HEAD like GET, without a body", async () => {
    // Routes of one-time tokens and of redirects answer HEAD without effect; their own tests cover them.
    for (const [path, methods] of (await routes()).filter(([each]) => !each.startsWith("/auth/"))) {
      const head = await raw(path, { method: "HEAD" });
      expect(await head.text()).toBe("");
      if (!methods.includes("GET")) expect([path, head.status]).toEqual([path, 405]);
      else expect([path, head.status]).toEqual([path, (await raw(path)).status]);
    }
  });

  it("is distinguished from similar ones: the query route and the ingest route coexist", async () => {
    const tenant = await newTenant();
    const query = await call("/logger/query", { body: {}, headers: bearer(tenant.secret) });
    expect(query.status).toBe(200);
    expect((await send(tenant, numbered(1))).status).toBe(201);
    expect(refusal(await call("/logger/query/log", { body: {}, headers: bearer(tenant.secret) }))).toEqual([
      404,
      "NOT_FOUND",
    ]);
  });
});

describe("a JSON body", () => {
  let owner: Owner;
  beforeAll(async () => {
    owner = await newOwner();
  });
  const post = (body: string, headers: Record<string, string> = {}) => as(owner, "/projects", { body, headers });

  it.each([
    "",
    " ",
    "{",
    "{'name':'x'}",
    "undefined",
    '{"name":"x"',
    "[",
    '"',
    '{"name":"x"}}',
    "\u0000",
    '{"name":"\n"}',
  ])("%j is 400 and named as invalid JSON", async (body) => {
    const answer = await post(body);
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.text).toMatch(/not valid JSON|is empty/);
  });

  it("of bytes that are not UTF-8 is 400", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"name":"'), 0xff, 0x22, 0x7d]);
    const request = new Request("http://taffrail.test/projects", {
      method: "POST",
      headers: { ...owner.headers, "Content-Type": "application/json" },
      body: bytes,
    });
    expect(refusal(await answerOf(await exports.default.fetch(request)))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("is refused with every unknown member named, also odd names", async () => {
    const answer = await post('{"name":"x","a":1,"__proto__":{"b":1},"constructor":1,"toString":2}');
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    const paths = answer.details.map((detail) => z.object({ path: z.string() }).parse(detail).path);
    expect(paths.sort()).toEqual(["__proto__", "a", "constructor", "toString"].sort());
  });

  it("over 256 KiB is 413, and exactly 256 KiB is read", async () => {
    const padded = (size: number) => `{"name":"x"${" ".repeat(size - 12)}}`;
    expect((await post(padded(262_144))).status).toBe(201);
    expect(refusal(await post(padded(262_145)))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("of another type or encoding is 415", async () => {
    for (const type of ["text/plain", "application/x-ndjson", "application/xml", "text/json", "", "json"]) {
      const answer = await post('{"name":"x"}', { "Content-Type": type });
      expect([type, ...refusal(answer)]).toEqual([type, 415, "UNSUPPORTED_MEDIA_TYPE"]);
    }
    expect(refusal(await post('{"name":"x"}', { "Content-Encoding": "gzip" }))).toEqual([
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
    expect((await post('{"name":"x"}', { "Content-Type": "Application/JSON ; charset=utf-8" })).status).toBe(201);
  });

  it("is not read before the caller is authenticated", async () => {
    for (const body of ["{", "x".repeat(300_000)]) {
      expect(refusal(await call("/projects", { body }))).toEqual([401, "UNAUTHORIZED"]);
    }
  });
});

describe("the request id", () => {
  it("is the caller's or a new one, in header and body", async () => {
    for (const [sent, kept] of [
      ["my-id-1", true],
      ["x".repeat(128), true],
      ["x".repeat(129), false],
      ["a b", false],
    ] as const) {
      for (const path of ["/health", "/nothing", "/projects"]) {
        const response = await raw(path, { headers: { "X-Request-Id": sent } });
        const { meta } = z.object({ meta: z.object({ requestId: z.string() }) }).parse(await response.json());
        expect(response.headers.get("X-Request-Id")).toBe(meta.requestId);
        expect(meta.requestId === sent).toBe(kept);
      }
    }
  });
});

describe("OPTIONS", () => {
  const preflight = (path: string, origin: string) =>
    raw(path, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST", "X-Request-Id": "id-1" },
    });

  it("of a browser is 204 with the allowed methods and headers, by group", async () => {
    for (const path of ["/logger/x/log", "/logger/query", "/sandbox"]) {
      const response = await preflight(path, "https://shop.example");
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
      expect(response.headers.get("Access-Control-Allow-Credentials")).toBeNull();
      const allowed = (response.headers.get("Access-Control-Allow-Headers") ?? "").split(", ");
      expect(allowed.sort()).toEqual(
        [
          "Authorization",
          "Content-Type",
          "Content-Encoding",
          "X-Workspace-Id",
          "Idempotency-Key",
          "Taffrail-Stream",
          "X-Request-Id",
          "traceparent",
        ].sort(),
      );
      expect(response.headers.get("X-Request-Id")).toBe("id-1");
    }
    for (const path of ["/projects", "/auth/login", "/workspaces/x/rate-limits", "/nothing"]) {
      const stranger = await preflight(path, "https://shop.example");
      expect(stranger.headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(stranger.headers.get("Vary")).toBe("Origin");
      const own = await preflight(path, "http://127.0.0.1:8787");
      expect(own.headers.get("Access-Control-Allow-Origin")).toBe("http://127.0.0.1:8787");
    }
  });

  it("without a preflight lists the methods of the path, or is 404", async () => {
    const response = await raw("/projects", { method: "OPTIONS" });
    expect([response.status, response.headers.get("Allow")]).toEqual([204, "POST, GET, HEAD"]);
    expect(refusal(await call("/nothing", { method: "OPTIONS" }))).toEqual([404, "NOT_FOUND"]);
  });

  it("is never counted", async () => {
    const headers = { "CF-Connecting-IP": newIp() };
    for (const path of ["/projects", "/logger/x/log", "/auth/login", "/logger/nothing", "/auth/nothing"]) {
      const response = await raw(path, { method: "OPTIONS", headers });
      await response.text();
      expect([path, response.headers.get("X-RateLimit-Remaining")]).toEqual([path, null]);
      await (
        await raw(path, {
          method: "OPTIONS",
          headers: { ...headers, Origin: "null", "Access-Control-Request-Method": "GET" },
        })
      ).text();
    }
    expect((await call("/projects", { headers })).headers.get("X-RateLimit-Remaining")).toBe("999");
  });
});

describe("an answer to another origin", () => {
  const exposed = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id";
  const from = (path: string, origin: string, settings: Record<string, string> = {}) =>
    callWith(settings, path, { headers: { Origin: origin } });

  it("below /logger and /sandbox is allowed for every origin, refusals too", async () => {
    for (const path of ["/logger/query", "/logger/x/log", "/sandbox"]) {
      const { headers } = await from(path, "null");
      expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
      expect(headers.get("Access-Control-Expose-Headers")).toBe(exposed);
    }
  });

  it("elsewhere is allowed for the frontend and the configured origins only", async () => {
    const settings = { FRONTEND_URL: "https://app.example", CORS_ORIGINS: "https://a.example, https://b.example:8443" };
    for (const origin of ["https://app.example", "https://a.example", "https://b.example:8443"]) {
      const { headers } = await from("/projects", origin, settings);
      expect(headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
      expect(headers.get("Vary")).toBe("Origin");
    }
    for (const origin of [
      "https://app.example.evil",
      "http://app.example",
      "https://xa.example",
      "https://b.example",
      "null",
      "*",
      "",
    ]) {
      const { headers } = await from("/projects", origin, settings);
      expect([origin, headers.get("Access-Control-Allow-Origin")]).toEqual([origin, null]);
    }
  });
});

describe("a fault of the service", () => {
  it("is 500 in the envelope and does not reveal its cause", async () => {
    const secret = "cause-with-a-secret";
    const database = {
      prepare: () => {
        throw new Error(secret);
      },
    };
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    const ctx = createExecutionContext();
    const body = { email: "a@example.com", password: "long enough" };
    const request = requestOf("/auth/login", { body, headers: { "X-Request-Id": "fault-1" } });
    const response = await app.fetch(request, { ...env, DB: database }, ctx);
    await waitOnExecutionContext(ctx);
    const lines = spy.mock.calls.map(([line]) => String(line));
    spy.mockRestore();
    const answer = await answerOf(response);
    expect(refusal(answer)).toEqual([500, "INTERNAL_ERROR"]);
    expect(answer.text).not.toContain(secret);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain(secret);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "error",
      event: "auth.login",
      outcome: "INTERNAL_ERROR",
      requestId: "fault-1",
      status: 500,
    });
  });

  it("in the settings is 500 in the envelope too", async () => {
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    const answer = await callWith({ JWT_SECRET: "short" }, "/health").finally(() => spy.mockRestore());
    expect(refusal(answer)).toEqual([500, "INTERNAL_ERROR"]);
    expect(answer.text).not.toContain("short");
    expect(answer.headers.get("X-Request-Id")).toMatch(/^req_/);
  });
});

describe("request events", () => {
  let tenant: Tenant;
  let owner: Owner;
  beforeAll(async () => {
    tenant = await newTenant();
    owner = await newOwner();
  });

  async function linesOf(requests: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    await requests();
    const lines = spy.mock.calls.map(([line]) => JSON.parse(String(line)));
    spy.mockRestore();
    return lines;
  }
  const info = { LOG_LEVEL: "info" };

  it("contain operation, caller, outcome and duration", async () => {
    const [line, ...more] = await linesOf(() =>
      callWith(info, `/logger/${tenant.projectId}/log`, {
        body: [{ message: "m" }, { message: "" }],
        headers: { ...bearer(tenant.secret), "X-Request-Id": "line-1" },
      }),
    );
    expect(more).toEqual([]);
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: "info",
      event: "workspace.ingest",
      outcome: "ok",
      workspaceId: tenant.workspaceId,
      projectId: tenant.projectId,
      accepted: 1,
      rejected: 1,
      duplicate: false,
      requestId: "line-1",
      status: 201,
      durationMs: expect.any(Number),
    });
  });

  it("contain the code of a refusal", async () => {
    const lines = await linesOf(async () => {
      await callWith(info, "/projects");
      await callWith(info, `/logger/${tenant.projectId}/log`, { body: "{", headers: bearer(tenant.secret) });
    });
    expect(lines.map(({ outcome }) => outcome)).toEqual(["UNAUTHORIZED", "VALIDATION_ERROR"]);
  });

  it("never contain a key, a token, an address or an entry, wherever a client put them", async () => {
    const projectId = await newProject(owner);
    const token = owner.headers.Authorization.slice("Bearer ".length);
    const secrets = [tenant.secret, token, "content-of-a-log", "hunter2-hunter2", "someone@example.com"];
    const answers: Answer[] = [];
    const lines = await linesOf(async () => {
      const attempts: [string, Parameters<typeof callWith>[2]][] = [
        [
          `/logger/${tenant.projectId}/log`,
          { body: { message: "content-of-a-log", k: "content-of-a-log" }, headers: bearer(tenant.secret) },
        ],
        [
          `/logger/${tenant.projectId}/log`,
          { body: { message: 1, k: "content-of-a-log" }, headers: bearer(tenant.secret) },
        ],
        ["/logger/query", { body: { filters: { search: "content-of-a-log" } }, headers: bearer(tenant.secret) }],
        [`/logger/${tenant.secret}/log`, { body: { message: "m" }, headers: bearer(tenant.secret) }],
        [`/projects/${tenant.secret}`, { headers: owner.headers }],
        ["/projects", { headers: { ...owner.headers, "X-Workspace-Id": token } }],
        ["/projects", { headers: { ...owner.headers, "X-Workspace-Id": tenant.secret } }],
        [
          `/projects/${projectId}/keys`,
          { body: { name: "content-of-a-log", scopes: ["logs:read"] }, headers: owner.headers },
        ],
        ["/auth/login", { body: { email: "someone@example.com", password: "hunter2-hunter2" } }],
        ["/auth/register", { body: { email: "someone@example.com", password: "hunter2-hunter2", name: "someone" } }],
        [`/auth/me?token=${token}`, { headers: owner.headers }],
        [`/workspaces/${tenant.secret}/rate-limits`, { headers: owner.headers }],
      ];
      for (const [path, options] of attempts) answers.push(await callWith(info, path, options));
    });
    expect(lines.length).toBe(answers.length);
    const made = answers.flatMap(({ data }) => {
      const parsed = z
        .object({ secret: z.string() })
        .or(z.object({ accessToken: z.string(), refreshToken: z.string() }))
        .safeParse(data);
      return parsed.success ? Object.values(parsed.data) : [];
    });
    expect(made.length).toBe(3);
    for (const line of lines) {
      const text = JSON.stringify(line);
      // Not even a recognizable part of a secret.
      for (const secret of [...secrets, ...made]) expect(text).not.toContain(secret.slice(0, 16));
    }
  });
});

it("use no code outside the closed list", () => {
  expect(Object.keys(ERROR_STATUS)).toHaveLength(37);
});

describe("a refusal without a route", () => {
  it("has every header, of the limit and of the request", async () => {
    const origin = "http://127.0.0.1:8787";
    const ip = newIp();
    const limited = { ...env, AUTH_LIMIT: "2" };
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const context = createExecutionContext();
      const request = new Request("http://taffrail.test/auth/nope", {
        headers: { Origin: origin, "CF-Connecting-IP": ip, "X-Request-Id": `unrouted-${i}` },
      });
      // SAFETY: the test's environment has every binding of the worker's.
      const answer = await app.fetch(request, limited as never, context);
      await waitOnExecutionContext(context);
      statuses.push(answer.status);
      expect(answer.headers.get("X-RateLimit-Limit")).toBe("2");
      expect(answer.headers.get("X-Request-Id")).toBe(`unrouted-${i}`);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(answer.headers.has("Retry-After")).toBe(i === 2);
    }
    expect(statuses).toEqual([404, 404, 429]);
  });
});

describe("wrong settings", () => {
  it("are named in the log, and no request is served", async () => {
    const lines = vi.spyOn(console, "log").mockImplementation(() => {});
    const context = createExecutionContext();
    const request = new Request("http://taffrail.test/health", { headers: { "X-Request-Id": "wrong-settings" } });
    // SAFETY: the test's environment has every binding of the worker's.
    const answer = await app.fetch(request, { ...env, JWT_SECRET: "short-but-secret" } as never, context);
    await waitOnExecutionContext(context);
    const written = lines.mock.calls.flat().join("\n");
    lines.mockRestore();
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      error: { code: "INTERNAL_ERROR" },
      meta: { requestId: "wrong-settings" },
    });
    expect(written).toContain("router.settings");
    expect(written).toContain("JWT_SECRET");
    expect(written).not.toContain("short-but-secret");
  });
});
