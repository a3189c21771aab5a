import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type Page, register } from "../../support/api.ts";
import { startServer, type TestServer, temporaryDir } from "../../support/server.ts";

describe("a server as npm start runs it", () => {
  let server: TestServer;
  const secretsFile = () => path.join(server.dataDir, "secrets.json");

  beforeAll(async () => {
    // Not the migrated databases of other tests.
    server = await startServer({ env: { DATA_DIR: temporaryDir() } });
  });
  afterAll(() => server.stop());

  test("migrates its databases at the first start", () => {
    expect(server.output()).toMatch(/Migrated the database: .*\.sql/);
  });

  test("is healthy once it reports that it runs, and prints its address", async () => {
    expect(server.output()).toContain(server.url);
    const answer = await fetch(`${server.url}/health`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ success: true, data: { database: "ok", objects: "ok" } });
  });

  test("leaves the simulator's own paths to the application", async () => {
    for (const target of ["/cdn-cgi/handler/scheduled", "/cdn-cgi/mf/scheduled", "/cdn-cgi/explorer"]) {
      const answer = await fetch(`${server.url}${target}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
  });

  test("shows the client IP of a request in sessions and activity, not 0.0.0.0", async () => {
    const account = await register(server.url);
    const body = { email: account.email, password: account.password };
    await call(server.url, "/auth/login", { body, headers: { "X-Forwarded-For": "203.0.113.9" } });
    for (const [path, member] of [
      ["/auth/sessions", "ip"],
      ["/auth/me/activity", "address"],
    ] as const) {
      const { items } = (await call<Page<Record<string, string>>>(server.url, path, { token: account.accessToken }))
        .body.data;
      expect(new Set(items.map((item) => item[member]))).toEqual(new Set(["127.0.0.1", "203.0.113.9"]));
    }
  });

  test("keeps its secrets readable by its owner only, and uses the same ones after a restart", async () => {
    expect(statSync(secretsFile()).mode & 0o777).toBe(0o600);
    const before = readFileSync(secretsFile(), "utf8");
    expect(Object.keys(JSON.parse(before))).toEqual(["JWT_SECRET", "REFRESH_PEPPER"]);
    await server.restart();
    expect(readFileSync(secretsFile(), "utf8")).toBe(before);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  test("migrates once: a second start has nothing to migrate", () => {
    expect(server.output()).not.toContain("Migrated");
  });

  test("exits with 0 on SIGTERM and frees its port", async () => {
    expect(await server.stop()).toBe(0);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
    await server.restart();
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });
});
