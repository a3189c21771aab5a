import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { mailedToken } from "./mail-support.ts";
import { call, registered, requestOf, settings } from "./support.ts";

type Paths = Record<string, Record<string, { security: object[] }>>;

const document = async (): Promise<{ paths: Paths }> =>
  (await exports.default.fetch("http://t.test/openapi.json")).json();

describe("every /auth route", () => {
  it("counts by client IP under AUTH", async () => {
    const { paths } = await document();
    const routes = Object.entries(paths)
      .filter(([path]) => path.startsWith("/auth/"))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const));
    expect(routes.length).toBeGreaterThanOrEqual(20);
    let remaining = Number.POSITIVE_INFINITY;
    for (const [method, path] of routes) {
      const url = path.replace("{sessionId}", "fam_0123456789ab");
      const body = method === "POST" || method === "PUT" ? { body: {} } : {};
      const answer = await exports.default.fetch(requestOf(url, { method, ...body }), { redirect: "manual" });
      await answer.arrayBuffer();
      expect([method, path, answer.headers.get("X-RateLimit-Limit")]).toEqual([
        method,
        path,
        String(settings.AUTH_LIMIT),
      ]);
      const left = Number(answer.headers.get("X-RateLimit-Remaining"));
      expect(left).toBeLessThan(remaining);
      remaining = left;
    }
  });

  it("with a token in the URL forbids caching and varies by Accept, for every response", async () => {
    for (const path of ["/auth/verify-email", "/auth/magic-link/verify"]) {
      const email = `cached${path.replaceAll("/", "-")}@example.com`;
      await call("/auth/magic-link", { body: { email } });
      const link = path.includes("magic") ? await mailedToken(email, "magic-link") : null;
      if (link === null) await registered(email);
      const token = link ?? (await mailedToken(email, "verify-email"));
      const origin = { Origin: settings.FRONTEND_URL };
      for (const [query, status, headers] of [
        [`?token=${token}`, 200, { Accept: "text/html" }],
        [`?token=${token}`, 200, origin],
        [`?token=${token}`, 400, origin],
        ["", 400, {}],
      ] as const) {
        const answer = await exports.default.fetch(requestOf(`${path}${query}`, { headers: { ...headers } }));
        await answer.arrayBuffer();
        expect([path, answer.status, answer.headers.get("Cache-Control")]).toEqual([path, status, "no-store"]);
        const vary = answer.headers.get("Vary")?.split(/, */);
        expect(vary).toEqual("Origin" in headers ? ["Accept", "Origin"] : ["Accept"]);
      }
    }
  });

  it("with an access token reports a missing one before any other error", async () => {
    const { paths } = await document();
    for (const [path, methods] of Object.entries(paths)) {
      if (!path.startsWith("/auth/")) continue;
      for (const [method, { security }] of Object.entries(methods)) {
        if (security.length === 0) continue;
        const answer = await exports.default.fetch(requestOf(path, { method: method.toUpperCase() }));
        const { error } = (await answer.json()) as { error: { code: string } };
        expect([method, path, answer.status, error.code]).toEqual([method, path, 401, "UNAUTHORIZED"]);
      }
    }
  });
});
