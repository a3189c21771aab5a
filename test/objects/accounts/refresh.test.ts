import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FAMILY_ABSOLUTE_MS, FAMILY_IDLE_MS } from "../../../src/accounts/families.ts";
import { mintRefreshToken, openRefreshToken } from "../../../src/accounts/refresh.ts";
import { newId } from "../../../src/ids.ts";
import { deliver, mailedToken, mailsTo, pendingMailsOf } from "./mail-support.ts";
import {
  type Answer,
  bearer,
  call,
  callWith,
  claimsOf,
  dump,
  login,
  me,
  registered,
  settings,
  signedIn,
  userStub,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

interface Pair {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
}

function refresh(refreshToken: unknown, key?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const keyed = key === undefined ? {} : { "Idempotency-Key": key };
  return call("/auth/refresh", { body: { refreshToken }, headers: { ...keyed, ...headers } });
}

async function refreshed(refreshToken: string, key?: string): Promise<Pair> {
  const answer = await refresh(refreshToken, key);
  expect([answer.status, answer.code]).toEqual([200, null]);
  // SAFETY: the route's response schema; the members are compared below.
  return answer.data as Pair;
}

const logout = (refreshToken: string) => call("/auth/logout", { body: { refreshToken } });
const evict = (userId: string) => evictDurableObject(userStub(userId));

async function refused(token: string, code: string, key?: string): Promise<void> {
  const answer = await refresh(token, key);
  expect([answer.status, answer.code]).toEqual([401, code]);
  expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
  expect(answer.text).not.toContain(token);
}

function families(userId: string): Promise<Record<string, unknown>[]> {
  return runInDurableObject(userStub(userId), (_, { storage }) =>
    storage.sql.exec("SELECT id, counter, revoked_at, revoked_reason FROM families ORDER BY num").toArray(),
  );
}

function counterOf(token: string): number | undefined {
  return openRefreshToken(token, settings.REFRESH_PEPPER)?.counter;
}

const later = (ms: number) => vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);

