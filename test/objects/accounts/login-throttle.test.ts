import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LoginThrottle, type LoginVerdict } from "../../../src/accounts/login-throttle.ts";
import { Limiter } from "../../../src/limits/limiter.ts";
import { emailStub, mailedToken } from "./mail-support.ts";
import { call, login, PASSWORD, registered } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const from = (ip: string, email: string, password = "a wrong password") =>
  call("/auth/login", { body: { email, password }, headers: { "CF-Connecting-IP": ip } });

describe("failed logins of one e-mail address", () => {
  it("10 from one prefix are free, then locks of 30 s double up to 15 min, for known and unknown addresses", async () => {
    await registered("gate-known@example.com");
    for (const email of ["gate-known@example.com", "gate-unknown@example.com"]) {
      const startedAt = Date.now();
      const clock = vi.spyOn(Date, "now").mockReturnValue(startedAt);
      for (let i = 0; i < 10; i++) {
        if (i === 5) await evictDurableObject(emailStub(email));
        expect([i, (await from(`192.0.2.${i}`, email)).status]).toEqual([i, 401]);
      }
      const derive = vi.spyOn(crypto.subtle, "deriveBits");
      let now = startedAt;
      for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
        const locked = await from("192.0.2.200", email, PASSWORD);
        expect([seconds, locked.status, locked.code]).toEqual([seconds, 429, "RATE_LIMITED"]);
        expect(locked.headers.get("Retry-After")).toBe(String(seconds));
        expect(locked.text).toContain('"message":"Too many requests"');
        expect(locked.details).toMatchObject([{ message: "Too many failed sign-ins with this e-mail address." }]);
        await evictDurableObject(emailStub(email));
        clock.mockReturnValue(now + seconds * 1000 - 1);
        expect((await from("192.0.2.3", email)).status).toBe(429);
        expect(derive).not.toHaveBeenCalled();
        now += seconds * 1000;
        clock.mockReturnValue(now);
        expect((await from("192.0.2.3", email)).status).toBe(401);
        expect(derive).toHaveBeenCalledTimes(1);
        derive.mockClear();
      }
      clock.mockRestore();
      derive.mockRestore();
    }
  });

  it("lock one prefix only, and not another address", async () => {
    const email = "gate-prefix@example.com";
    await registered(email);
    await registered("gate-prefix-2@example.com");
    for (let i = 0; i < 10; i++) await from("198.51.100.1", email);
    expect((await from("198.51.100.99", email, PASSWORD)).status).toBe(429);
    expect((await from("198.51.101.1", email, PASSWORD)).status).toBe(200);
    for (let i = 0; i < 10; i++) await from(`2001:db8:0:1::${i + 1}`, email);
    expect((await from("2001:db8:0:1:ffff::1", email, PASSWORD)).status).toBe(429);
    expect((await from("2001:db8:0:2::1", email, PASSWORD)).status).toBe(200);
    expect((await from("198.51.100.1", "gate-prefix-2@example.com", PASSWORD)).status).toBe(200);
  });

  it("are cleared by a successful login and by a password reset", async () => {
    const email = "gate-clear@example.com";
    await registered(email);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 9; i++) expect((await from("203.0.113.1", email)).status).toBe(401);
      expect((await from("203.0.113.1", email, PASSWORD)).status).toBe(200);
    }
    for (let i = 0; i < 10; i++) await from("203.0.113.1", email);
    expect((await from("203.0.113.1", email, PASSWORD)).status).toBe(429);
    await call("/auth/forgot-password", { body: { email } });
    const token = await mailedToken(email, "reset-password");
    expect((await call("/auth/reset-password", { body: { token, password: "another password" } })).status).toBe(200);
    expect((await from("203.0.113.1", email, "another password")).status).toBe(200);
  });

  it("expire after an hour", async () => {
    const email = "gate-forget@example.com";
    await registered(email);
    for (let i = 0; i < 10; i++) await from("203.0.113.1", email);
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_001);
    for (let i = 0; i < 9; i++) expect((await from("203.0.113.1", email)).status).toBe(401);
    expect((await from("203.0.113.1", email, PASSWORD)).status).toBe(200);
    clock.mockRestore();
  });

  it("are limited to 100 an hour from all prefixes, sliding", async () => {
    const email = "gate-anywhere@example.com";
    await registered(email);
    for (let i = 0; i < 100; i++) expect([i, (await from(`10.${i}.0.1`, email)).status]).toEqual([i, 401]);
    const refused = await from("172.16.0.1", email, PASSWORD);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(3500);
    await evictDurableObject(emailStub(email));
    expect((await from("172.16.1.1", email, PASSWORD)).status).toBe(429);
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
    expect((await from("172.16.0.1", email, PASSWORD)).status).toBe(200);
    clock.mockRestore();
  });

  it("in parallel get no more attempts than sequential ones; parallel logins with the right password all succeed", async () => {
    const email = "gate-parallel@example.com";
    await registered(email);
    const good = await Promise.all(Array.from({ length: 30 }, () => from("10.1.1.1", email, PASSWORD)));
    expect(good.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const bad = await Promise.all(Array.from({ length: 40 }, () => from("10.1.1.1", email)));
    expect(bad.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(bad.filter(({ status }) => status === 429)).toHaveLength(30);
  });
});

describe("LoginThrottle", () => {
  it("an attempt without an outcome delays others for at most 10 seconds", async () => {
    await login("gate-stuck@example.com");
    await runInDurableObject(emailStub("gate-stuck@example.com"), async (_, { storage }) => {
      storage.sql.exec("DELETE FROM login_failures");
      let now = Date.now();
      const gate = new LoginThrottle(storage.sql, new Limiter(storage.sql), () => now);
      const sleeps: number[] = [];
      const sleep = async (ms: number): Promise<void> => {
        sleeps.push(ms);
        now += ms;
      };
      const admitted: LoginVerdict = { admitted: true };
      for (let i = 0; i < 10; i++) expect(await gate.attempt({ prefix: "p", device: null }, sleep)).toEqual(admitted);
      expect(sleeps).toEqual([]);
      expect(await gate.attempt({ prefix: "p", device: null }, sleep)).toEqual(admitted);
      expect(sleeps).toEqual([10_000]);
    });
  });
});
