import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUser, call, createTenant, type FoundLogs, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { TailClient } from "../tail/client.ts";

/** Milliseconds that a stop gives requests in flight. */
const STOP_MS = 10_000;
/** Milliseconds that the runtime itself may take to end on a busy machine. */
const END_MS = 5_000;

/** Opens a connection, and returns the bytes that the server writes until it closes. */
function connection(port: number, text: string): { socket: net.Socket; received: Promise<string> } {
  const socket = net.connect(port, "127.0.0.1", () => socket.write(text));
  let bytes = "";
  socket.setEncoding("utf8").on("data", (data: string) => {
    bytes += data;
  });
  socket.on("error", () => {});
  return { socket, received: new Promise((resolve) => socket.on("close", () => resolve(bytes))) };
}

/** A request as it is sent over the wire, with its body cut after `sent` bytes. */
function requestText(tenant: Tenant, path: string, body: string, sent = body.length): string {
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${tenant.key.secret}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body.slice(0, sent),
  ].join("\r\n");
}

/** A server whose project has no limit that a test reaches. */
async function unlimited(): Promise<{ server: TestServer; tenant: Tenant }> {
  const server = await startServer();
  const tenant = await createTenant(server.url);
  const limits = { default: { limit: 1_000_000 } };
  const { account } = tenant;
  await call(server.url, `/workspaces/${account.workspaceId}/rate-limits`, {
    ...asUser(account),
    method: "PUT",
    body: limits,
  });
  return { server, tenant };
}

const logPathOf = ({ projectId }: Tenant) => `/logger/${projectId}/log`;

async function storedIn(server: TestServer, { key }: Tenant): Promise<number> {
  const { body } = await call<FoundLogs & { pagination: { total: number } }>(server.url, "/logger/query", {
    token: key.secret,
    body: { pagination: { includeTotal: true, limit: 1 } },
  });
  return body.data.pagination.total;
}

// Both groups mostly wait, each with its own server.
describe.concurrent("27: a stop", () => {
  let server: TestServer;
  let tenant: Tenant;
  const logPath = () => logPathOf(tenant);
  const stored = () => storedIn(server, tenant);

  beforeAll(async () => {
    ({ server, tenant } = await unlimited());
  });
  afterAll(() => server.stop());

  /** Sends the head of a request and 5 bytes of its body, and waits until the server has read them. */
  async function halfSent(body: string): Promise<ReturnType<typeof connection>> {
    const half = connection(server.port, requestText(tenant, logPath(), body, 5));
    await once(half.socket, "connect");
    // The server reads its connections in the order in which they have something to read: the first request may be
    // accepted with the half one, and the second one is read after it.
    for (let i = 0; i < 2; i++) await call(server.url, "/health");
    return half;
  }

  /** Sends SIGTERM and waits until the server has ended. */
  async function stopped(): Promise<{ code: number | null; ms: number }> {
    const begun = Date.now();
    const code = await server.stop();
    return { code, ms: Date.now() - begun };
  }

  test("answers a running query and a half-sent body, and accepts no new connection", {
    concurrent: false,
  }, async () => {
    const data = { text: "lorem ipsum ".repeat(150) };
    const batch = Array.from({ length: 1000 }, (_, i) => ({ message: `entry ${i}`, data }));
    for (let i = 0; i < 20; i++) await call(server.url, logPath(), { token: tenant.key.secret, body: batch });
    const slow = {
      filters: { search: "not there" },
      pagination: { includeTotal: true },
    };
    const entry = JSON.stringify({ message: "half sent" });
    const half = await halfSent(entry);
    const idle = connection(server.port, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(idle.socket, "data");
    const query = call<FoundLogs>(server.url, "/logger/query", { token: tenant.key.secret, body: slow });
    let isAnswered = false;
    query.finally(() => {
      isAnswered = true;
    });
    await wait(50);
    expect(isAnswered).toBe(false);
    const stop = stopped();
    // The idle connection is closed without further bytes once the runtime drains.
    expect(await idle.received).toMatch(/^HTTP\/1.1 200/);
    const late = connection(server.port, requestText(tenant, logPath(), JSON.stringify({ message: "late" })));
    await wait(300);
    half.socket.write(entry.slice(5));
    expect((await query).body).toMatchObject({ success: true, data: { logs: [] } });
    expect(await half.received).toMatch(/^HTTP\/1.1 201[\s\S]*Connection: close/);
    const { code, ms } = await stop;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_MS);
    expect(await late.received).toBe("");
    await server.restart();
    expect(await stored()).toBe(20_001);
  });

  test("closes tails with 1001 and the position to resume at, also one whose client never sent anything", {
    concurrent: false,
  }, async () => {
    const { projectId, key } = tenant;
    const tails = await Promise.all([1, 2, 3].map(() => TailClient.open(server.url, projectId, key.secret)));
    const silent = new WebSocket(`${server.url.replace("http", "ws")}/logger/${projectId}/tail`, {
      headers: { Authorization: `Bearer ${key.secret}` },
    });
    await once(silent, "message");
    const silentEnd = once(silent, "close");
    const { body } = await call<{ lastSeq: number }>(server.url, logPath(), {
      token: key.secret,
      body: { message: "seen by all" },
    });
    const { lastSeq } = body.data;
    await Promise.all(tails.map((tail) => tail.has(1)));
    const { code, ms } = await stopped();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(END_MS);
    const closed = { code: 1001, reason: `since=${lastSeq}` };
    for (const tail of tails) expect(tail.closed).toEqual(closed);
    expect((await silentEnd)[0]).toMatchObject(closed);
    await server.restart();
    const resumed = await TailClient.open(server.url, projectId, key.secret, `?since=${lastSeq - 1}`);
    expect(resumed.seqs).toEqual([lastSeq]);
    resumed.close();
  });

  test("does not cut a response that its client is reading, also after tails were closed", {
    concurrent: false,
  }, async () => {
    const { projectId, key } = tenant;
    const data = { text: "x".repeat(20_000) };
    const batch = Array.from({ length: 200 }, (_, i) => ({ message: `large ${i}`, data }));
    for (let i = 0; i < 3; i++) await call(server.url, logPath(), { token: key.secret, body: batch });
    const tail = await TailClient.open(server.url, projectId, key.secret);
    const headers = { Authorization: `Bearer ${key.secret}`, "Content-Type": "application/json" };
    const options = {
      port: server.port,
      host: "127.0.0.1",
      method: "POST",
      path: "/logger/query",
      headers,
      agent: false,
    };
    const request = http.request(options).end(JSON.stringify({ pagination: { limit: 400 } }));
    const [response]: http.IncomingMessage[] = await once(request, "response");
    const stop = stopped();
    await tail.until(() => tail.closed !== null);
    // Much longer than the time that connections of tails get.
    await wait(2000);
    let bytes = 0;
    let text = "";
    for await (const chunk of response ?? []) {
      bytes += chunk.length;
      text += chunk;
    }
    expect(bytes).toBeGreaterThan(4_000_000);
    expect(JSON.parse(text)).toMatchObject({ success: true });
    expect((await stop).code).toBe(0);
    await server.restart();
  });

  test("ends after 10 s with 0, and cuts off what is still in flight", { concurrent: false }, async () => {
    const half = await halfSent(JSON.stringify({ message: "never" }));
    const { code, ms } = await stopped();
    expect(code).toBe(0);
    expect(ms).toBeGreaterThanOrEqual(STOP_MS - 50);
    expect(ms).toBeLessThan(STOP_MS + END_MS);
    expect(await half.received).toBe("");
    await server.restart();
  });

  test("ends immediately on a second signal", { concurrent: false }, async () => {
    const half = await halfSent(JSON.stringify({ message: "never" }));
    const stop = stopped();
    await wait(500);
    process.kill(server.pid, "SIGINT");
    const { code, ms } = await stop;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(END_MS);
    expect(await half.received).toBe("");
    await server.restart();
  });

  test("is the same if the signal reaches every process of the group, as a service manager may send it", {
    concurrent: false,
  }, async () => {
    const tail = await TailClient.open(server.url, tenant.projectId, tenant.key.secret);
    const entry = JSON.stringify({ message: "half sent" });
    const half = await halfSent(entry);
    process.kill(-server.pid, "SIGTERM");
    await wait(300);
    half.socket.write(entry.slice(5));
    expect(await half.received).toMatch(/^HTTP\/1.1 201/);
    expect(await server.stop()).toBe(0);
    await tail.until(() => tail.closed !== null);
    expect(tail.closed).toMatchObject({ code: 1001, reason: expect.stringMatching(/^since=\d+$/) });
  });
});

