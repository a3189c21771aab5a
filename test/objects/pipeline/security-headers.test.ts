import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { app } from "../../../src/routes/app.ts";
import { settingsProblems } from "../../../src/settings.ts";
import { bearer, callWith } from "../accounts/support.ts";
import { newTenant } from "../ingest/support.ts";

const ask = (url: string, init: RequestInit = {}) =>
  exports.default.fetch(new Request(url, { redirect: "manual", ...init }));

async function askWith(settings: object, url: string, init: RequestInit = {}): Promise<Response> {
  const ctx = createExecutionContext();
  const response = await app.fetch(new Request(url, init), { ...env, ...settings }, ctx);
  await waitOnExecutionContext(ctx);
  return response;
}

/** Requests for each kind of response: method, path, headers and expected status. */
const ANSWERS: [string, string, Record<string, string>, number][] = [
  ["GET", "/health", {}, 200],
  ["HEAD", "/health", {}, 200],
  ["GET", "/openapi.json", {}, 200],
  ["GET", "/nothing", {}, 404],
  ["DELETE", "/projects", {}, 405],
  ["GET", "/projects", {}, 401],
  ["GET", "/", {}, 200],
  ["GET", "/docs", {}, 200],
  ["GET", "/docs/reference.js", {}, 200],
  ["GET", "/pages/account.css", {}, 200],
  ["GET", "/auth/verify-email?token=x", { Accept: "text/html" }, 200],
  ["GET", "/auth/oauth/provider_a/callback", {}, 302],
  ["OPTIONS", "/projects", {}, 204],
  ["OPTIONS", "/logger/query", { Origin: "https://a.example", "Access-Control-Request-Method": "POST" }, 204],
];

