import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FailingDisk } from "../../faults/disk/failing-disk.ts";
import { faultsOf, Load } from "../../faults/disk/load.ts";
import { startServer, type TestServer } from "../../support/server.ts";

const SOON = { timeout: 20_000, interval: 200 };

const failing = FailingDisk.compile();
if (failing === null) console.warn("Skipped: there is no C compiler, so no library that lets a disk fail.");

describe.runIf(failing !== null)("C: a disk that fails with EIO", () => {
  // SAFETY: the suite runs only where there is one.
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

  test.each(["writes", "all"] as const)("of %s: no 500, and nothing that was acknowledged is lost", async (what) => {
    load.start();
    await wait(1000);
    for (let time = 0; time < 3; time++) {
      load.take();
      disk.fail(what);
      await wait(1500);
      const tally = load.take();
      expect(faultsOf(tally)).toEqual([]);
      // The first answers may be to what was written before.
      expect(tally["ingest 503 SERVICE_UNAVAILABLE"]).toBeGreaterThan(0);
      disk.mend();
      await expect.poll(async () => (await load.ingest()).status, SOON).toBe(201);
      await expect.poll(async () => (await load.query()).status, SOON).toBe(200);
    }
    await load.stop();
    expect(faultsOf(load.take())).toEqual([]);
    const stored = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !stored.has(message))).toEqual([]);
    // What is on the disk itself is told apart from what the runtime still has in memory.
    await server.kill9();
    await server.restart();
    const kept = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !kept.has(message))).toEqual([]);
  });
});
