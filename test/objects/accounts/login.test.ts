import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isId } from "../../../src/ids.ts";
import { newIp } from "../client-ips.ts";
import { call, callWith, claimsOf, dump, login, me, PASSWORD, registered, signedIn, userStub } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

describe("POST /auth/login", () => {
  it("returns 200 in the shape of a registration, with a new session", async () => {
    const first = await registered("login@example.com", "Grace Hopper");
    const answer = await login(" LOGIN@example.com");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    const second = signedIn(answer);
    expect(second.user).toEqual(first.user);
    expect(second.personalWorkspace).toEqual(first.personalWorkspace);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    const [one, two] = [await claimsOf(first.accessToken), await claimsOf(second.accessToken)];
    expect(two.userId).toBe(one.userId);
    expect(two.sessionId).not.toBe(one.sessionId);
    expect((await me(first.accessToken)).status).toBe(200);
    expect((await me(second.accessToken)).status).toBe(200);
  });

  it("derives exactly once for an unknown address, no password, a wrong and a right one; one 401 for all", async () => {
    await registered("once@example.com");
    const { user } = await registered("passwordless@example.com");
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      storage.sql.exec("UPDATE account SET password_hash = NULL");
    });
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const refusals: string[] = [];
    const attempts = [
      ["unknown@example.com", PASSWORD, 401],
      ["passwordless@example.com", PASSWORD, 401],
      ["once@example.com", `${PASSWORD}!`, 401],
      ["once@example.com", PASSWORD, 200],
    ] as const;
    for (const [email, password, status] of attempts) {
      derive.mockClear();
      const answer = await login(email, password);
      expect([email, answer.status]).toEqual([email, status]);
      expect(derive).toHaveBeenCalledTimes(1);
      expect(derive.mock.calls[0]?.[0]).toMatchObject({ name: "PBKDF2", hash: "SHA-256", iterations: 100_000 });
      if (status === 200) continue;
      expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
      refusals.push(answer.text.replace(/"meta":.*/, ""));
    }
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain("INVALID_CREDENTIALS");
  });

  it("calls one user object for an unknown address too, which stays unprovisioned", async () => {
    await registered("asked@example.com");
    const asked: string[] = [];
    const USERS = {
      idFromName: (name: string) => env.USERS.idFromName(name),
      get: (id: DurableObjectId) => {
        asked.push(id.name ?? "");
        return env.USERS.get(id);
      },
    };
    for (const email of ["asked@example.com", "nobody-asked@example.com", "nobody-asked@example.com"]) {
      const body = { email, password: "a wrong password" };
      expect((await callWith({ USERS }, "/auth/login", { body })).code).toBe("INVALID_CREDENTIALS");
    }
    const [known, decoy, again, ...more] = asked;
    expect(more).toEqual([]);
    expect(isId("usr", decoy ?? "")).toBe(true);
    expect(decoy).not.toBe(known);
    expect(again).toBe(decoy);
    await runInDurableObject(userStub(decoy ?? ""), async (_, { storage }) => {
      expect(dump(storage.sql)).toEqual({});
      expect(await storage.getAlarm()).toBeNull();
    });
  });

  it("does not derive for an invalid request", async () => {
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const bodies = [{}, { email: "a@example.com" }, { email: "a@example.com", password: "short" }, "{", "null"];
    for (const body of bodies) expect((await call("/auth/login", { body })).code).toBe("VALIDATION_ERROR");
    const extra = await call("/auth/login", { body: { email: "a@example.com", password: PASSWORD, otp: 1 } });
    expect(extra.details).toEqual([expect.objectContaining({ path: "otp" })]);
    expect(derive).not.toHaveBeenCalled();
  });

  it("R10: a password that was verified before the epoch rose opens no session after it", async () => {
    const { user } = await registered("epoch@example.com");
    const stub = userStub(user.id);
    const before = await stub.credentials();
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE account SET epoch = epoch + 1");
    });
    const family = { id: "fam_0123456789ab", method: "password", userAgent: null, ip: "192.0.2.1" } as const;
    expect(await stub.createSession({ ...family, epoch: before?.epoch ?? -1 })).toEqual({ ok: false, reason: "stale" });
    expect((await login("epoch@example.com")).status).toBe(200);
  });
});

describe("/auth and its limit", () => {
  const from = (ip: string) => ({ "CF-Connecting-IP": ip });

  it("counts every route by client IP, before the body is read, and an /auth/me without credentials once", async () => {
    const limited = { AUTH_LIMIT: "5" };
    const headers = from(newIp());
    const seen = [
      await callWith(limited, "/auth/me", { headers }),
      await callWith(limited, "/auth/me", { headers: { ...headers, Authorization: "Bearer nonsense" } }),
      await callWith(limited, "/auth/login", { body: "{", headers }),
      await callWith(limited, "/auth/register", { body: {}, headers }),
      await callWith(limited, "/auth/login", { body: { email: "x@example.com", password: PASSWORD }, headers }),
    ];
    expect(seen.map(({ headers }) => headers.get("X-RateLimit-Remaining"))).toEqual(["4", "3", "2", "1", "0"]);
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const refused = await callWith(limited, "/auth/login", {
      body: { email: "x@example.com", password: PASSWORD },
      headers,
    });
    expect([refused.status, refused.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(derive).not.toHaveBeenCalled();
    const other = await callWith(limited, "/auth/me", { headers: from(newIp()) });
    expect(other.status).toBe(401);
  });

  it("admits exactly its limit of many at once", async () => {
    const headers = from(newIp());
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => callWith({ AUTH_LIMIT: "5" }, "/auth/me", { headers })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25);
  });
});
