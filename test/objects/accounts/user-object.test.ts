import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FAMILY_ABSOLUTE_MS, FAMILY_IDLE_MS } from "../../../src/accounts/families.ts";
import { isOfFamily, openRefreshToken } from "../../../src/accounts/refresh.ts";
import { newId } from "../../../src/ids.ts";
import { API_DEFAULT } from "../../../src/limits/state.ts";
import { claimsOf, dump, login, me, registered, settings, signedIn, userStub } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const family = (id = newId("fam")) =>
  ({ id, epoch: 0, method: "password", userAgent: "agent", ip: "192.0.2.1" }) as const;

function execute(userId: string, sql: string): Promise<unknown[]> {
  return runInDurableObject(userStub(userId), (_, { storage }) => storage.sql.exec(sql).toArray());
}

async function openedSession(userId: string, id = newId("fam")): Promise<string> {
  const session = await userStub(userId).createSession(family(id));
  if (!session.ok) throw new Error(session.reason);
  return session.refreshToken;
}

describe("UserObject", () => {
  it("rejects every caller and writes nothing while it is unprovisioned", async () => {
    const stub = userStub(newId("usr"));
    expect(await stub.credentials()).toBeNull();
    expect(await stub.authenticate(newId("fam"), 1)).toEqual({ alive: false, limit: null, method: null });
    expect(await stub.me(newId("fam"))).toBeNull();
    expect(await stub.createSession(family())).toEqual({ ok: false, reason: "stale" });
    await stub.discard();
    await runInDurableObject(stub, async (instance, { storage }) => {
      await instance.alarm();
      expect(dump(storage.sql)).toEqual({});
      expect(await storage.getAlarm()).toBeNull();
    });
  });

  it("returns the same session and token for a repeated createSession", async () => {
    const { user } = await registered("repeat@example.com");
    const id = newId("fam");
    const [first, second] = await Promise.all([openedSession(user.id, id), openedSession(user.id, id)]);
    expect(second).toBe(first);
    await evictDurableObject(userStub(user.id));
    expect(await openedSession(user.id, id)).toBe(first);
    expect(await execute(user.id, `SELECT id FROM families WHERE id = '${id}'`)).toHaveLength(1);
  });

  it("R12: no dump of its storage contains a token or everything needed to derive one", async () => {
    const { user, refreshToken } = await registered("dump@example.com");
    const opened = openRefreshToken(refreshToken, settings.REFRESH_PEPPER);
    if (!opened) throw new Error("the token must open");
    const tables = await runInDurableObject(userStub(user.id), (_, { storage }) => dump(storage.sql));
    const texts: string[] = [];
    for (const cell of Object.values(tables).flat(2)) {
      if (typeof cell === "string") texts.push(cell);
      if (cell instanceof ArrayBuffer) {
        for (const encoding of ["latin1", "utf8", "hex", "base64", "base64url"] as const) {
          texts.push(Buffer.from(cell).toString(encoding));
        }
      }
    }
    expect(texts).toContain(user.email);
    for (const text of texts) {
      expect(text).not.toContain("rt_");
      expect(text).not.toContain(refreshToken.slice(3));
      expect(openRefreshToken(text, settings.REFRESH_PEPPER)).toBeNull();
      expect(text).not.toContain(settings.REFRESH_PEPPER);
    }
    const [row] = await execute(user.id, "SELECT key, counter FROM families");
    // SAFETY: the query names the columns and the table is STRICT.
    const { key, counter } = row as { key: ArrayBuffer; counter: number };
    expect(opened.counter).toBe(counter);
    expect(isOfFamily(opened, new Uint8Array(key), settings.REFRESH_PEPPER)).toBe(true);
    expect(isOfFamily(opened, new Uint8Array(key), "")).toBe(false);
  });

  it("R7: keeps 50 families: evicts expired ones first, then those signed in longest ago", async () => {
    const { user, accessToken } = await registered("many@example.com");
    const { sessionId: first } = await claimsOf(accessToken);
    const ids = [first];
    for (let i = 0; i < 49; i++) {
      const id = newId("fam");
      await openedSession(user.id, id);
      ids.push(id);
    }
    await execute(user.id, `UPDATE families SET revoked_at = 1, revoked_reason = 'logout' WHERE id = '${ids[30]}'`);
    await evictDurableObject(userStub(user.id));
    const kept = async (): Promise<unknown[]> => {
      const rows = await runInDurableObject(userStub(user.id), (_, { storage }) => [
        ...storage.sql.exec("SELECT id FROM families ORDER BY num").raw(),
      ]);
      return rows.flat();
    };
    const newest = newId("fam");
    await openedSession(user.id, newest);
    expect(await kept()).toEqual([...ids.filter((_, i) => i !== 30), newest]);
    expect((await me(accessToken)).status).toBe(200);
    await openedSession(user.id);
    expect(await kept()).toHaveLength(50);
    expect((await me(accessToken)).code).toBe("SESSION_REVOKED");
  });

  it("ends a session at its idle and at its absolute expiry", async () => {
    const { user, accessToken } = await registered("ages@example.com");
    const { sessionId } = await claimsOf(accessToken);
    const stub = userStub(user.id);
    const alive = async (): Promise<boolean> => (await stub.authenticate(sessionId, 0)).alive;
    const startedAt = Date.now();
    await execute(user.id, `UPDATE families SET created_at = ${startedAt}, last_used_at = ${startedAt}`);
    const clock = vi.spyOn(Date, "now").mockReturnValue(startedAt + FAMILY_IDLE_MS - 1);
    expect(await alive()).toBe(true);
    clock.mockReturnValue(startedAt + FAMILY_IDLE_MS);
    expect(await alive()).toBe(false);
    await execute(user.id, `UPDATE families SET last_used_at = ${startedAt + FAMILY_ABSOLUTE_MS - 10}`);
    clock.mockReturnValue(startedAt + FAMILY_ABSOLUTE_MS - 1);
    expect(await alive()).toBe(true);
    clock.mockReturnValue(startedAt + FAMILY_ABSOLUTE_MS);
    expect(await alive()).toBe(false);
  });

  it("counts its user exactly, across sessions and eviction, and nothing for an ended session or cost 0", async () => {
    const { user, accessToken } = await registered("counted@example.com");
    const other = signedIn(await login("counted@example.com"));
    const { sessionId } = await claimsOf(accessToken);
    const { sessionId: otherId } = await claimsOf(other.accessToken);
    const stub = userStub(user.id);
    expect(await stub.authenticate(newId("fam"), 1)).toEqual({ alive: false, limit: null, method: null });
    expect(await stub.authenticate(sessionId, 0)).toEqual({ alive: true, limit: null, method: "password" });
    expect(await execute(user.id, "SELECT 1 FROM rate_seconds")).toEqual([]);
    const half = API_DEFAULT.limit / 2;
    await Promise.all(Array.from({ length: half }, () => stub.authenticate(sessionId, 1)));
    await evictDurableObject(stub);
    const rest = await Promise.all(Array.from({ length: half + 50 }, () => userStub(user.id).authenticate(otherId, 1)));
    expect(rest.every(({ alive }) => alive)).toBe(true);
    expect(rest.filter(({ limit }) => limit?.admitted)).toHaveLength(half);
    expect(rest.filter(({ limit }) => limit?.admitted === false)).toHaveLength(50);
  });

  it("sweeps its counters an hour later, and then has no alarm", async () => {
    const { user, accessToken } = await registered("sweep@example.com");
    const { sessionId } = await claimsOf(accessToken);
    const stub = userStub(user.id);
    await execute(user.id, "DELETE FROM promised_mails");
    // The registration's alarm finds a confirmed account and has nothing else to do.
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await runDurableObjectAlarm(stub)).toBe(false);
    const startedAt = Date.now();
    await stub.authenticate(sessionId, 1);
    await stub.authenticate(sessionId, 1);
    const clock = vi.spyOn(Date, "now").mockReturnValue(startedAt + 30_000);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect((await execute(user.id, "SELECT 1 FROM rate_seconds")).length).toBeGreaterThan(0);
    clock.mockReturnValue(startedAt + 3_700_000);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await execute(user.id, "SELECT 1 FROM rate_seconds")).toEqual([]);
    expect(await execute(user.id, "SELECT 1 FROM rate_counters")).toEqual([]);
    expect(await runDurableObjectAlarm(stub)).toBe(false);
    await stub.authenticate(sessionId, 1);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
  });
});
