import { afterAll, beforeAll, expect, test } from "vitest";
import { call, createTenant, type Tenant } from "../../../test/support/api.ts";
import { startServer, type TestServer } from "../../../test/support/server.ts";
import { createProxy } from "../../src/proxy/index.ts";
import type { LogEntry } from "../../src/types.ts";

let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await startServer();
  tenant = await createTenant(server.url);
});
afterAll(() => server?.stop());

async function stored(): Promise<LogEntry[]> {
  const { body } = await call<{ logs: LogEntry[] }>(server.url, "/logger/query", {
    token: tenant.key.secret,
    body: { order: "asc" },
  });
  return body.data.logs;
}

test("stores repeated requests of a browser once, with the proxy's source, and names rejected entries", async () => {
  const proxy = createProxy({ apiUrl: server.url, projectId: tenant.projectId, apiKey: tenant.key.secret });
  const send = (id: string, lines: object[]): Promise<Response> =>
    proxy(
      new Request(`https://shop.example/logs?id=${id}`, {
        method: "POST",
        headers: { Origin: "https://shop.example" },
        body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      }),
    );
  const batch = [
    { message: "first", timestamp: new Date().toISOString(), data: { n: 1 }, seq: 99 },
    { message: "of no level", level: "loud" },
    { message: "second", category: "http", data: { source: "server" } },
  ];
  const receipts = await Promise.all([send("a-0", batch), send("a-0", batch), send("a-0", batch)]);
  expect(receipts.map(({ status }) => status)).toEqual([201, 201, 201]);
  const answers: { data: { accepted: number; duplicate: boolean; rejected: unknown[] } }[] = await Promise.all(
    receipts.map((receipt) => receipt.json()),
  );
  expect(answers.map(({ data }) => data.duplicate).sort()).toEqual([false, true, true]);
  for (const { data } of answers) {
    expect(data).toMatchObject({ accepted: 2, rejected: [{ index: 1, code: "INVALID_LEVEL" }] });
  }
  expect((await stored()).map(({ message, category, type, data }) => ({ message, category, type, data }))).toEqual(
    expect.arrayContaining([
      { message: "first", category: "custom", type: "log", data: { n: 1, source: "browser" } },
      { message: "second", category: "http", type: "request", data: { source: "browser" } },
    ]),
  );
  expect(await stored()).toHaveLength(2);
  expect((await send("a-1", [{ message: "x", level: "loud" }])).status).toBe(400);
});

test("hides an invalid key from browsers", async () => {
  const errors: Error[] = [];
  const proxy = createProxy({
    apiUrl: server.url,
    projectId: tenant.projectId,
    apiKey: "sk_wrong",
    onError: (error) => errors.push(error),
  });
  const headers = { Origin: "https://shop.example" };
  const response = await proxy(
    new Request("https://shop.example/logs", { method: "POST", headers, body: '{"message":"m"}' }),
  );
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ error: { code: "UPSTREAM_REFUSED" } });
  expect(errors[0]?.message).toContain("401");
});
