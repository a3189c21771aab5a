import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logId } from "../../../src/logs/entry-view.ts";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { TailClient, type TailEntry } from "./client.ts";

let server: TestServer;
let tenant: Tenant;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function newTenant(): Promise<Tenant> {
  const made = await createTenant(server.url);
  const body = { default: { limit: 1_000_000, windowSeconds: 60 } };
  const path = `/workspaces/${made.account.workspaceId}/rate-limits`;
  expect((await call(server.url, path, { ...asUser(made.account), method: "PUT", body })).status).toBe(200);
  return made;
}

interface Receipt {
  firstSeq: number;
  lastSeq: number;
}

async function send({ projectId, key }: Tenant, entries: object[]): Promise<Receipt> {
  const answer = await call<Receipt>(server.url, `/logger/${projectId}/log`, { token: key.secret, body: entries });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

const open = (query = "") => TailClient.open(server.url, tenant.projectId, tenant.key.secret, query);
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ message: `m${i}` }));

/** Sends a handshake as bytes, and returns the response's head and the start of its body. */
async function handshake(text: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(text);
  let got = "";
  const giveUp = setTimeout(() => socket.destroy(), 3000);
  for await (const chunk of socket) {
    got += String(chunk);
    if (/\r\n\r\n./s.test(got) || got.includes("101 ")) break;
  }
  clearTimeout(giveUp);
  socket.destroy();
  return got;
}