describe("POST /auth/refresh", () => {
  it("R1: the current token rotates in its family, counter + 1, and the old one is refused at once", async () => {
    const first = await registered("r1@example.com");
    const answer = await refresh(first.refreshToken);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(Object.keys(answer.data as Pair).sort()).toEqual(["accessToken", "expiresIn", "refreshToken"]);
    const second = answer.data as Pair;
    expect(second.expiresIn).toBe(900);
    expect(counterOf(first.refreshToken)).toBe(1);
    expect(counterOf(second.refreshToken)).toBe(2);
    expect(await claimsOf(second.accessToken)).toEqual(await claimsOf(first.accessToken));
    expect((await me(second.accessToken)).status).toBe(200);
    expect((await me(first.accessToken)).status).toBe(200);
    await evict(first.user.id);
    const third = await refreshed(second.refreshToken);
    expect(counterOf(third.refreshToken)).toBe(3);
    await refused(second.refreshToken, "REFRESH_TOKEN_REUSED");
  });

  it("R2: a retry with the same key returns the same successor, also after eviction, until it is used", async () => {
    const { user, refreshToken } = await registered("r2@example.com");
    const second = await refreshed(refreshToken, "key-one");
    await evict(user.id);
    for (let i = 0; i < 3; i++) {
      const again = await refreshed(refreshToken, "key-one");
      expect(again.refreshToken).toBe(second.refreshToken);
      expect((await me(again.accessToken)).status).toBe(200);
    }
    const third = await refreshed(second.refreshToken, "key-two");
    await refused(refreshToken, "REFRESH_TOKEN_REUSED", "key-one");
    await refused(third.refreshToken, "INVALID_REFRESH_TOKEN");
  });

  it("R2: another key, no key, or 30 seconds later is reuse", async () => {
    const keys = [
      ["other", 0, 401],
      [undefined, 0, 401],
      ["mine", 30_001, 401],
      ["mine", 29_000, 200],
    ] as const;
    for (const [index, [key, ms, status]] of keys.entries()) {
      const { refreshToken } = await registered(`r2-${index}@example.com`);
      const { refreshToken: successor } = await refreshed(refreshToken, "mine");
      const clock = later(ms);
      const answer = await refresh(refreshToken, key);
      expect([key, ms, answer.status]).toEqual([key, ms, status]);
      expect((await refresh(successor)).status).toBe(status);
      clock.mockRestore();
    }
  });

  it("R2: once the successor is used its predecessor is reuse, though both rotations had one key", async () => {
    const { refreshToken } = await registered("r2-same-key@example.com");
    const second = await refreshed(refreshToken, "k");
    const third = await refreshed(second.refreshToken, "k");
    await refused(refreshToken, "REFRESH_TOKEN_REUSED", "k");
    await refused(third.refreshToken, "INVALID_REFRESH_TOKEN", "k");
  });

  it("R2: a key that was never sent with a rotation does not match a rotation without one", async () => {
    const { refreshToken } = await registered("r2-none@example.com");
    await refreshed(refreshToken);
    await refused(refreshToken, "REFRESH_TOKEN_REUSED", "key");
  });

  it("R2: keys are stored hashed, and a malformed one is refused before anything changes", async () => {
    const { user, refreshToken } = await registered("r2-hash@example.com");
    for (const bad of ["", "x".repeat(129), "tab\there"]) {
      const answer = await refresh(refreshToken, bad);
      expect([bad, answer.status, answer.code]).toEqual([bad, 400, "VALIDATION_ERROR"]);
    }
    await refreshed(refreshToken, "a-rather-secret-key");
    const tables = await runInDurableObject(userStub(user.id), (_, { storage }) => dump(storage.sql));
    for (const cell of Object.values(tables).flat(2)) {
      const text = cell instanceof ArrayBuffer ? Buffer.from(cell).toString("latin1") : String(cell);
      expect(text).not.toContain("a-rather-secret-key");
    }
  });

  it("R3: 50 parallel presentations with one key get one successor from one rotation", async () => {
    const { user, refreshToken } = await registered("r3-key@example.com");
    await evict(user.id);
    const pairs = await Promise.all(Array.from({ length: 50 }, () => refreshed(refreshToken, "shared")));
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1);
    expect((await families(user.id)).map(({ counter }) => counter)).toEqual([2]);
    expect((await refresh(pairs[0]?.refreshToken)).status).toBe(200);
  });

  it("R3: of 50 parallel presentations without keys exactly one gets 200", async () => {
    const { user, refreshToken } = await registered("r3@example.com");
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === "REFRESH_TOKEN_REUSED")).toHaveLength(49);
    expect((await families(user.id)).map(({ counter }) => counter)).toEqual([2]);
  });

  it("R4: a superseded token ends the whole family, the unused successor and its access tokens too", async () => {
    const first = await registered("r4@example.com");
    const second = await refreshed(first.refreshToken, "k1");
    const third = await refreshed(second.refreshToken, "k2");
    await evict(first.user.id);
    await refused(first.refreshToken, "REFRESH_TOKEN_REUSED", "k1");
    await refused(third.refreshToken, "INVALID_REFRESH_TOKEN");
    await refused(second.refreshToken, "REFRESH_TOKEN_REUSED", "k2");
    for (const token of [first.accessToken, second.accessToken, third.accessToken]) {
      expect((await me(token)).code).toBe("SESSION_REVOKED");
    }
    expect(await families(first.user.id)).toEqual([expect.objectContaining({ counter: 3, revoked_reason: "reuse" })]);
  });

  it("R4: within REFRESH_LEEWAY_SECONDS a superseded token is refused and its family stays valid", async () => {
    const { user, refreshToken } = await registered("r4-leeway@example.com");
    const opened = openRefreshToken(refreshToken, settings.REFRESH_PEPPER);
    if (!opened) throw new Error("the token must open");
    const { refreshToken: successor } = await refreshed(refreshToken);
    const { rotate } = await import("../../../src/accounts/refresh.ts");
    const present = (now: number, token = opened, leewayMs = 10_000) =>
      runInDurableObject(userStub(user.id), (_, { storage }) =>
        rotate(
          storage.sql,
          { token, keyHash: null, ip: "192.0.2.1", userAgent: null },
          { pepper: settings.REFRESH_PEPPER, leewayMs },
          now,
        ),
      );
    expect(await present(Date.now() + 5000)).toEqual({ ok: false, code: "REFRESH_TOKEN_REUSED", ended: false });
    const third = await refreshed(successor);
    expect(await present(Date.now())).toEqual({ ok: false, code: "REFRESH_TOKEN_REUSED", ended: true });
    await refused(third.refreshToken, "INVALID_REFRESH_TOKEN");
  });

  it("R5: no token of a revoked family is accepted again, with or without a key; other families stay valid", async () => {
    const first = await registered("r5@example.com");
    const other = signedIn(await login("r5@example.com"));
    const second = await refreshed(first.refreshToken, "k");
    expect((await logout(second.refreshToken)).status).toBe(200);
    await refused(first.refreshToken, "REFRESH_TOKEN_REUSED", "k");
    await refused(second.refreshToken, "INVALID_REFRESH_TOKEN");
    await refused(second.refreshToken, "INVALID_REFRESH_TOKEN", "k");
    expect(await families(first.user.id)).toEqual([
      expect.objectContaining({ revoked_reason: "logout" }),
      expect.objectContaining({ revoked_reason: null }),
    ]);
    expect((await me(other.accessToken)).status).toBe(200);
    expect((await refresh(other.refreshToken)).status).toBe(200);
  });

  it("R6: forged, malformed, unknown and future tokens are 401 and change nothing", async () => {
    const { user, refreshToken, accessToken } = await registered("r6@example.com");
    const opened = openRefreshToken(refreshToken, settings.REFRESH_PEPPER);
    if (!opened) throw new Error("the token must open");
    const key = await runInDurableObject(userStub(user.id), (_, { storage }) => {
      // SAFETY: the query names the column and the table is STRICT.
      return new Uint8Array(storage.sql.exec("SELECT key FROM families").one().key as ArrayBuffer);
    });
    const mint = (change: object, familyKey = key, pepper = settings.REFRESH_PEPPER) =>
      mintRefreshToken({ ...opened, ...change }, familyKey, pepper);
    expect(mint({})).toBe(refreshToken);
    await refreshed(refreshToken, "k");
    const before = await families(user.id);
    const forgeries = [
      "nonsense",
      "rt_",
      "rt_x_y",
      `${refreshToken}x`,
      refreshToken.slice(0, -2),
      refreshToken.toUpperCase(),
      accessToken,
      "sk_0123456789abcdefghijklmnopqrstuvwxyz0123456789AB",
      "x".repeat(100_000),
      mint({ counter: 3 }),
      mint({ counter: 999 }),
      mint({ familyId: newId("fam") }),
      mint({ userId: newId("usr") }),
      mint({}, new Uint8Array(32)),
      mint({}, key, "another pepper of the right length"),
    ];
    for (const forgery of forgeries) await refused(forgery, "INVALID_REFRESH_TOKEN");
    expect(await families(user.id)).toEqual(before);
    expect((await me(accessToken)).status).toBe(200);
    for (const body of [{}, { refreshToken: 5 }, { refreshToken: "" }, { refreshToken: "rt_x", extra: 1 }, [], "{"]) {
      expect((await call("/auth/refresh", { body })).code).toBe("VALIDATION_ERROR");
    }
  });

  it("R6: a forged token reaches no object", async () => {
    const { refreshToken } = await registered("r6-wake@example.com");
    const userId = newId("usr");
    const body = Buffer.from(`${userId}.${newId("fam")}.1`).toString("base64url");
    const forgery = `rt_${body}_${refreshToken.split("_").slice(2).join("_")}`;
    await refused(forgery, "INVALID_REFRESH_TOKEN");
    // A router without access to objects answers all the same, which it could not for a genuine token.
    const alone = (token: string) => callWith({ USERS: null }, "/auth/refresh", { body: { refreshToken: token } });
    for (const token of [forgery, `${refreshToken}x`, "rt_x_y"]) {
      expect((await alone(token)).code).toBe("INVALID_REFRESH_TOKEN");
    }
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    expect((await alone(refreshToken)).status).toBe(500);
    // A token with a genuine outer MAC and no family reaches an object, and writes nothing there.
    await refused(
      mintRefreshToken({ userId, familyId: newId("fam"), counter: 1 }, new Uint8Array(32), settings.REFRESH_PEPPER),
      "INVALID_REFRESH_TOKEN",
    );
    await runInDurableObject(userStub(userId), async (_, { storage }) => {
      expect(dump(storage.sql)).toEqual({});
      expect(await storage.getAlarm()).toBeNull();
    });
  });

  it("R7: 30 days idle or 90 days in all end a family, and rotation moves the first bound only", async () => {
    const { refreshToken } = await registered("r7@example.com");
    const startedAt = Date.now();
    const clock = vi.spyOn(Date, "now");
    clock.mockReturnValue(startedAt + FAMILY_IDLE_MS - 60_000);
    let current = (await refreshed(refreshToken)).refreshToken;
    for (const days of [50, 75]) {
      clock.mockReturnValue(startedAt + days * 86_400_000);
      current = (await refreshed(current)).refreshToken;
    }
    clock.mockReturnValue(startedAt + FAMILY_ABSOLUTE_MS + 60_000);
    await refused(current, "REFRESH_TOKEN_EXPIRED");
    clock.mockRestore();
    const idle = await registered("r7-idle@example.com");
    const idleClock = later(FAMILY_IDLE_MS + 1000);
    await refused(idle.refreshToken, "REFRESH_TOKEN_EXPIRED");
    idleClock.mockRestore();
    expect((await refresh(idle.refreshToken)).status).toBe(200);
  });

  it("R8: of 40 refreshes racing one revoke none survives", async () => {
    for (const [round, revoke] of [
      async (token: string) => logout(token),
      async (_: string, accessToken: string) => {
        const { sessionId } = await claimsOf(accessToken);
        return call(`/auth/sessions/${sessionId}`, { method: "DELETE", headers: bearer(accessToken) });
      },
      async (_: string, __: string, other: string) =>
        call("/auth/sessions", { method: "DELETE", headers: bearer(other) }),
    ].entries()) {
      const email = `r8-${round}@example.com`;
      const { user, refreshToken, accessToken } = await registered(email);
      const other = signedIn(await login(email));
      if (round === 1) await evict(user.id);
      const twenty = () => Array.from({ length: 20 }, () => refresh(refreshToken, `k${round}`));
      const early = twenty();
      const revoked = revoke(refreshToken, accessToken, other.accessToken);
      const answers = await Promise.all([...early, ...twenty()]);
      expect((await revoked).status).toBe(200);
      // Some refreshes came before the revocation. Otherwise the round would prove nothing.
      expect(answers.filter(({ status }) => status === 200)).not.toEqual([]);
      for (const { data, status } of answers) {
        if (status !== 200) continue;
        const pair = data as Pair;
        expect((await me(pair.accessToken)).code).toBe("SESSION_REVOKED");
        expect((await refresh(pair.refreshToken, `k${round}`)).status).toBe(401);
      }
      expect((await refresh(refreshToken, `k${round}`)).status).toBe(401);
      expect((await me(other.accessToken)).status).toBe(200);
    }
  });

  it("R11: reuse is mailed to the user, once an hour", async () => {
    const { user } = await registered("r11@example.com");
    const token = await mailedToken("r11@example.com", "verify-email");
    expect((await call("/auth/verify-email", { body: { token } })).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      const { refreshToken } = signedIn(await login("r11@example.com"));
      await refreshed(refreshToken);
      await refused(refreshToken, "REFRESH_TOKEN_REUSED");
    }
    expect(await pendingMailsOf(user.id)).toHaveLength(1);
    await deliver(user.id);
    expect((await mailsTo("r11@example.com", "notice")).map(({ subject }) => subject)).toEqual([
      "One of your sessions was ended",
    ]);
    const clock = later(3_600_001);
    const { refreshToken } = signedIn(await login("r11@example.com"));
    await refreshed(refreshToken);
    await refused(refreshToken, "REFRESH_TOKEN_REUSED");
    clock.mockRestore();
    expect(await pendingMailsOf(user.id)).toHaveLength(1);
  });

  it("R12: no string in a dump of the object is accepted", async () => {
    const { user, refreshToken } = await registered("r12@example.com");
    await refreshed(refreshToken, "key");
    const tables = await runInDurableObject(userStub(user.id), (_, { storage }) => dump(storage.sql));
    const texts = new Set<string>();
    for (const cell of Object.values(tables).flat(2)) {
      const bytes = cell instanceof ArrayBuffer ? Buffer.from(cell) : Buffer.from(String(cell));
      for (const encoding of ["utf8", "hex", "base64", "base64url"] as const) {
        texts.add(bytes.toString(encoding)).add(`rt_${bytes.toString(encoding)}`);
      }
    }
    for (const text of texts) {
      const answer = await refresh(text || "x");
      expect(answer.status).toBe(401);
    }
    expect(await families(user.id)).toEqual([expect.objectContaining({ revoked_at: null })]);
  });
});

