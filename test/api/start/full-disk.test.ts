import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOf, Load } from "../../faults/disk/load.ts";
import { SmallDisk } from "../../faults/disk/small-disk.ts";
import { call } from "../../support/api.ts";
import { failedStart, startServer, type TestServer } from "../../support/server.ts";
import { TailClient } from "../tail/client.ts";

const MIB = 1024 * 1024;
const MIN_FREE = 16 * MIB;
/** Measurements are one second apart. */
const SOON = { timeout: 10_000, interval: 100 };

const disk = SmallDisk.mount(80);
if (disk === null) console.warn("Skipped: this process may not mount a file system, so no disk can be filled.");

describe.runIf(disk !== null)("C: a full disk", () => {
  // SAFETY: the suite runs only if there is one.
  const small = disk as SmallDisk;
  const dataDir = path.join(small.dir, "data");
  const ballast = path.join(dataDir, "ballast");
  let server: TestServer;
  let load: Load;

  const health = async () => (await call<{ status: string; disk: string }>(server.url, "/health")).body.data;
  const diskIs = (state: "ok" | "low") => expect.poll(async () => (await health())?.disk, SOON).toBe(state);

  beforeAll(async () => {
    server = await startServer({ env: { DATA_DIR: dataDir, MIN_FREE_BYTES: String(MIN_FREE), LOG_LEVEL: "info" } });
    load = await Load.of(server.url);
  });
  afterAll(async () => {
    await server.stop();
    small.unmount();
  });

  test("below MIN_FREE_BYTES: entries get 503 with the cause, and everything else works", async () => {
    expect(await health()).toMatchObject({ status: "ok", disk: "ok" });
    await expect.poll(() => existsSync(ballast), SOON).toBe(true);
    expect((await load.ingest("early", "kept")).status).toBe(201);
    small.fill(MIN_FREE - MIB);
    await diskIs("low");
    expect(await health()).toMatchObject({ status: "degraded", database: "ok", objects: "ok" });
    const refused = await load.ingest("late", "refused");
    expect(refused).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE", retryAfter: "30" });
    expect(refused.message).toContain("disk of the service is nearly full");
    // A retry of a stored request still gets its receipt.
    expect((await load.ingest("early", "kept")).status).toBe(201);
    expect((await load.query()).status).toBe(200);
    expect((await load.login()).status).toBe(200);
    const { tenant } = load;
    const tail = await TailClient.open(server.url, tenant.projectId, tenant.key.secret, "?since=0");
    await tail.has(1);
    tail.close();
    expect(existsSync(ballast)).toBe(true);
    small.clear();
    await diskIs("ok");
    expect((await load.ingest("late", "refused")).status).toBe(201);
    expect(server.output()).toContain("The disk is nearly full");
  });

  test("filled to the last byte under load: no 500, and no acknowledged entry is lost", async () => {
    load.start();
    await wait(500);
    small.fill();
    await expect.poll(() => existsSync(ballast), SOON).toBe(false);
    await wait(1500);
    const tally = load.take();
    // The ballast was deleted, so reads have room.
    await expect.poll(async () => (await load.query()).status, SOON).toBe(200);
    await expect.poll(async () => (await load.login()).status, SOON).toBe(200);
    // Fills the disk again, now without a ballast.
    small.fill();
    await wait(2000);
    small.clear();
    await diskIs("ok");
    await expect.poll(async () => (await load.ingest()).status, SOON).toBe(201);
    await load.stop();
    const later = load.take();
    expect(faultsOf(tally)).toEqual([]);
    expect(faultsOf(later)).toEqual([]);
    const stored = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !stored.has(message))).toEqual([]);
    await expect.poll(() => existsSync(ballast), SOON).toBe(true);
  });

  test("filled by the service itself, without a margin: no 500, and no acknowledged entry is lost", async () => {
    const other = path.join(small.dir, "no-margin");
    const bare = await startServer({ env: { DATA_DIR: other, MIN_FREE_BYTES: "0", RECENT_MAX_AGE_SECONDS: "1" } });
    const flood = await Load.of(bare.url);
    small.fill(3 * MIB);
    flood.start();
    const kinds = new Set<string>();
    const seen = () => {
      for (const kind of Object.keys(flood.take())) kinds.add(kind);
      return [...kinds];
    };
    // A flush makes room, so the disk may be full some time after it was nearly full.
    await expect.poll(seen, { ...SOON, timeout: 60_000 }).toContain("ingest 503 SERVICE_UNAVAILABLE");
    await wait(2000);
    small.clear();
    await expect.poll(async () => (await flood.ingest()).status, SOON).toBe(201);
    await flood.stop();
    expect(faultsOf(Object.fromEntries(seen().map((kind) => [kind, 1])))).toEqual([]);
    const stored = new Set(await flood.stored());
    expect([...flood.acknowledged].filter((message) => !stored.has(message))).toEqual([]);
    await bare.stop();
    rmSync(other, { recursive: true });
  });

  test("a start on a full disk serves reads, and accepts entries once there is room, without a restart", async () => {
    await expect.poll(() => existsSync(ballast), SOON).toBe(true);
    // Filled before the next measurement, so the ballast still exists.
    const killed = server.kill9();
    small.fill();
    await killed;
    expect(small.free).toBeLessThan(64 * 1024);
    await server.restart();
    expect(server.output()).toContain("The disk is nearly full");
    expect((await load.query()).status).toBe(200);
    expect((await load.login()).status).toBe(200);
    expect(await health()).toMatchObject({ status: "degraded", disk: "low" });
    expect(await load.ingest()).toMatchObject({ status: 503, retryAfter: "30" });
    const stored = new Set(await load.stored());
    expect([...load.acknowledged].filter((message) => !stored.has(message))).toEqual([]);
    small.clear();
    await diskIs("ok");
    expect((await load.ingest()).status).toBe(201);
    await expect.poll(() => existsSync(ballast), SOON).toBe(true);
  });

  test("a start on a full disk without a ballast says so", async () => {
    await server.stop();
    rmSync(ballast);
    small.fill();
    const { code, output } = await failedStart({
      DATA_DIR: dataDir,
      PORT: String(server.port),
      MIN_FREE_BYTES: String(MIN_FREE),
    });
    expect(code).toBe(1);
    expect(output).toContain(`The disk of DATA_DIR ${dataDir} is full`);
    expect(output).not.toContain("    at ");
    small.clear();
    await server.restart();
    expect((await load.ingest()).status).toBe(201);
  });
});
