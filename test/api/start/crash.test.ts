import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUser, call, createTenant, type FoundLogs, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

describe("kill -9", () => {
  let server: TestServer;
  let tenant: Tenant;
  beforeAll(async () => {
    server = await startServer();
    tenant = await createTenant(server.url);
  });
  afterAll(() => server.stop());

  test("of the whole server: the next start has every account, key and entry", async () => {
    const { account, projectId, key } = tenant;
    const sent = await call(server.url, `/logger/${projectId}/log`, {
      token: key.secret,
      body: [{ message: "before the crash" }],
    });
    expect(sent.status).toBe(201);
    await server.kill9();
    await server.restart();
    const me = await call<{ user: { email: string } }>(server.url, "/auth/me", asUser(account));
    expect(me.body.data.user.email).toBe(account.email);
    const found = await call<FoundLogs>(server.url, "/logger/query", { token: key.secret, body: {} });
    expect(found.body.data.logs.map(({ message }) => message)).toEqual(["before the crash"]);
  });

  test("of the start script alone: the runtime ends with it, and the next start works", async () => {
    const runtime = childrenOf(server.pid);
    expect(runtime).toHaveLength(1);
    process.kill(server.pid, "SIGKILL");
    while (runtime.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
    await server.restart();
    expect((await call(server.url, "/health")).status).toBe(200);
  });

  test("of the runtime alone: it is restarted, and nothing is lost", async () => {
    for (const pid of childrenOf(server.pid)) process.kill(pid, "SIGKILL");
    const query = { token: tenant.key.secret, body: {} };
    const ask = () => call<FoundLogs>(server.url, "/logger/query", query).catch(() => null);
    let answer = await ask();
    while (answer === null) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      answer = await ask();
    }
    expect(answer.body.data.logs).toHaveLength(1);
  });
});

/** Ids of the processes whose parent is `parent`, read from /proc. */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stat(pid)?.parent === parent);
}

function isAlive(pid: number): boolean {
  const state = stat(pid)?.state;
  return state !== undefined && state !== "Z";
}

function stat(pid: number): { state: string; parent: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}