describe.concurrent("27: stops under load", () => {
  test("four times under load: stores nothing that it did not answer", { timeout: 180_000 }, async () => {
    const { server, tenant } = await unlimited();
    const stored = () => storedIn(server, tenant);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    let acknowledged = await stored();
    for (let round = 0; round < 4; round++) {
      let isOver = false;
      const unanswered: number[] = [];
      /** When the last request that was answered before the signal was sent: the server had received all before it. */
      let receivedUntil = 0;
      let answered = 0;
      let isAsked = false;
      const send = (): Promise<number | null> =>
        new Promise((resolve) => {
          const headers = { Authorization: `Bearer ${tenant.key.secret}`, "Content-Type": "application/json" };
          const options = {
            port: server.port,
            host: "127.0.0.1",
            method: "POST",
            path: logPathOf(tenant),
            headers,
            agent,
          };
          const request = http.request(options, (response) => {
            response.resume().on("end", () => resolve(response.statusCode ?? null));
          });
          request.on("error", () => resolve(null));
          request.end(JSON.stringify({ message: `round ${round}` }));
        });
      const worker = async () => {
        while (!isOver) {
          const sentAt = Date.now();
          const status = await send();
          if (status === 201) {
            acknowledged++;
            answered++;
            if (!isAsked) receivedUntil = Math.max(receivedUntil, sentAt);
          } else {
            unanswered.push(sentAt);
            isOver = true;
          }
        }
      };
      const workers = Promise.all(Array.from({ length: 8 }, worker));
      // A time would not do: on a busy machine the first answer may take longer.
      await expect.poll(() => answered >= 50 || isOver, { timeout: 60_000 }).toBe(true);
      expect(unanswered).toEqual([]);
      isAsked = true;
      expect(await server.stop()).toBe(0);
      isOver = true;
      await workers;
      expect(receivedUntil).toBeGreaterThan(0);
      expect(unanswered.filter((sentAt) => sentAt < receivedUntil)).toEqual([]);
      await server.restart();
      expect(await stored()).toBe(acknowledged);
    }
    agent.destroy();
    await server.stop();
  });
});
