import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedServerUrl } from "../../support/shared-server-url.ts";

describe("the API's documentation", () => {
  let url: string;
  beforeAll(async () => {
    url = await sharedServerUrl();
  });

  test("/openapi.json is a valid OpenAPI 3.1 document", async () => {
    const answer = await fetch(`${url}/openapi.json`);
    expect(answer.headers.get("Content-Type")).toBe("application/json");
    const document = await answer.json();
    expect(document.openapi).toBe("3.1.0");
    expect(document.servers).toEqual([{ url }]);
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document.tags.filter((tag: { description?: string }) => !tag.description)).toEqual([]);
    expect(document.info.description).toContain("5 MiB of JSON, 20 MiB of NDJSON");
    expect(document.info.description).toMatch(/## Authentication.*Authorization: Bearer sk_.*## Limits of ingest/s);
  });

  test("/openapi.json names only existing operations, each once, with the envelope and its error codes", async () => {
    const document = await (await fetch(`${url}/openapi.json`)).json();
    const ids = new Set<string>();
    for (const [template, item] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        expect(ids.has(operation.operationId)).toBe(false);
        ids.add(operation.operationId);
        expect(Object.keys(operation.responses).some((status) => /^(101|2..|302)$/.test(status))).toBe(true);
        const path = template.replace(/\{\w+\}/g, "none");
        const answer = await fetch(`${url}${path}`, { method: method.toUpperCase(), redirect: "manual" });
        expect(answer.status, `${method} ${path}`).not.toBe(405);
        expect(Object.keys(operation.responses), `${method} ${path}`).toContain(String(answer.status));
        // Doors, Loki's API and the routes of agents answer in the shapes of their clients.
        const isForeign = operation.tags.some((tag) => ["Doors", "Loki", "Agents"].includes(tag));
        if (answer.status === 302 || isForeign) continue;
        const body = await answer.json();
        if (body.success) continue;
        const described = JSON.stringify(operation.responses[String(answer.status)]);
        expect(described, `${method} ${path}`).toContain(`"${body.error.code}"`);
      }
    }
    expect(ids).toContain("service.health");
  });

  test("/docs is a page of the console, whose policy allows the files of the reference", async () => {
    const page = await fetch(`${url}/docs`);
    expect(page.headers.get("Content-Type")).toContain("text/html");
    expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'; script-src 'self'");
    const html = await page.text();
    expect(html).toContain('<div id="app">');
    expect(html).toContain("<title>API reference · Taffrail</title>");
    for (const file of ["reference.js", "reference-plugins.js", "swagger-ui-bundle.js", "swagger-ui.css"]) {
      const answer = await fetch(`${url}/docs/${file}`);
      expect([file, answer.status]).toEqual([file, 200]);
      await answer.arrayBuffer();
    }
  });

  test("a document is a page for a browser and Markdown for other clients", async () => {
    const path = `${url}/docs/query-language.md`;
    const page = await fetch(path, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect([page.status, page.headers.get("Content-Type"), page.headers.get("Cache-Control")]).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-cache",
    ]);
    expect(page.headers.get("Vary")).toContain("Accept");
    const text = await fetch(path);
    expect(text.headers.get("Content-Type")).toContain("text/markdown");
    expect(text.headers.get("Vary")).toContain("Accept");
    expect(await text.text()).toMatch(/^# /);
  });

  test.each(["/docs/nothing.js", "/docs/", "/index.html", "/swagger-ui.css", "/docs/..%2f..%2fpackage.json"])(
    "%s is the 404 envelope, not HTML",
    async (target) => {
      const answer = await fetch(`${url}${target}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get("X-RateLimit-Limit")).toBe("1000");
      expect(await answer.json()).toMatchObject({ success: false, error: { code: "NOT_FOUND" } });
    },
  );

  test("another method on /docs is 405 with Allow", async () => {
    const answer = await fetch(`${url}/docs`, { method: "POST" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("Allow")).toBe("GET, HEAD");
  });
});

interface Operation {
  operationId: string;
  tags: readonly string[];
  responses: Record<string, unknown>;
}
