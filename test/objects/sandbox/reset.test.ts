import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../../src/ids.ts";
import { newDemoKey, parseApiKey } from "../../../src/keys/api-key.ts";
import { CATEGORY_TYPES, LEVELS } from "../../../src/logs/entry.ts";
import { RESET_EVERY_MS, SANDBOX_WORKSPACE_ID } from "../../../src/sandbox/sandbox.ts";
import { onSql } from "../ingest/support.ts";
import { BASE, cron, demoKey, evict, freshIp, HOUR_MS, left, pageOf, query, sandbox, send, stub } from "./support.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: clock }));
afterEach(() => vi.useRealTimers());

/** Continues through the tests: each begins when the one before it ended. */
let clock = BASE;

/** Moves the clock to the next time at which a reset is due. */
function toNextReset(): number {
  clock = (Math.floor(clock / RESET_EVERY_MS) + 1) * RESET_EVERY_MS;
  vi.setSystemTime(clock);
  return clock;
}

const count = (table: string) =>
  onSql(SANDBOX_WORKSPACE_ID, (sql) => Number(sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n));
const tables = (name: string) => onSql(name, (sql) => sql.exec("SELECT name FROM sqlite_master").toArray());

/** Deleted projects with data left in the object. For the cold tier see `test/objects/flush`. */
const DELETED_PROJECTS = "doomed_projects WHERE emptied = 0";

const alarmAt = () => runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());

/** Runs the alarm until it has deleted what resets have left. */
async function sweep(): Promise<void> {
  while ((await count(DELETED_PROJECTS)) > 0) await runDurableObjectAlarm(stub());
}

async function allOf(key: string) {
  return pageOf(await query(key, freshIp(), { order: "asc", pagination: { limit: 1000, includeTotal: true } }));
}

/** Makes each reset fail by a trigger on batches, the last table that it writes. */
const breakResets = () =>
  onSql(SANDBOX_WORKSPACE_ID, (sql) =>
    sql.exec("CREATE TRIGGER broken BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'disk is full'); END"),
  );
const mendResets = () => onSql(SANDBOX_WORKSPACE_ID, (sql) => sql.exec("DROP TRIGGER broken"));

describe("a sandbox before its first use", () => {
  it("is not created by a forged key: 401, and nothing is written", async () => {
    const forged = newDemoKey(SANDBOX_WORKSPACE_ID, "0".repeat(30)).secret;
    expect(parseApiKey(forged)?.workspaceId).toBe(SANDBOX_WORKSPACE_ID);
    expect((await send(forged, freshIp(), { message: "m" })).code).toBe("INVALID_API_KEY");
    expect((await query(forged, freshIp())).code).toBe("INVALID_API_KEY");
    expect(await tables(SANDBOX_WORKSPACE_ID)).toEqual([]);
  });

  it("is created once by simultaneous first requests", async () => {
    const all = await Promise.all(Array.from({ length: 30 }, sandbox));
    expect(new Set(all.map(({ apiKey }) => apiKey)).size).toBe(1);
    expect(new Set(all.map(({ resetsAt }) => resetsAt))).toEqual(new Set([new Date(BASE + 5 * HOUR_MS).toISOString()]));
    expect([await count("batches"), await count("projects"), await count("keys")]).toEqual([1, 1, 1]);
  });

  it("holds every level and kind of entry of the last six hours, numbered from 1", async () => {
    const { logs, pagination } = await allOf(await demoKey());
    expect(logs).toHaveLength(pagination.total ?? 0);
    expect(new Set(logs.map(({ level }) => level))).toEqual(new Set(LEVELS));
    for (const category of [...Object.keys(CATEGORY_TYPES), "custom"]) {
      expect(logs.some((log) => log.category === category)).toBe(true);
    }
    expect(logs.map(({ seq }) => seq)).toEqual(logs.map((_, index) => index + 1));
    const times = logs.map(({ timestamp }) => Date.parse(timestamp));
    expect([Math.min(...times) >= BASE - RESET_EVERY_MS, Math.max(...times) <= BASE]).toEqual([true, true]);
  });

  it("keeps its key through an eviction", async () => {
    const before = await sandbox();
    await evict();
    expect(await sandbox()).toEqual(before);
    expect((await query(before.apiKey, freshIp())).status).toBe(200);
  });

  it("is created in no other object", async () => {
    const name = newId("ws");
    const other = env.WORKSPACES.get(env.WORKSPACES.idFromName(name));
    // Within the object, because the stub would report a rejected call as unhandled, too.
    await runInDurableObject(other, async (instance) => {
      await expect(instance.sandbox()).rejects.toThrow("not the sandbox");
      await expect(instance.resetSandbox(clock)).rejects.toThrow("not the sandbox");
    });
    expect(await tables(name)).toEqual([]);
  });
});