describe("B16: security headers", () => {
  it.each(ANSWERS)("B16: %s %s with %j has them, HSTS over https only", async (method, path, headers, status) => {
    for (const scheme of ["http", "https"]) {
      const answer = await ask(`${scheme}://taffrail.test${path}`, { method, headers });
      await answer.body?.cancel();
      expect(answer.status).toBe(status);
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(answer.headers.get("Permissions-Policy")).toContain("camera=(), ");
      expect([scheme, answer.headers.get("Strict-Transport-Security")]).toEqual([
        scheme,
        scheme === "https" ? "max-age=31536000" : null,
      ]);
    }
  });

  it("B16: files of the console have them", async () => {
    const page = await (await ask("https://taffrail.test/")).text();
    const files = [...page.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const answer = await ask(`https://taffrail.test${file}`);
      await answer.body?.cancel();
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(answer.headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
    }
  });

  it("B16: an upgrade to WebSocket has them", async () => {
    const { projectId, secret } = await newTenant();
    const headers = { ...bearer(secret), Upgrade: "websocket" };
    const answer = await ask(`https://taffrail.test/logger/${projectId}/tail`, { headers });
    expect(answer.status).toBe(101);
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(answer.headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
    answer.webSocket?.accept();
    answer.webSocket?.close();
  });

  it("B16: responses of a deployment with invalid settings and of a fault have them", async () => {
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    const wrong = await askWith({ JWT_SECRET: "short" }, "https://taffrail.test/health");
    const fault = await askWith({ DB: {} }, "https://taffrail.test/dev/outbox", {});
    spy.mockRestore();
    for (const answer of [wrong, fault]) {
      await answer.body?.cancel();
      expect([answer.headers.get("X-Content-Type-Options"), answer.headers.get("Strict-Transport-Security")]).toEqual([
        "nosniff",
        "max-age=31536000",
      ]);
    }
    expect(wrong.status).toBe(500);
  });

  it("B16: behind a proxy that ends TLS, BASE_URL says that it is https and X-Forwarded-Proto that it was not", async () => {
    const settings = {
      BASE_URL: "https://logs.example.com",
      MAILER: "resend",
      RESEND_API_KEY: "x",
      MAIL_FROM: "a@b.example",
    };
    const hsts = async (headers: Record<string, string>) => {
      const answer = await askWith(settings, "http://127.0.0.1:8787/nothing", { headers });
      await answer.text();
      return answer.headers.get("Strict-Transport-Security");
    };
    expect(await hsts({})).toBe("max-age=31536000");
    expect(await hsts({ "X-Forwarded-Proto": "https" })).toBe("max-age=31536000");
    expect(await hsts({ "X-Forwarded-Proto": "http" })).toBeNull();
  });
});

describe("B16: /.well-known/security.txt", () => {
  const url = "http://taffrail.test/.well-known/security.txt";
  const DAY_MS = 86_400_000;

  it("B16: names the contacts and a future expiry, as RFC 9116 requires", async () => {
    const answer = await askWith({ SECURITY_CONTACT: "security@example.com, https://example.com/report" }, url);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(answer.headers.get("X-RateLimit-Limit")).toBeNull();
    const lines = (await answer.text()).split("\n");
    expect(lines.slice(0, 2)).toEqual(["Contact: mailto:security@example.com", "Contact: https://example.com/report"]);
    const expires = Date.parse(/^Expires: (\d{4}-\d\d-\d\dT00:00:00\.000Z)$/.exec(lines[2] ?? "")?.[1] ?? "");
    expect(expires).toBeGreaterThan(Date.now() + 178 * DAY_MS);
    expect(expires).toBeLessThanOrEqual(Date.now() + 180 * DAY_MS);
    expect(lines.slice(3)).toEqual([""]);
  });

  it("B16: names its URL if it is https", async () => {
    const settings = {
      BASE_URL: "https://logs.example.com",
      MAILER: "resend",
      RESEND_API_KEY: "x",
      MAIL_FROM: "a@b.example",
    };
    const answer = await askWith({ ...settings, SECURITY_CONTACT: "mailto:a@example.com" }, url);
    expect(await answer.text()).toMatch(
      /^Contact: mailto:a@example\.com\nExpires: .+\nCanonical: https:\/\/logs\.example\.com\/\.well-known\/security\.txt\n$/,
    );
  });

  it("B16: is a 404 in the envelope, counted, without a contact; other methods are 405", async () => {
    const path = "/.well-known/security.txt";
    for (const SECURITY_CONTACT of ["", " , "]) {
      const answer = await callWith({ SECURITY_CONTACT }, path);
      expect([answer.status, answer.code, answer.headers.get("X-RateLimit-Limit")]).toEqual([404, "NOT_FOUND", "1000"]);
    }
    expect((await callWith({}, path, { method: "POST", body: {} })).headers.get("Allow")).toBe("GET, HEAD");
  });

  it.each(["someone", "http://example.com", "javascript:alert(1)", "https://a b", "a@b\nContact: c@d", "a@b,x"])(
    "B16: %j is not a contact: the setting is refused by its name",
    (SECURITY_CONTACT) => {
      const secrets = { JWT_SECRET: "x".repeat(32), REFRESH_PEPPER: "x".repeat(32) };
      expect(settingsProblems({ ...secrets, SECURITY_CONTACT }).join()).toMatch(/^SECURITY_CONTACT/);
      expect(settingsProblems({ ...secrets, SECURITY_CONTACT: "a@b.example" })).toEqual([]);
    },
  );
});

describe("the documents of a deployment", () => {
  it("/docs without the console is a 404 in the envelope, counted", async () => {
    const ASSETS = { fetch: async () => new Response(null, { status: 404 }) };
    const answer = await callWith({ ASSETS }, "/docs");
    expect([answer.status, answer.code, answer.headers.get("X-RateLimit-Limit")]).toEqual([404, "NOT_FOUND", "1000"]);
  });

  it("a browser gets the page for a document, whose own content is not left unread", async () => {
    let cancelled = 0;
    const body = () => new ReadableStream({ cancel: () => void cancelled++ });
    const ASSETS = {
      fetch: async (input: Request | URL) =>
        input instanceof URL ? new Response("<title>Taffrail</title>") : new Response(body()),
    };
    const answer = await askWith({ ASSETS }, "http://taffrail.test/docs/alerts.md", {
      headers: { Accept: "text/html" },
    });
    expect([await answer.text(), cancelled]).toEqual(["<title>Taffrail</title>", 1]);
  });
});
