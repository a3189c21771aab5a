import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, call, createTenant, type Tenant } from "../../test/support/api.ts";
import { startServer, type TestServer } from "../../test/support/server.ts";
import { createLogger, type DropReason, type LogEntry, type Logger, type LoggerOptions } from "../src/index.ts";
import { sleep } from "./support/sink.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
});

interface Setup {
  tenant: Tenant;
  logger: Logger;
  drops: [string, DropReason][];
}

async function setup(options: Partial<LoggerOptions> = {}): Promise<Setup> {
  const tenant = await createTenant(server.url);
  const drops: Setup["drops"] = [];
  const logger = createLogger({
    apiKey: tenant.key.secret,
    onDrop: (entries, reason) => drops.push(...entries.map(({ message }): [string, DropReason] => [message, reason])),
    ...options,
    apiUrl: server.url,
    projectId: tenant.projectId,
    transport: options.transport === "http" ? "http" : "batch",
  });
  return { tenant, logger, drops };
}

interface Page {
  logs: (LogEntry & { seq: number })[];
  pagination: { nextCursor: string | null };
}

/** Returns all entries of the project in stored order. */
async function stored({ key }: Tenant): Promise<(LogEntry & { seq: number })[]> {
  const all: (LogEntry & { seq: number })[] = [];
  for (let cursor: string | undefined; ; ) {
    const { status, body } = await call<Page>(server.url, "/logger/query", {
      token: key.secret,
      body: { order: "asc", pagination: { limit: 1000, ...(cursor ? { cursor } : {}) } },
    });
    expect(status).toBe(200);
    all.push(...body.data.logs);
    cursor = body.data.pagination.nextCursor ?? undefined;
    if (!cursor) return all.sort((a, b) => a.seq - b.seq);
  }
}

test("stores entries that a query returns unchanged", async () => {
  const { tenant, logger, drops } = await setup({ sessionId: "s1", defaultMeta: { service: "shop" } });
  logger
    .child({ traceId: "t1", spanId: "p1" })
    .http.response("GET /x", { status: 200, nested: { list: [1, "é😀", null] } });
  logger.error("failed", new Error("boom"));
  logger.billing.invoice("own category");
  // @ts-expect-error no such type
  logger.category("http", "teapot").info("unknown type");
  logger.info("", { big: 2n ** 70n, unsafe: 2 ** 60, lone: "\ud800", ["__proto__"]: 1 });
  logger.info("x".repeat(400_000), { list: Array.from({ length: 100_000 }, (_, i) => i) });
  let deep: object = {};
  for (let i = 0; i < 100; i++) deep = [deep];
  logger.info("deep", { deep });
  expect(await logger.flush()).toEqual({ delivered: 7, dropped: 0, pending: 0 });
  expect(drops).toEqual([]);
  const entries = await stored(tenant);
  expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(entries[0]).toMatchObject({
    level: "info",
    category: "http",
    type: "response",
    message: "GET /x",
    session: "s1",
    traceId: "t1",
    spanId: "p1",
    data: { service: "shop", status: 200, nested: { list: [1, "é😀", null] } },
  });
  expect(entries[1]?.data).toMatchObject({ error: { name: "Error", message: "boom" } });
  expect(entries[3]).toMatchObject({ type: "request", data: { invalidType: "teapot" } });
  await logger.close();
});

test("drops the entries that the service rejects, and stores the others", async () => {
  const { tenant, logger, drops } = await setup({
    beforeSend: (entry) =>
      entry.message === "old" ? { ...entry, timestamp: new Date(Date.now() - 40 * 86_400_000).toISOString() } : entry,
  });
  for (const message of ["a", "old", "b"]) logger.info(message);
  expect(await logger.flush()).toEqual({ delivered: 2, dropped: 1, pending: 0 });
  expect(drops).toEqual([["old", "rejected"]]);
  logger.info("old");
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 1, pending: 0 });
  expect((await stored(tenant)).map(({ message }) => message)).toEqual(["a", "b"]);
  await logger.close();
});

test("loses nothing to a rate limit", async () => {
  const { tenant, logger, drops } = await setup({ transport: "http", batch: { maxRetries: 0 } });
  const limits = await call(server.url, `/workspaces/${tenant.account.workspaceId}/rate-limits`, {
    method: "PUT",
    ...asUser(tenant.account),
    body: { rules: [{ method: "POST", path: "/logger/:id/log", limit: 5, windowSeconds: 1 }] },
  });
  expect(limits.status).toBe(200);
  for (let n = 0; n < 20; n++) logger.info("entry", { n });
  expect(await logger.flush({ timeoutMs: 30_000 })).toEqual({ delivered: 20, dropped: 0, pending: 0 });
  expect(drops).toEqual([]);
  expect(new Set((await stored(tenant)).map(({ data }) => data?.n)).size).toBe(20);
  await logger.close();
});

test("splits a batch over the sandbox's limit until it fits", async () => {
  const { body } = await call<{ apiKey: string; projectId: string }>(server.url, "/sandbox");
  const logger = createLogger({ apiKey: body.data.apiKey, apiUrl: server.url, projectId: body.data.projectId });
  for (let n = 0; n < 101; n++) logger.info("sandboxed", { n });
  const result = await logger.flush({ timeoutMs: 3000 });
  // The halves are sent concurrently, so either may be the one that fits.
  expect([50, 51]).toContain(result.delivered);
  expect(result).toEqual({ delivered: result.delivered, dropped: 0, pending: 101 - result.delivered });
  await logger.close({ timeoutMs: 0 });
});

test("drops entries immediately with a revoked key, and reports the reason", async () => {
  const errors: Error[] = [];
  const { tenant, logger, drops } = await setup({ onError: (error) => errors.push(error) });
  await call(server.url, `/projects/${tenant.projectId}/keys/${tenant.key.id}`, {
    method: "DELETE",
    ...asUser(tenant.account),
  });
  logger.info("late");
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 1, pending: 0 });
  expect(drops).toEqual([["late", "rejected"]]);
  expect(errors[0]).toMatchObject({ status: 401, code: "API_KEY_REVOKED" });
  await logger.close();
});

test("loses and duplicates nothing if the server is killed and restarted during a stream", async () => {
  // A large queue and many retries for a slow restart: the test is about the kill, not the limits.
  const { tenant, logger, drops } = await setup({
    batch: { backoffBase: 300, maxRetries: 20, timeout: 3000, maxQueueBytes: 64 * 1024 * 1024 },
  });
  let n = 0;
  const stream = setInterval(() => {
    for (let i = 0; i < 40; i++) logger.info("entry", { n: n++ });
  }, 20);
  for (let round = 0; round < 3; round++) {
    await sleep(700);
    await server.kill9();
    await server.restart();
  }
  await sleep(500);
  clearInterval(stream);
  const result = await logger.flush({ timeoutMs: 30_000 });
  expect(result.pending).toBe(0);
  expect(drops).toEqual([]);
  const entries = await stored(tenant);
  expect(entries.length).toBe(n);
  expect(new Set(entries.map(({ data }) => data?.n)).size).toBe(n);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));
  expect(logger.stats().retries).toBeGreaterThan(0);
  await logger.close();
}, 120_000);
