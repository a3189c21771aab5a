import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readAccount } from "../../../src/accounts/account.ts";
import { hashPassword } from "../../../src/accounts/password.ts";
import { newId } from "../../../src/ids.ts";
import { newNetwork } from "../client-ips.ts";
import { deliver, mailedToken, mailsTo } from "./mail-support.ts";
import {
  type Answer,
  bearer,
  call,
  callWith,
  claimsOf,
  login,
  me,
  PASSWORD,
  registered,
  signedIn,
  userStub,
} from "./support.ts";

const sessionList = z.object({
  items: z.array(
    z.strictObject({
      id: z.string(),
      method: z.string(),
      userAgent: z.string().nullable(),
      ip: z.string(),
      createdAt: z.iso.datetime(),
      lastUsedAt: z.iso.datetime(),
      expiresAt: z.iso.datetime(),
      current: z.boolean(),
    }),
  ),
  nextCursor: z.null(),
});

async function sessionsOf(accessToken: string) {
  const answer = await call("/auth/sessions", { headers: bearer(accessToken) });
  expect(answer.status).toBe(200);
  return sessionList.parse(answer.data).items;
}

function endSession(accessToken: string, id: string): Promise<Answer> {
  return call(`/auth/sessions/${id}`, { method: "DELETE", headers: bearer(accessToken) });
}

function changePassword(accessToken: string, body: unknown): Promise<Answer> {
  return call("/auth/password", { method: "PUT", body, headers: bearer(accessToken) });
}