describe("a reset", () => {
  it("by the cron trigger deletes sent entries, loads new ones and revokes the old key immediately", async () => {
    const before = await sandbox();
    const old = before.apiKey;
    const ids = new Set((await allOf(old)).logs.map(({ id }) => id));
    expect((await send(old, freshIp(), [{ message: "mine" }, { message: "mine, too" }])).status).toBe(201);
    const at = toNextReset();
    await cron(at);
    const ip = freshIp();
    const [written, read] = [await send(old, ip, { message: "m" }), await query(old, ip)];
    expect([written.status, written.code, read.status, read.code]).toEqual([
      401,
      "API_KEY_REVOKED",
      401,
      "API_KEY_REVOKED",
    ]);
    expect(written.text).toContain("GET /sandbox");
    const now = await sandbox();
    expect(now.apiKey).not.toBe(old);
    expect(now.projectId).not.toBe(before.projectId);
    expect(now.resetsAt).toBe(new Date(at + RESET_EVERY_MS).toISOString());
    const { logs } = await allOf(now.apiKey);
    expect(logs.filter(({ message }) => message.startsWith("mine"))).toEqual([]);
    expect(logs.map(({ seq }) => seq)).toEqual(logs.map((_, index) => index + 1));
    expect(logs.filter(({ id }) => ids.has(id))).toEqual([]);
    expect(Math.max(...logs.map(({ timestamp }) => Date.parse(timestamp)))).toBeGreaterThan(at - 10 * 60_000);
  });

  it("deletes the replaced sandbox in steps, beginning immediately", async () => {
    await sweep();
    clock += 60_000;
    vi.setSystemTime(clock);
    await runDurableObjectAlarm(stub());
    expect(await alarmAt()).toBeGreaterThan(clock);
    await cron(clock);
    expect(await count(DELETED_PROJECTS)).toBe(1);
    expect(await alarmAt()).toBeLessThanOrEqual(clock);
    await sweep();
    expect([await count("batches"), await count("projects")]).toEqual([1, 1]);
  });

  it("happens once for any number of requests", async () => {
    const old = await demoKey();
    const keys = await count("keys");
    const at = toNextReset();
    await Promise.all([cron(at), cron(at), runDurableObjectAlarm(stub()), sandbox(), cron(at), sandbox()]);
    expect(await count("keys")).toBe(keys + 1);
    const { apiKey } = await sandbox();
    expect(apiKey).not.toBe(old);
    clock += 60_000;
    vi.setSystemTime(clock);
    await cron(at);
    await runDurableObjectAlarm(stub());
    expect(await demoKey()).toBe(apiKey);
  });

  it("is done by the alarm if no cron trigger fires, and the alarm is set again", async () => {
    const old = await demoKey();
    await sweep();
    const at = toNextReset();
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect((await query(old, freshIp())).code).toBe("API_KEY_REVOKED");
    await sweep();
    // The alarm is set to the exact time of the next reset, not to the next housekeeping.
    clock = at + RESET_EVERY_MS - 600_000;
    vi.setSystemTime(clock);
    for (const before of [() => Promise.resolve(), evict]) {
      await before();
      expect(await runDurableObjectAlarm(stub())).toBe(true);
      expect(await alarmAt()).toBe(at + RESET_EVERY_MS);
    }
  });

  it("is done by the next request when it is overdue", async () => {
    const old = await demoKey();
    const at = toNextReset();
    const now = await sandbox();
    expect(now.apiKey).not.toBe(old);
    expect(now.resetsAt).toBe(new Date(at + RESET_EVERY_MS).toISOString());
  });

  it("with a clock that is ahead lasts one interval, not until that time", async () => {
    await cron(clock + 365 * 24 * HOUR_MS);
    expect(Date.parse((await sandbox()).resetsAt)).toBeLessThanOrEqual(clock + RESET_EVERY_MS + 60_000);
    clock += 120_000;
  });

  it("that fails leaves the previous sandbox unchanged, and is retried", async () => {
    const before = await sandbox();
    expect((await send(before.apiKey, freshIp(), { message: "survivor" })).status).toBe(201);
    const contents = await allOf(before.apiKey);
    await sweep();
    const at = toNextReset();
    await breakResets();
    vi.spyOn(console, "log").mockImplementation(() => {});
    await runInDurableObject(stub(), async (instance) => {
      await expect(instance.resetSandbox(at)).rejects.toThrow("disk is full");
    });
    await runDurableObjectAlarm(stub());
    for (const afterwards of [() => Promise.resolve(), evict]) {
      await afterwards();
      expect(await demoKey()).toBe(before.apiKey);
      const { logs } = await allOf(before.apiKey);
      expect(logs).toEqual(contents.logs);
    }
    expect(await alarmAt()).toBeLessThanOrEqual(at + 60_000);
    await mendResets();
    clock = at + 60_000;
    vi.setSystemTime(clock);
    await runDurableObjectAlarm(stub());
    expect((await query(before.apiKey, freshIp())).code).toBe("API_KEY_REVOKED");
    vi.restoreAllMocks();
    expect(await demoKey()).not.toBe(before.apiKey);
  });

  it("follows a change of the secret, after which the old key cannot be derived", async () => {
    const old = await demoKey();
    await onSql(SANDBOX_WORKSPACE_ID, (sql) =>
      sql.exec("UPDATE keys SET hash = 'of another secret' WHERE revoked_at IS NULL"),
    );
    await evict();
    const now = await demoKey();
    expect(now).not.toBe(old);
    expect((await query(now, freshIp())).status).toBe(200);
  });

  it("deletes revoked keys after a week", async () => {
    clock += 8 * 24 * HOUR_MS;
    vi.setSystemTime(clock);
    const old = await demoKey();
    expect(await count("keys")).toBe(2);
    clock += 8 * 24 * HOUR_MS;
    vi.setSystemTime(clock);
    await demoKey();
    clock += 8 * 24 * HOUR_MS;
    vi.setSystemTime(clock);
    await demoKey();
    expect((await query(old, freshIp())).code).toBe("INVALID_API_KEY");
  });
});

describe("a reader's state from before a reset", () => {
  it("a cursor is refused, a snapshot is empty, an idempotency key is free again", async () => {
    const old = await demoKey();
    const ip = freshIp();
    const first = pageOf(await query(old, ip, { pagination: { limit: 5 } }));
    const key = { headers: { "Idempotency-Key": "order-1" } };
    expect((await send(old, ip, { message: "order" }, key)).status).toBe(201);
    await cron(toNextReset());
    const now = await demoKey();
    const paged = await query(now, ip, { pagination: { limit: 5, cursor: first.pagination.nextCursor } });
    expect([paged.status, paged.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(pageOf(await query(now, ip, { asOf: first.asOf }))).toMatchObject({ logs: [], complete: true });
    const again = await send(now, ip, { message: "order" }, key);
    expect([again.status, again.data]).toMatchObject([201, { duplicate: false }]);
    expect(await left(now, freshIp(), "entries")).toBe(100);
  });
});
