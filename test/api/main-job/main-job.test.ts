import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  asUser,
  call,
  createKey,
  createProject,
  createTenant,
  type FoundLogs,
  register,
  type Tenant,
} from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Runs a query that must succeed, and returns its rows. */
async function query(tenant: Tenant, filters: object): Promise<{ message: string; seq: number; id: string }[]> {
  const { status, body } = await call<FoundLogs>(server.url, "/logger/query", {
    token: tenant.key.secret,
    body: { filters, pagination: { limit: 1000 } },
  });
  expect([status, body.error]).toEqual([200, null]);
  expect(body.data.complete).toBe(true);
  return body.data.logs;
}

test("the main job: register, project, key, send, find, revoke, refused", async () => {
  const account = await register(server.url);
  const projectId = await createProject(server.url, account, "shop");
  const key = await createKey(server.url, account, projectId);
  const tenant = { account, projectId, key };
  const path = `/logger/${projectId}/log`;
  const entries = [
    { message: "Order 17 paid", level: "info", category: "http", data: { orderId: 17, user: { plan: "pro" } } },
    { message: "Card declined", level: "error", category: "custom", type: "payment", data: { orderId: 18 } },
    { message: "Cache miss", category: "cache", type: "miss", session: "s-1" },
  ];
  const sent = await call(server.url, path, { token: key.secret, body: entries });
  expect(sent.status).toBe(201);
  expect(sent.body.data).toMatchObject({ accepted: 3, firstSeq: 1, lastSeq: 3 });
  const lines = ['{"message":"line 1","userId":7}', '{"message":"line 2"}'].join("\n");
  const headers = { "Content-Type": "application/x-ndjson", "Content-Encoding": "gzip" };
  const zipped = await call(server.url, path, { token: key.secret, body: new Uint8Array(gzipSync(lines)), headers });
  expect(zipped.body.data).toMatchObject({ accepted: 2, firstSeq: 4, lastSeq: 5 });

  const messages = async (filters: object) => (await query(tenant, filters)).map(({ message }) => message).sort();
  expect(await messages({ level: "error" })).toEqual(["Card declined"]);
  expect(await messages({ minLevel: "info", category: ["http", "cache"] })).toEqual(["Cache miss", "Order 17 paid"]);
  expect(await messages({ search: "ORDER" })).toEqual(["Order 17 paid"]);
  expect(await messages({ data: { "user.plan": "pro" } })).toEqual(["Order 17 paid"]);
  expect(await messages({ data: { orderId: { gte: 17 } } })).toEqual(["Card declined", "Order 17 paid"]);
  expect(await messages({ data: { userId: 7 } })).toEqual(["line 1"]);
  expect(await messages({})).toHaveLength(5);
  const mine = await call<FoundLogs>(server.url, "/logger/query", { ...asUser(account), body: { projectId } });
  expect(mine.body.data.logs).toHaveLength(5);
  const project = await call<{ lastSeq: number }>(server.url, `/projects/${projectId}`, asUser(account));
  expect(project.body.data.lastSeq).toBe(5);

  const revoked = await call(server.url, `/projects/${projectId}/keys/${key.id}`, {
    ...asUser(account),
    method: "DELETE",
  });
  expect(revoked.body.data).toEqual({ revoked: true });
  for (const refused of ["/logger/query", path]) {
    const answer = await call(server.url, refused, { token: key.secret, body: { message: "m" } });
    expect([answer.status, answer.body.error.code]).toEqual([401, "API_KEY_REVOKED"]);
  }
});

describe("a query that starts after the 201", () => {
  test("returns the entry: 1,000 of 1,000, with concurrent writers and readers", async () => {
    const tenant = await createTenant(server.url);
    const limits = { default: { limit: 1_000_000 } };
    const path = `/workspaces/${tenant.account.workspaceId}/rate-limits`;
    expect((await call(server.url, path, { ...asUser(tenant.account), method: "PUT", body: limits })).status).toBe(200);
    let next = 0;
    let seen = 0;
    const worker = async () => {
      while (next < 1000) {
        const session = `try ${next++}`;
        const { status } = await call(server.url, `/logger/${tenant.projectId}/log`, {
          token: tenant.key.secret,
          body: { message: "m", session },
        });
        expect(status).toBe(201);
        if ((await query(tenant, { session })).length === 1) seen++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(seen).toBe(1000);
  });

  test("returns it after a clean restart, too", async () => {
    const tenant = await createTenant(server.url);
    const body = Array.from({ length: 20 }, (_, i) => ({ message: `m${i}` }));
    expect((await call(server.url, `/logger/${tenant.projectId}/log`, { token: tenant.key.secret, body })).status).toBe(
      201,
    );
    const before = await query(tenant, {});
    expect(before).toHaveLength(20);
    await server.restart();
    expect(await query(tenant, {})).toEqual(before);
  });
});