describe("a tail of a real server", () => {
  test("delivers an entry soon after its 201, and none that is not durable", async () => {
    tenant = await newTenant();
    const client = await open();
    const delays: number[] = [];
    for (let i = 0; i < 50; i++) {
      await send(tenant, numbered(1));
      const at = performance.now();
      await client.has(i + 1);
      delays.push((client.times[i] ?? 0) - at);
    }
    delays.sort((a, b) => a - b);
    expect(delays[25]).toBeLessThan(50);
    expect(client.seqs).toEqual(range(1, 50));
    client.close();
  });

  test("across kill -9 and restart: a client that resumes misses and repeats nothing", async () => {
    tenant = await newTenant();
    const seen: TailEntry[] = [];
    const acknowledged: number[] = [];
    let isOver = false;
    const follow = async () => {
      while (!isOver || seen.length < (acknowledged.at(-1) ?? 0)) {
        try {
          const client = await open(`?since=${seen.at(-1)?.seq ?? 0}`);
          await client.until(() => client.closed !== null || (isOver && client.seqs.at(-1) === acknowledged.at(-1)));
          seen.push(...client.entries);
          client.close();
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    const following = follow();
    for (let round = 0; round < 3; round++) {
      const write = async () => {
        for (;;) {
          const { lastSeq } = await send(tenant, numbered(20));
          acknowledged.push(lastSeq);
        }
      };
      const writing = Promise.allSettled([write(), write()]);
      await new Promise((resolve) => setTimeout(resolve, 400));
      await server.kill9();
      await writing;
      await server.restart();
    }
    acknowledged.push((await send(tenant, numbered(1))).lastSeq);
    acknowledged.sort((a, b) => a - b);
    isOver = true;
    await following;
    expect(seen.map(({ seq }) => seq)).toEqual(range(1, acknowledged.at(-1) ?? 0));
    expect(seen.length).toBeGreaterThan(100);
  }, 120_000);

  test("ends immediately when its key is revoked or its session ends", async () => {
    tenant = await newTenant();
    const { account, projectId, key } = tenant;
    const ofKey = await open();
    const ticket = await call<{ ticket: string }>(server.url, `/logger/${projectId}/tail/ticket`, {
      ...asUser(account),
      method: "POST",
    });
    const ofUser = await TailClient.open(server.url, projectId, "", `?ticket=${ticket.body.data.ticket}`);
    await call(server.url, `/projects/${projectId}/keys/${key.id}`, { ...asUser(account), method: "DELETE" });
    await ofKey.until(() => ofKey.closed !== null);
    expect([ofKey.closed, ofKey.errors]).toEqual([{ code: 4001, reason: "API_KEY_REVOKED" }, ["API_KEY_REVOKED"]]);
    expect(ofUser.closed).toBeNull();
    await call(server.url, "/auth/logout", { body: { refreshToken: account.refreshToken } });
    await ofUser.until(() => ofUser.closed !== null);
    expect(ofUser.closed).toEqual({ code: 4001, reason: "SESSION_REVOKED" });
  });

  test("D22: a client on Node that acknowledged a frame is notified of its end within a second", async () => {
    tenant = await newTenant();
    const { account, projectId, key } = tenant;
    const client = await open();
    // The acknowledgement of `caught-up` is sent by then, and no other.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const revoked = call(server.url, `/projects/${projectId}/keys/${key.id}`, { ...asUser(account), method: "DELETE" });
    expect((await revoked).status).toBe(200);
    const at = performance.now();
    await client.until(() => client.closed !== null);
    expect(performance.now() - at).toBeLessThan(1000);
    expect(client.closed).toEqual({ code: 4001, reason: "API_KEY_REVOKED" });
  });

  test("completes the handshake with its limit headers, and refuses invalid ones in the envelope", async () => {
    tenant = await newTenant();
    const head = (pathAndQuery: string, headers: string[]) =>
      [`GET ${pathAndQuery} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
    const key = randomBytes(16).toString("base64");
    const upgrade = [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${key}`,
    ];
    const token = `Authorization: Bearer ${tenant.key.secret}`;
    const path = `/logger/${tenant.projectId}/tail`;
    const good = await handshake(head(path, [...upgrade, token]));
    expect(good).toMatch(/^HTTP\/1.1 101 /);
    expect(good).toMatch(/X-RateLimit-Remaining: \d+/i);
    const bad: [string, string[], RegExp][] = [
      [path, upgrade, /^HTTP\/1.1 401 [\s\S]*"UNAUTHORIZED"/],
      [path, [token], /^HTTP\/1.1 400 [\s\S]*"VALIDATION_ERROR"/],
      [`${path}?x=1`, [...upgrade, token], /^HTTP\/1.1 400 [\s\S]*"VALIDATION_ERROR"/],
      [`${path}?since=7`, [...upgrade, token], /^HTTP\/1.1 400 [\s\S]*"VALIDATION_ERROR"/],
      [`${path}?ticket=tt_x`, upgrade, /^HTTP\/1.1 400 [\s\S]*"INVALID_TOKEN"/],
      ["/logger/proj_000000000000/tail", [...upgrade, token], /^HTTP\/1.1 404 [\s\S]*"NOT_FOUND"/],
      ["/logger/query", [...upgrade, token], /^HTTP\/1.1 405 /],
    ];
    for (const [target, headers, wanted] of bad) {
      const answer = await handshake(head(target, headers));
      expect(answer).toMatch(wanted);
      expect(answer).toMatch(/X-RateLimit-Limit: \d+/i);
    }
  });

  test("returns one entry and its neighbours", async () => {
    tenant = await newTenant();
    for (let batch = 0; batch < 5; batch++) await send(tenant, numbered(10));
    const path = `/logger/${tenant.projectId}/log/${logId(tenant.projectId, 21)}?before=15&after=3`;
    const answer = await call<{ entry: TailEntry; before: TailEntry[]; after: TailEntry[] }>(server.url, path, {
      token: tenant.key.secret,
    });
    const { entry, before, after } = answer.body.data;
    expect([before, [entry], after].map((list) => list.map(({ seq }) => seq))).toEqual([
      range(6, 20),
      [21],
      range(22, 24),
    ]);
  });
});

/** Runs the program of docs/tail.md unchanged. */
function runProgram(env: Record<string, string>) {
  const page = readFileSync(path.join(import.meta.dirname, "../../../docs/tail.md"), "utf8");
  const program = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(program.split("\n").length).toBeLessThanOrEqual(12);
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-tail-"));
  const file = path.join(directory, "tail.ts");
  writeFileSync(file, program);
  writeFileSync(path.join(directory, "package.json"), '{"type":"module"}');
  const own = { PATH: process.env.PATH, URL: server.url, PROJECT: tenant.projectId, KEY: tenant.key.secret };
  const child = spawn(process.execPath, [file], { env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const run = { output: "", ended: new Promise<number | null>((resolve) => child.on("exit", resolve)) };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      run.output += text;
    });
  }
  void run.ended.then(() => rmSync(directory, { recursive: true }));
  return run;
}

test("the program of docs/tail.md works unchanged, across a restart, too", async () => {
  tenant = await newTenant();
  await send(tenant, numbered(5));
  const run = runProgram({});
  const seqs = () =>
    run.output
      .split("\n")
      .flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line).seq] : []));
  const has = async (count: number) => {
    const giveUp = performance.now() + 20_000;
    while (seqs().length < count && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seqs()).toEqual(range(1, count));
  };
  await has(5);
  await server.kill9();
  await server.restart();
  await send(tenant, numbered(2000 - 5 - 1000));
  await send(tenant, numbered(1000));
  await has(2000);
  const { account, projectId, key } = tenant;
  await call(server.url, `/projects/${projectId}/keys/${key.id}`, { ...asUser(account), method: "DELETE" });
  expect([await run.ended, run.output.includes("Error")]).toEqual([0, false]);
  expect(run.output).toContain("API_KEY_REVOKED");
});

test.each([
  ["a seq ahead of the newest one", { SINCE: "99999" }, /^No tail behind 99999: .*ahead of the newest seq/],
  ["an unknown key", { KEY: "sk_none" }, /^\{"success":false,.*API_KEY/],
])("the program of docs/tail.md reports the error and ends: %s", async (_what, env, said) => {
  tenant = await newTenant();
  const run = runProgram(env);
  expect(await run.ended).toBe(1);
  expect(run.output).toMatch(said);
  expect(run.output).not.toMatch(/^\s+at /m);
});

test("the program of docs/tail.md accepts the address of a WebSocket, too", async () => {
  tenant = await newTenant();
  await send(tenant, numbered(1));
  const run = runProgram({ URL: server.url.replace("http", "ws") });
  await expect.poll(() => run.output, { timeout: 20_000 }).toContain('"seq":1');
  const { account, projectId, key } = tenant;
  await call(server.url, `/projects/${projectId}/keys/${key.id}`, { ...asUser(account), method: "DELETE" });
  expect(await run.ended).toBe(0);
});
