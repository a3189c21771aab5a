import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FailingDisk } from "../../faults/disk/failing-disk.ts";
import { faultsOf, Load } from "../../faults/disk/load.ts";
import { call } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

const SOON = { timeout: 20_000, interval: 200 };

const failing = FailingDisk.compile();
if (failing === null) console.warn("Skipped: no C compiler, which the failing disk requires.");

describe.runIf(failing !== null)("C: a disk that fails with EIO", () => {
  // SAFETY: the suite runs only if there is one.
  const disk = failing as FailingDisk;
  let server: TestServer;
  let load: Load;

  beforeAll(async () => {
    server = await startServer({ env: { ...disk.env, RECENT_MAX_AGE_SECONDS: "1" } });
    load = await Load.of(server.url);
  });
  afterAll(async () => {
    disk.mend();
    await server.stop();
  });

  test.each(["writes", "all"] as const)("of %s: no 500, and no acknowledged entry is lost", async (what) => {
    load.start();
    await wait(1000);
    for (let time = 0; time < 3; time++) {
      load.take();
      disk.fail(what);
      await wait(1500);
      const tally = load.take();
      // The first responses may be to requests that were written before.
      await expect
        .poll(() => Object.keys(Object.assign(tally, load.take())), SOON)
        .toContain("ingest 503 SERVICE_UNAVAILABLE");
      expect(faultsOf(tally)).toEqual([]);
      disk.mend();
      await expect.poll(async () => (await load.ingest()).status, SOON).toBe(201);
      await expect.poll(async () => (await load.query()).status, SOON).toBe(200);
    }
    await load.stop();
    expect(faultsOf(load.take())).toEqual([]);
    const stored = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !stored.has(message))).toEqual([]);
    // After a restart the data comes from the disk, not from the runtime's memory.
    await server.kill9();
    await server.restart();
    const kept = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !kept.has(message))).toEqual([]);
  });

  // SQLite reports an EIO of a read as a malformed database.
  test("of reads in an open database: 503, and 200 once reads succeed again", async () => {
    const { account } = load.tenant;
    // Stopping the server checkpoints the write-ahead log of an open database into its pages.
    expect((await load.login()).status).toBe(200);
    await server.restart();
    const body = { email: account.email, password: "another password" };
    // Opens the account's database without reading a session.
    expect((await call(server.url, "/auth/login", { body })).status).toBe(401);
    disk.fail("pages");
    const failed = await call(server.url, "/auth/me", { token: account.accessToken });
    expect(failed.body.error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(failed.status).toBe(503);
    expect(failed.headers.get("Retry-After")).toBe("30");
    await expect.poll(() => server.output(), SOON).toMatch(/"event":"auth.me".*"fault":"SQLITE_CORRUPT"/);
    expect((await load.login()).status).toBe(503);
    disk.mend();
    await expect.poll(async () => (await load.login()).status, SOON).toBe(200);
  });
});