describe("/auth/sessions", () => {
  it("lists the valid sessions, the one used last first, and marks the current one", async () => {
    const first = await registered("list@example.com");
    const network = newNetwork();
    const headers = { "User-Agent": `agent/${"9".repeat(300)}`, "CF-Connecting-IP": `${network}:3:4:5:6` };
    const second = signedIn(
      await call("/auth/login", { body: { email: "list@example.com", password: PASSWORD }, headers }),
    );
    await scheduler.wait(5);
    await call("/auth/refresh", { body: { refreshToken: first.refreshToken }, headers: { "User-Agent": "later" } });
    const items = await sessionsOf(second.accessToken);
    expect(items.map(({ id }) => id)).toEqual([
      (await claimsOf(first.accessToken)).sessionId,
      (await claimsOf(second.accessToken)).sessionId,
    ]);
    expect(items.map(({ current }) => current)).toEqual([false, true]);
    expect(items[0]).toMatchObject({ method: "password", userAgent: "later", ip: "0.0.0.0" });
    expect(items[1]).toMatchObject({ ip: `${network}::/64`, userAgent: `agent/${"9".repeat(250)}` });
    expect(Date.parse(items[1]?.expiresAt ?? "") - Date.parse(items[1]?.lastUsedAt ?? "")).toBe(30 * 86_400_000);
  });

  it("ends one session immediately, also the current one; an unknown, foreign or ended one is 404", async () => {
    const mine = await registered("end-one@example.com");
    const other = signedIn(await login("end-one@example.com"));
    const stranger = await registered("end-stranger@example.com");
    const { sessionId: otherId } = await claimsOf(other.accessToken);
    const { sessionId: strangerId } = await claimsOf(stranger.accessToken);
    await evictDurableObject(userStub(mine.user.id));
    const ended = await endSession(mine.accessToken, otherId);
    expect([ended.status, ended.data]).toEqual([200, { revoked: true }]);
    expect((await me(other.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await call("/auth/refresh", { body: { refreshToken: other.refreshToken } })).status).toBe(401);
    for (const id of [otherId, strangerId, newId("fam"), "nonsense", "fam_x", "%00"]) {
      expect([id, (await endSession(mine.accessToken, id)).status]).toEqual([id, 404]);
    }
    expect((await me(stranger.accessToken)).status).toBe(200);
    const { sessionId } = await claimsOf(mine.accessToken);
    expect((await endSession(mine.accessToken, sessionId)).status).toBe(200);
    expect((await me(mine.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await endSession(mine.accessToken, sessionId)).code).toBe("SESSION_REVOKED");
  });

  it("ends all other sessions and keeps the current one", async () => {
    const mine = await registered("end-all@example.com");
    const others = await Promise.all([1, 2, 3].map(async () => signedIn(await login("end-all@example.com"))));
    const answer = await call("/auth/sessions", { method: "DELETE", headers: bearer(mine.accessToken) });
    expect([answer.status, answer.data]).toEqual([200, { revoked: 3 }]);
    for (const other of others) expect((await me(other.accessToken)).code).toBe("SESSION_REVOKED");
    expect(await sessionsOf(mine.accessToken)).toHaveLength(1);
    expect((await call("/auth/refresh", { body: { refreshToken: mine.refreshToken } })).status).toBe(200);
  });

  it("accepts an access token only", async () => {
    const { refreshToken } = await registered("session-auth@example.com");
    for (const [method, path] of [
      ["GET", "/auth/sessions"],
      ["DELETE", "/auth/sessions"],
      ["DELETE", `/auth/sessions/${newId("fam")}`],
      ["PUT", "/auth/password"],
      ["POST", "/auth/verify-email/resend"],
    ] as const) {
      expect((await call(path, { method })).code).toBe("UNAUTHORIZED");
      expect((await call(path, { method, headers: bearer(refreshToken) })).code).toBe("INVALID_ACCESS_TOKEN");
    }
  });
});

describe("PUT /auth/password", () => {
  it("changes the password, ends all other sessions and mailed links, and notifies the owner", async () => {
    const email = "change@example.com";
    const mine = await registered(email);
    const other = signedIn(await login(email));
    const verify = await mailedToken(email, "verify-email");
    expect((await call("/auth/verify-email", { body: { token: verify } })).status).toBe(200);
    await call("/auth/magic-link", { body: { email } });
    const link = await mailedToken(email, "magic-link");
    await call("/auth/forgot-password", { body: { email } });
    const reset = await mailedToken(email, "reset-password");
    const changed = await changePassword(mine.accessToken, {
      currentPassword: PASSWORD,
      newPassword: "a new password",
    });
    expect([changed.status, changed.data]).toEqual([200, { changed: true }]);
    await evictDurableObject(userStub(mine.user.id));
    expect((await me(mine.accessToken)).status).toBe(200);
    expect((await me(other.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await login(email)).code).toBe("INVALID_CREDENTIALS");
    expect((await login(email, "a new password")).status).toBe(200);
    expect((await call("/auth/magic-link/verify", { body: { token: link } })).code).toBe("INVALID_TOKEN");
    const late = await call("/auth/reset-password", { body: { token: reset, password: "attacker's own" } });
    expect(late.code).toBe("INVALID_TOKEN");
    expect((await call("/auth/refresh", { body: { refreshToken: mine.refreshToken } })).status).toBe(200);
    await deliver(mine.user.id);
    expect((await mailsTo(email, "notice")).map(({ subject }) => subject)).toEqual(["Your password was changed"]);
  });

  it("requires the current password if there is one, and throttles guesses at it", async () => {
    const { accessToken } = await registered("change-guess@example.com");
    const missing = await changePassword(accessToken, { newPassword: "a new password" });
    expect([missing.code, missing.details]).toEqual([
      "VALIDATION_ERROR",
      [expect.objectContaining({ path: "currentPassword" })],
    ]);
    expect((await changePassword(accessToken, { currentPassword: PASSWORD, newPassword: "short" })).code).toBe(
      "VALIDATION_ERROR",
    );
    for (let i = 0; i < 10; i++) {
      const wrong = await changePassword(accessToken, {
        currentPassword: `${PASSWORD}${i}`,
        newPassword: "a new password",
      });
      expect([wrong.status, wrong.code]).toEqual([401, "INVALID_CREDENTIALS"]);
    }
    const locked = await changePassword(accessToken, { currentPassword: PASSWORD, newPassword: "a new password" });
    expect([locked.status, locked.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(locked.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  it("sets the first password without a current one", async () => {
    const { user, accessToken } = await registered("change-first@example.com");
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      storage.sql.exec("UPDATE account SET password_hash = NULL");
    });
    expect((await changePassword(accessToken, { newPassword: "the first one" })).status).toBe(200);
    expect((await login("change-first@example.com", "the first one")).status).toBe(200);
  });

  it("R10: a login that verified the old password before the change gets no session after it", async () => {
    const { user, accessToken } = await registered("change-race@example.com");
    const stub = userStub(user.id);
    const before = await stub.credentials();
    const { sessionId } = await claimsOf(accessToken);
    const epoch = before?.epoch ?? -1;
    const change = { sessionId, epoch, checkedEpoch: epoch, passwordHash: await hashPassword("a new password") };
    expect(await stub.setPassword(change)).toBe("changed");
    const family = { id: newId("fam"), method: "password", userAgent: null, ip: "::", epoch: change.epoch } as const;
    expect(await stub.createSession(family)).toEqual({ ok: false, reason: "stale" });
    // A second change that was verified against the old password is too late as well.
    expect(await stub.setPassword({ ...change, passwordHash: "pbkdf2:another" })).toBe("dead");
    await runInDurableObject(stub, (_, { storage }) => {
      expect(readAccount(storage.sql)?.passwordHash).toBe(change.passwordHash);
    });
  });
});

describe("PASSWORD_BLOCKLIST", () => {
  const on = { PASSWORD_BLOCKLIST: "on" };

  it("on refuses the commonest passwords on every route, before a token is used up; off accepts them", async () => {
    const common = ["password1", "PassWord1", "1234567890", "iloveyou"];
    for (const password of common) {
      const answer = await callWith(on, "/auth/register", { body: { email: "weak@example.com", password } });
      expect([password, answer.status, answer.code]).toEqual([password, 400, "WEAK_PASSWORD"]);
      expect(answer.text).not.toContain(password);
    }
    const { accessToken } = signedIn(
      await callWith(on, "/auth/register", { body: { email: "weak@example.com", password: PASSWORD } }),
    );
    const body = { currentPassword: PASSWORD, newPassword: "password1" };
    const put = { method: "PUT", body, headers: bearer(accessToken) };
    expect((await callWith(on, "/auth/password", put)).code).toBe("WEAK_PASSWORD");
    await call("/auth/forgot-password", { body: { email: "weak@example.com" } });
    const token = await mailedToken("weak@example.com", "reset-password");
    const weak = await callWith(on, "/auth/reset-password", { body: { token, password: "password1" } });
    expect(weak.code).toBe("WEAK_PASSWORD");
    const short = await callWith(on, "/auth/reset-password", { body: { token, password: "123456" } });
    expect(short.code).toBe("VALIDATION_ERROR");
    expect((await call("/auth/reset-password", { body: { token, password: "password1" } })).status).toBe(200);
  });
});