describe("POST /auth/logout", () => {
  it("R9: accepts any genuine token of the family, returns 200 also for unknown ones, and ends access at once", async () => {
    const first = await registered("r9@example.com");
    const second = await refreshed(first.refreshToken);
    for (const token of [first.refreshToken, first.refreshToken, second.refreshToken, "rt_unknown", "x".repeat(5000)]) {
      const answer = await logout(token);
      expect([answer.status, answer.data]).toEqual([200, { revoked: true }]);
      expect((await me(second.accessToken)).code).toBe("SESSION_REVOKED");
    }
    await refused(second.refreshToken, "INVALID_REFRESH_TOKEN");
    expect((await families(first.user.id)).map(({ revoked_reason }) => revoked_reason)).toEqual(["logout"]);
    expect((await call("/auth/logout", { body: {} })).code).toBe("VALIDATION_ERROR");
  });

  it("R9: a forged token ends nothing", async () => {
    const { user, accessToken, refreshToken } = await registered("r9-forged@example.com");
    const opened = openRefreshToken(refreshToken, settings.REFRESH_PEPPER);
    if (!opened) throw new Error("the token must open");
    const forged = mintRefreshToken(opened, new Uint8Array(32), settings.REFRESH_PEPPER);
    expect((await logout(forged)).status).toBe(200);
    expect((await logout(mintRefreshToken({ ...opened, userId: newId("usr") }, new Uint8Array(32), "x"))).status).toBe(
      200,
    );
    expect((await me(accessToken)).status).toBe(200);
    expect(await families(user.id)).toEqual([expect.objectContaining({ revoked_at: null })]);
  });
});
