import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

const TOKEN = "operator-token-operator-token-0001";
const ROOT = path.resolve(import.meta.dirname, "../../..");
const DAY_MS = 24 * 60 * 60 * 1000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { RECENT_MAX_AGE_SECONDS: "1", OPERATOR_TOKEN: TOKEN } });
});
afterAll(() => server?.stop());

const reconcile = (token = TOKEN, url = server.url) => run("reconcile", token, url);

function run(script: string, token = TOKEN, url = server.url): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${script}.ts`, "--url", url], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, OPERATOR_TOKEN: token },
    encoding: "utf8",
  });
  return { code: status, output: `${stdout}${stderr}` };
}

/** Sends entries and waits until the whole project is in the cold tier. */
async function flush(tenant: Tenant, count: number, timestamp = Date.now(), more: object = {}): Promise<void> {
  const { account, key, projectId } = tenant;
  const body = Array.from({ length: count }, (_, index) => ({ message: `m${index}`, timestamp, ...more }));
  const sent = await call(server.url, `/logger/${projectId}/log`, { token: key.secret, body });
  expect(sent.status).toBe(201);
  for (;;) {
    const usage = await call<{ recent: { entries: number } }>(
      server.url,
      `/workspaces/${account.workspaceId}/usage`,
      asUser(account),
    );
    if (usage.body.data.recent.entries === 0) return;
    await wait(100);
  }
}

/** Deletes from the stopped server's cold database what a restore to an earlier time would lack. */
function loseSegments(projectId: string, fromSeq: number): number {
  for (const file of globSync(path.join(server.dataDir, "v3/d1/**/*.sqlite"))) {
    const database = new DatabaseSync(file);
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE name IN ('segments', 'users')").all();
    const isCold = tables.length === 1 && tables[0]?.name === "segments";
    const lost = isCold
      ? database.prepare("DELETE FROM segments WHERE project_id = ? AND first_seq >= ?").run(projectId, fromSeq).changes
      : 0;
    database.close();
    if (isCold) return Number(lost);
  }
  throw new Error("There is no cold database.");
}

it("D25: npm run reconcile lists what a restored COLD_DB lacks and exits with 1, or with 0 if nothing is missing", async () => {
  const [whole, damaged, expired, filed] = [
    await createTenant(server.url),
    await createTenant(server.url),
    await createTenant(server.url),
    await createTenant(server.url),
  ];
  await flush(whole, 7);
  await flush(damaged, 10);
  await flush(damaged, 15);
  // Large enough for a file in the bucket.
  await flush(filed, 3, Date.now(), { data: { text: randomBytes(40_000).toString("base64") } });
  await flush(expired, 5, Date.now() - 5 * DAY_MS);
  await flush(expired, 6);
  const changed = await call(server.url, `/workspaces/${expired.account.workspaceId}`, {
    ...asUser(expired.account),
    method: "PATCH",
    body: { retentionDays: 1 },
  });
  expect(changed.status).toBe(200);
  for (;;) {
    const view = await call<{ usage: { stored: { entries: number } } }>(
      server.url,
      `/operator/workspaces/${expired.account.workspaceId}`,
      { token: TOKEN },
    );
    if (view.body.data.usage.stored.entries === 6) break;
    await wait(100);
  }
  const before = reconcile();
  expect(before.output).toContain("Nothing is missing.");
  expect(before.output).toMatch(/^Compared \d+ ranges and 1 files /m);
  expect(before.code).toBe(0);
  await server.stop();
  expect(loseSegments(damaged.projectId, 11)).toBe(1);
  expect(loseSegments(filed.projectId, 1)).toBe(1);
  await server.restart();
  const after = reconcile();
  expect(after.output).toMatch(
    new RegExp(
      `^missing  ${damaged.account.workspaceId} \\(.*\\)  ${damaged.projectId}  seq 11 to 25: 15 of 15 entries$`,
      "m",
    ),
  );
  expect(after.output.match(/^missing /gm)).toHaveLength(2);
  expect(after.output).toContain("Missing: 18 entries of 2 ranges.");
  expect(after.output).toContain("1 files that no segment names will be deleted in 7 days.");
  expect(after.code).toBe(1);
  // Segments whose bytes were in the catalog have no file.
  const recovered = run("recover");
  expect(recovered.output).toContain("Recovered 1 segments with 3 entries of 4 projects.");
  expect(recovered.code).toBe(0);
  const last = reconcile();
  expect(last.output).toContain("Missing: 15 entries of 1 ranges.");
  expect(last.output).toMatch(/^Compared \d+ ranges and 1 files /m);
});

it("D25: npm run reconcile exits with 2 if it cannot find out", () => {
  expect(reconcile("x".repeat(40))).toMatchObject({ code: 2, output: expect.stringContaining("answered 401") });
  expect(reconcile(TOKEN, "http://127.0.0.1:9").code).toBe(2);
  expect(reconcile("").code).toBe(2);
});
