import http from "node:http";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { heapLimit, ISOLATE_HEAP_MIB } from "../../../scripts/lib/v8-flags.ts";
import { newApiKey } from "../../../src/keys/api-key.ts";
import { costlyBody, ordinaryBody } from "../../faults/attacks/costly-bodies.ts";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

const ordinary = ordinaryBody();
let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await startServer({ env: heapLimit(ISOLATE_HEAP_MIB) });
  tenant = await createTenant(server.url);
});
afterAll(() => server.stop());

function ingest(body: { sent: Buffer; headers: Readonly<Record<string, string>> }, key = tenant.key.secret) {
  const headers = { ...body.headers, "CF-Connecting-IP": "192.0.2.1" };
  return call<{ accepted: number }>(server.url, `/logger/${tenant.projectId}/log`, {
    token: key,
    headers,
    body: body.sent,
  });
}

/** Begins a request, sends a part of its body and stops. Returns the socket and what it receives. */
async function half(path: string, options: { sends: number; promises: number; token?: string; method?: string }) {
  const socket = net.connect(server.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  let answer = "";
  socket.setEncoding("utf8").on("data", (text) => {
    answer += text;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
  const head = [
    `${options.method ?? "POST"} ${path} HTTP/1.1`,
    "Host: test",
    "Content-Type: application/json",
    `Content-Length: ${options.promises}`,
    ...(options.token === undefined ? [] : [`Authorization: Bearer ${options.token}`]),
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(Buffer.concat([Buffer.from("["), Buffer.alloc(options.sends - 1, " ")]));
  return { socket, closed, statusOf: async () => /^HTTP\/1.1 (\d+)/.exec(await closed)?.[1] ?? "none" };
}

describe("A1: with 128 MiB of heap", () => {
  test("A1: many bodies that are small on the wire and large in memory do not crash the server, with forged or valid keys", async () => {
    const worst = costlyBody("objects in one list");
    const forged = () => newApiKey(tenant.account.workspaceId).secret;
    const refused = await Promise.all(Array.from({ length: 16 }, () => ingest(worst, forged())));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    const answers = await Promise.all(Array.from({ length: 16 }, () => ingest(worst)));
    for (const { status, body } of answers) {
      expect([400, 503]).toContain(status);
      if (status === 400) expect(body.error.details).toMatchObject([{ code: "ENTRY_TOO_LARGE" }]);
    }
    expect(answers.some(({ status }) => status === 400)).toBe(true);
    expect((await call(server.url, "/health")).status).toBe(200);
  });

  test("A1: 32 ordinary bodies of 3.5 MB at once are all stored", async () => {
    const answers = await Promise.all(Array.from({ length: 32 }, () => ingest(ordinary)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    for (const { body } of answers) expect(body.data.accepted).toBe(1000);
  });
});

test("A1: a large body counts once, before or after its key is cached, and a forged key counts by client IP", async () => {
  const { account, projectId } = tenant;
  const made = await call<{ secret: string }>(server.url, `/projects/${projectId}/keys`, {
    ...asUser(account),
    body: { name: "new", scopes: ["logs:write"] },
  });
  const key = made.body.data.secret;
  const left = async (secret: string) => {
    const { headers } = await ingest(ordinary, secret);
    return Number(headers.get("X-RateLimit-Remaining"));
  };
  const first = await left(key);
  expect(await left(key)).toBe(first - 1);
  const forged = () => left(newApiKey(account.workspaceId).secret);
  const byAddress = await forged();
  expect(await forged()).toBe(byAddress - 1);
});

test("A1: a revoked key is refused, although it was accepted immediately before", async () => {
  const { account, projectId } = tenant;
  const made = await call<{ id: string; secret: string }>(server.url, `/projects/${projectId}/keys`, {
    ...asUser(account),
    body: { name: "revoked", scopes: ["logs:write"] },
  });
  const { id, secret } = made.body.data;
  expect((await ingest(ordinary, secret)).status).toBe(201);
  await call(server.url, `/projects/${projectId}/keys/${id}`, { ...asUser(account), method: "DELETE" });
  const { status, body } = await ingest(ordinary, secret);
  expect([status, body.error.code]).toEqual([401, "API_KEY_REVOKED"]);
});

test("A1: clients that disconnect leave no memory reserved", async () => {
  const path = `/logger/${tenant.projectId}/log`;
  const hangUp = async (sends: number) => {
    const { socket, closed } = await half(path, { sends, promises: 5_000_000, token: tenant.key.secret });
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.destroy();
    await closed;
  };
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 8 }, () => hangUp(2_500_000)));
  // Complete bodies, aborted at any moment between their receipt and their response. A reset is detected immediately.
  const giveUp = (afterMs: number) => {
    const headers = { ...ordinary.headers, Authorization: `Bearer ${tenant.key.secret}` };
    const request = http.request(`${server.url}${path}`, { method: "POST", headers, agent: false });
    request.on("error", () => {});
    return new Promise((resolve) => {
      request.on("close", resolve);
      request.end(ordinary.sent, () => setTimeout(() => request.socket?.resetAndDestroy(), afterMs));
    });
  };
  for (let round = 0; round < 4; round++)
    await Promise.all(Array.from({ length: 8 }, (_, index) => giveUp(index * 10)));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const startedAt = Date.now();
  const answers = await Promise.all(Array.from({ length: 4 }, () => ingest(ordinary)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  // A leaked lease would be reclaimed after a minute, and a request waits 10 s.
  expect(Date.now() - startedAt).toBeLessThan(8_000);
});

test("A1: stalled clients do not hold the memory that other requests wait for", async () => {
  const path = `/logger/${tenant.projectId}/log`;
  const stalled = await Promise.all(
    Array.from({ length: 4 }, () => half(path, { sends: 3_000_000, promises: 5_000_000, token: tenant.key.secret })),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { status } = await ingest(ordinary);
  expect(status).toBe(201);
  const ends = await Promise.all(stalled.map(({ statusOf }) => statusOf()));
  expect(ends.filter((end) => end === "408").length).toBeGreaterThan(0);
});

test("A7: a body that stalls for 30 s ends with 408", async () => {
  const token = tenant.key.secret;
  const startedAt = Date.now();
  const begun = await Promise.all([
    half(`/logger/${tenant.projectId}/log`, { sends: 10, promises: 100, token }),
    half(`/logger/${tenant.projectId}/log`, { sends: 100_000, promises: 200_000, token }),
    half("/logger/query", { sends: 10, promises: 100, token }),
    half("/auth/login", { sends: 10, promises: 100 }),
  ]);
  // A route that reads no body has its response ready, and sends it when nothing more arrives.
  const unread = await half("/health", { sends: 10, promises: 100, method: "GET" });
  expect(await Promise.all(begun.map(({ statusOf }) => statusOf()))).toEqual(["408", "408", "408", "408"]);
  expect(await begun[0]?.closed).toContain('"code":"REQUEST_TIMEOUT"');
  expect(await unread.statusOf()).toBe("200");
  expect(Date.now() - startedAt).toBeGreaterThan(29_000);
  expect(Date.now() - startedAt).toBeLessThan(45_000);
});
