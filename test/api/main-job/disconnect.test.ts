import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, call, createTenant, type FoundLogs } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test("clients that disconnect at once affect no other response: every batch is stored whole or not at all", async () => {
  const { account, projectId, key } = await createTenant(server.url);
  const limits = { default: { limit: 1_000_000 } };
  await call(server.url, `/workspaces/${account.workspaceId}/rate-limits`, {
    ...asUser(account),
    method: "PUT",
    body: limits,
  });
  const path = `/logger/${projectId}/log`;
  const batch = (name: string) => JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ message: `${name}.${i}` })));

  /** Sends a whole batch and disconnects as soon as the system has taken it. */
  const hangUp = (name: string) =>
    new Promise<void>((resolve) => {
      const headers = { Authorization: `Bearer ${key.secret}`, "Content-Type": "application/json" };
      const request = http.request({
        port: server.port,
        host: "127.0.0.1",
        method: "POST",
        path,
        headers,
        agent: false,
      });
      request.on("error", () => {});
      request.on("close", resolve);
      request.end(batch(name), () => request.destroy());
    });

  const acknowledged: string[] = [];
  const stay = async (worker: number) => {
    for (let i = 0; i < 25; i++) {
      const name = `stay${worker}.${i}`;
      const { status } = await call(server.url, path, { token: key.secret, body: batch(name) });
      expect(status).toBe(201);
      acknowledged.push(name);
    }
  };
  const leave = async (worker: number) => {
    for (let i = 0; i < 60; i++) await hangUp(`leave${worker}.${i}`);
  };
  await Promise.all([0, 1, 2, 3].flatMap((worker) => [stay(worker), leave(worker)]));

  const found: { seq: number; message: string }[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const pagination = { limit: 1000, ...(cursor ? { cursor } : {}) };
    const query = { token: key.secret, body: { order: "asc", pagination } };
    const { body } = await call<FoundLogs>(server.url, "/logger/query", query);
    found.push(...body.data.logs);
    cursor = body.data.pagination.nextCursor ?? undefined;
    more = cursor !== undefined;
  }
  const counts = new Map<string, number>();
  for (const { message } of found) {
    const name = message.slice(0, message.lastIndexOf("."));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const name of acknowledged) expect([name, counts.get(name)]).toEqual([name, 20]);
  // Some batches of disconnected clients were received.
  expect(counts.size).toBeGreaterThan(acknowledged.length);
  expect([...counts.values()].every((count) => count === 20)).toBe(true);
  expect(found.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(found.map((_, i) => i + 1));
  const lines = server.output().split("\n");
  expect(lines.filter((line) => /fault|INTERNAL_ERROR|uncaught/i.test(line)).slice(0, 3)).toEqual([]);
});
