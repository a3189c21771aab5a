import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, call } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { TailClient } from "../tail/client.ts";

const run = promisify(execFile);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Access {
  projectId: string;
  apiKey: string;
  resetsAt: string;
}

interface Page {
  logs: { level: string }[];
  pagination: { total: number };
}

async function sandbox(): Promise<Access> {
  const answer = await call<Access>(server.url, "/sandbox");
  expect(answer.status).toBe(200);
  return answer.body.data;
}

/** `headers` identify the client: the edge's client-IP header, or the first of X-Forwarded-For. */
async function send(headers: Record<string, string>, count: number): Promise<Answer> {
  const { projectId, apiKey } = await sandbox();
  const body = Array.from({ length: count }, (_, i) => ({ message: `m${i}` }));
  return call(server.url, `/logger/${projectId}/log`, { token: apiKey, headers, body });
}

async function query(headers: Record<string, string>, body: object = {}): Promise<Answer<Page>> {
  return call<Page>(server.url, "/logger/query", { token: (await sandbox()).apiKey, headers, body });
}

const verdict = ({ status, headers }: Answer) => [status, headers.get("X-RateLimit-Remaining")];

describe("the sandbox of npm start", () => {
  test("exists after the start, with a key and a command that shows its errors", async () => {
    const { apiKey, resetsAt } = await sandbox();
    expect(server.output()).toContain(apiKey);
    expect(server.output()).toContain(resetsAt);
    const command = server
      .output()
      .split("\n")
      .find((line) => line.startsWith("curl") && line.includes("sk_demo_"));
    const { stdout } = await run("sh", ["-c", command ?? "false"]);
    const { data } = JSON.parse(stdout);
    expect(data.logs).toHaveLength(3);
    for (const { level } of data.logs) expect(["error", "fatal"]).toContain(level);
  });

  test("keeps its key and its entries through kill -9", async () => {
    const before = await sandbox();
    const mine = { "CF-Connecting-IP": "192.0.2.10" };
    expect((await send(mine, 7)).status).toBe(201);
    const search = { filters: { category: "custom", type: "log" }, pagination: { includeTotal: true, limit: 1 } };
    const { total } = (await query(mine, search)).body.data.pagination;
    await server.kill9();
    await server.restart();
    expect(await sandbox()).toEqual(before);
    expect((await query(mine, search)).body.data.pagination.total).toBe(total);
  });
});

describe("budgets", () => {
  test("belong to a client IP each, by the edge's header or the first of X-Forwarded-For, and survive kill -9", async () => {
    const edge = { "CF-Connecting-IP": "192.0.2.1", "X-Forwarded-For": "192.0.2.99" };
    const proxied = { "X-Forwarded-For": "192.0.2.2, 10.0.0.1" };
    expect(verdict(await send(edge, 60))).toEqual([201, "40"]);
    expect(verdict(await send(proxied, 90))).toEqual([201, "10"]);
    for (let reads = 19; reads >= 0; reads--) expect(verdict(await query(proxied))).toEqual([200, String(reads)]);
    await server.kill9();
    await server.restart();
    const late = await send(edge, 41);
    expect(verdict(late)).toEqual([429, "40"]);
    const wait = Number(late.headers.get("Retry-After"));
    expect([wait > 3000, wait <= 3600]).toEqual([true, true]);
    expect(verdict(await send(edge, 40))).toEqual([201, "0"]);
    expect(verdict(await send(proxied, 10))).toEqual([201, "0"]);
    expect(verdict(await query(proxied))).toEqual([429, "0"]);
    expect(verdict(await query(edge))).toEqual([200, "19"]);
    expect(verdict(await send({ "X-Forwarded-For": "192.0.2.99" }, 100))).toEqual([201, "0"]);
  });

  test("admit exactly 100 entries of 40 parallel requests over real connections", async () => {
    const mine = { "CF-Connecting-IP": "192.0.2.3" };
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(mine, 5)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
    expect((await send(mine, 101)).body.error.code).toBe("PAYLOAD_TOO_LARGE");
  });
});

test("A5: a visitor that opens tails with since=0 and reads nothing does not affect another visitor's tail", async () => {
  const own = await startServer();
  try {
    const { projectId, apiKey } = (await call<Access>(own.url, "/sandbox")).body.data;
    const from = (address: string) => ({ "X-Forwarded-For": address });
    // 4 MB, so ten tails would buffer 40 MB.
    const body = Array.from({ length: 16 }, () => ({ message: "x".repeat(250_000) }));
    const stored = await call<{ lastSeq: number }>(own.url, `/logger/${projectId}/log`, {
      token: apiKey,
      headers: from("192.0.2.1"),
      body,
    });
    expect(stored.status).toBe(201);
    const { lastSeq } = stored.body.data;
    const sockets: Socket[] = [];
    const open = async () => {
      const socket = connect(own.port, "127.0.0.1");
      sockets.push(socket);
      const headers = {
        Host: "x",
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        Authorization: `Bearer ${apiKey}`,
        ...from("192.0.2.2"),
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      socket.write([`GET /logger/${projectId}/tail?since=0 HTTP/1.1`, ...lines, "", ""].join("\r\n"));
      const [chunk] = await once(socket, "data");
      // From here on the client reads nothing.
      socket.pause();
      return String(chunk).slice(9, 12);
    };
    const statuses: string[] = [];
    for (let tail = 0; tail < 12; tail++) statuses.push(await open());
    expect(statuses.filter((status) => status === "101")).toHaveLength(10);
    expect(statuses.slice(10)).toEqual(["409", "409"]);
    const startedAt = performance.now();
    const other = await TailClient.open(own.url, projectId, apiKey, "?since=0", from("192.0.2.3"));
    await other.until(() => other.seqs.at(-1) === lastSeq, 10_000);
    expect(other.seqs).toEqual(Array.from({ length: lastSeq }, (_, i) => i + 1));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    other.close();
    for (const socket of sockets) socket.destroy();
  } finally {
    await own.stop();
  }
});
