import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

const fetched = (path: string, method = "GET") =>
  exports.default.fetch(new Request(`http://taffrail.test${path}`, { method, redirect: "manual" }));

const PAGES = ["/", "/login", "/playground", "/auth/sign-up", "/auth/callback", "/w/x", "/w/x/settings/keys", "/w/%ff"];

describe("the console's paths", () => {
  it.each(PAGES)("%s is one page, under a policy that lets nobody else in", async (path) => {
    const page = await fetched(path);
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    // No host, no scheme but the images' data:, and nothing inline.
    expect(policy).not.toMatch(/unsafe|https?:|\*|blob:/);
    expect(page.headers.get("X-RateLimit-Limit")).toBeNull();
    expect(page.headers.get("Cache-Control")).toBe("no-cache");
    expect(await page.text()).toContain('<div id="app"></div>');
  });

  it("answer HEAD without a body, and are no API for any other method", async () => {
    const head = await fetched("/login", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await fetched("/login", "POST");
    expect([post.status, post.headers.get("Content-Type")]).toEqual([404, "application/json"]);
  });

  it("load files that may be kept for good, as their names change with what is in them", async () => {
    const html = await (await fetched("/")).text();
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
    // No script or style of its own in the page: the policy would keep them from running.
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  });
});
