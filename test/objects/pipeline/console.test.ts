import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../../src/routes/app.ts";

const fetched = (path: string, method = "GET") =>
  exports.default.fetch(new Request(`http://taffrail.test${path}`, { method, redirect: "manual" }));

const PAGES = ["/", "/login", "/playground", "/auth/sign-up", "/auth/callback", "/w/x", "/w/x/settings/keys", "/w/%ff"];

describe("the console's paths", () => {
  it.each(PAGES)("%s is one page, under a policy that allows this origin only", async (path) => {
    const page = await fetched(path);
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    // No host, no scheme except `data:` for images, and nothing inline.
    expect(policy).not.toMatch(/unsafe|https?:|\*|blob:/);
    expect(page.headers.get("X-RateLimit-Limit")).toBeNull();
    expect(page.headers.get("Cache-Control")).toBe("no-cache");
    expect(await page.text()).toContain('<div id="app"></div>');
  });

  it("answer HEAD without a body, and no other method", async () => {
    const head = await fetched("/login", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await fetched("/login", "POST");
    expect([post.status, post.headers.get("Content-Type")]).toEqual([404, "application/json"]);
  });

  it("load files that may be cached indefinitely, because their names contain a hash", async () => {
    const page = await fetched("/");
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      const loaded = await fetched(file);
      expect([file, loaded.status, loaded.headers.get("Cache-Control")]).toEqual([
        file,
        200,
        "public, max-age=31536000, immutable",
      ]);
      expect(loaded.headers.get("X-Content-Type-Options")).toBe("nosniff");
    }
    // Except the script whose hash the policy has, the page has no inline script or style, which the policy would block.
    const [script, hash, code] = /<script data-hash="([^"]+)">([\s\S]*?)<\/script>/.exec(html) ?? [];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code));
    expect(hash).toBe(`sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`);
    expect(page.headers.get("Content-Security-Policy")).toContain(`script-src 'self' '${hash}';`);
    expect(html.replace(script ?? "", "")).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  });
});

/** The Accept header of a browser that follows a link. */
const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

const missed = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  exports.default.fetch(new Request(`http://taffrail.test${path}`, { method, headers }));

describe("an unknown path", () => {
  it.each(["/nowhere", "/w", "/health/x", "/docs/nothing", "/playground/x", "/%ff", "/app/files/nothing.js"])(
    "%s is the console's page for a browser, with status 404 and no limit headers",
    async (path) => {
      const page = await missed(path, BROWSER);
      expect([page.status, page.headers.get("Content-Type")]).toEqual([404, "text/html; charset=utf-8"]);
      expect(await page.text()).toContain('<div id="app"></div>');
      expect(page.headers.get("Vary")).toContain("Accept");
      expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      expect(page.headers.get("X-RateLimit-Limit")).toBeNull();
      const head = await missed(path, BROWSER, "HEAD");
      expect([head.status, await head.text()]).toEqual([404, ""]);
    },
  );

  it.each([
    ["for a client that accepts anything", "/nowhere", { Accept: "*/*" }, "GET"],
    ["for a client without an Accept header", "/nowhere", {}, "GET"],
    ["for any text", "/nowhere", { Accept: "text/*" }, "GET"],
    ["for another method", "/nowhere", BROWSER, "POST"],
    ["below /auth", "/auth/nowhere", BROWSER, "GET"],
    ["below /logger", "/logger/x/y/z", BROWSER, "GET"],
    ["below /projects", "/projects/x/y/z", BROWSER, "GET"],
    ["below /workspaces", "/workspaces/x/y/z", BROWSER, "GET"],
    ["below /sandbox", "/sandbox/x", BROWSER, "GET"],
    ["below /operator", "/operator/x", BROWSER, "GET"],
  ] as const)("stays in the envelope %s, and counts", async (_, path, headers, method) => {
    const answer = await missed(path, headers, method);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([404, "application/json"]);
    expect(answer.headers.get("X-RateLimit-Limit")).not.toBeNull();
    expect(await answer.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

describe("the console's page", () => {
  const meta = async (settings: object) => {
    const html = await app.fetch(new Request("http://taffrail.test/login"), { ...env, ...settings });
    return /<meta name="taffrail-providers" content="([^"]*)"/.exec(await html.text())?.[1];
  };

  it("names the configured providers only", async () => {
    expect(await meta({ PROVIDER_A_CLIENT_ID: "", PROVIDER_B_CLIENT_ID: "" })).toBe("");
    expect(await meta({ PROVIDER_A_CLIENT_ID: "a", PROVIDER_B_CLIENT_ID: "" })).toBe("provider_a");
    expect(await meta({ PROVIDER_A_CLIENT_ID: "a", PROVIDER_B_CLIENT_ID: "b" })).toBe("provider_a provider_b");
  });
});

describe("the page of all components", () => {
  const statusOf = async (url: string, settings: object) =>
    (await app.fetch(new Request(url), { ...env, ...settings })).status;

  it("is served by a service that runs locally only", async () => {
    expect(await statusOf("http://127.0.0.1:8787/dev/ui", { MAILER: "outbox" })).toBe(200);
    expect(await statusOf("http://taffrail.test/dev/ui", { MAILER: "outbox" })).toBe(404);
    expect(
      await statusOf("http://127.0.0.1:8787/dev/ui", { MAILER: "cloudflare", MAIL_FROM: "logs@example.com" }),
    ).toBe(404);
  });
});
