import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readAccount } from "../../../src/accounts/account.ts";
import { openOneTimeToken } from "../../../src/accounts/one-time-token.ts";
import { hashPassword, verifyPassword } from "../../../src/accounts/password.ts";
import { newId } from "../../../src/ids.ts";
import { mailedToken } from "./mail-support.ts";
import {
  type Answer,
  call,
  callWith,
  login,
  me,
  PASSWORD,
  registered,
  type SignedIn,
  signedIn,
  userStub,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const NEW = "the new password";

async function resetToken(email: string): Promise<string> {
  await call("/auth/forgot-password", { body: { email } });
  return mailedToken(email, "reset-password");
}

const reset = (token: string, password = NEW) => call("/auth/reset-password", { body: { token, password } });

async function verified(email: string): Promise<SignedIn> {
  const account = await registered(email);
  const token = await mailedToken(email, "verify-email");
  expect((await call("/auth/verify-email", { body: { token } })).status).toBe(200);
  return account;
}

/** Holds the next password derivation until it is released, for a request sent with `callWith`. */
function heldDerivation(): { reached: Promise<void>; release: () => void } {
  const derive = crypto.subtle.deriveBits.bind(crypto.subtle);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  vi.spyOn(crypto.subtle, "deriveBits").mockImplementationOnce(async (...parts) => {
    reach();
    await released;
    return derive(...parts);
  });
  return { reached, release };
}

describe("POST /auth/reset-password", () => {
  it("sets the password, ends every session, and uses each token once", async () => {
    const email = "reset@example.com";
    const first = await verified(email);
    const second = signedIn(await login(email));
    const token = await resetToken(email);
    await evictDurableObject(userStub(first.user.id));
    const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => reset(token, `${NEW} ${i}`)));
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers[winner]?.data).toEqual({ reset: true });
    expect(answers.filter(({ code }) => code === "INVALID_TOKEN")).toHaveLength(24);
    for (const { accessToken, refreshToken } of [first, second]) {
      expect((await me(accessToken)).code).toBe("SESSION_REVOKED");
      expect((await call("/auth/refresh", { body: { refreshToken } })).code).toBe("INVALID_REFRESH_TOKEN");
    }
    expect((await login(email)).code).toBe("INVALID_CREDENTIALS");
    expect((await login(email, `${NEW} ${winner}`)).status).toBe(200);
  });

  it("refuses a token an hour after its request, and not before", async () => {
    await verified("reset-late@example.com");
    const token = await resetToken("reset-late@example.com");
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(now + 3_600_000);
    expect((await reset(token)).code).toBe("TOKEN_EXPIRED");
    clock.mockReturnValue(now + 3_500_000);
    expect((await reset(token)).status).toBe(200);
    clock.mockRestore();
  });

  it("refuses a bad password without using the token up", async () => {
    await verified("reset-bad@example.com");
    const token = await resetToken("reset-bad@example.com");
    for (const password of ["short", "x".repeat(257), 5, null]) {
      const answer = await call("/auth/reset-password", { body: { token, password } });
      expect(answer.code).toBe("VALIDATION_ERROR");
    }
    expect((await reset(token)).status).toBe(200);
  });
});

describe("R10: a login racing a reset", () => {
  it("that verified the old password before the reset opens no session after it", async () => {
    const email = "r10-before@example.com";
    const { user } = await verified(email);
    const token = await resetToken(email);
    // The login has read the old hash and is deriving. The reset runs completely, then the login continues.
    const held = heldDerivation();
    const racing = callWith({}, "/auth/login", { body: { email, password: PASSWORD } });
    await held.reached;
    expect((await reset(token)).status).toBe(200);
    held.release();
    const late = await racing;
    expect([late.status, late.code]).toEqual([401, "INVALID_CREDENTIALS"]);
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      const living = storage.sql.exec("SELECT 1 FROM families WHERE revoked_at IS NULL").toArray();
      expect(living).toEqual([]);
    });
    expect((await login(email, NEW)).status).toBe(200);
  });

  it("that opened its session just before the reset loses it", async () => {
    const email = "r10-opened@example.com";
    await verified(email);
    const token = await resetToken(email);
    // The reset is deriving the new hash and has not used its token: a login with the old password still succeeds.
    const held = heldDerivation();
    const racing = callWith({}, "/auth/reset-password", { body: { token, password: NEW } });
    await held.reached;
    const during = signedIn(await login(email));
    expect((await me(during.accessToken)).status).toBe(200);
    held.release();
    expect((await racing).status).toBe(200);
    expect((await me(during.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await call("/auth/refresh", { body: { refreshToken: during.refreshToken } })).status).toBe(401);
  });

  it("at every point between its steps: epoch, families and hash change in one turn", async () => {
    const email = "r10-steps@example.com";
    const { user } = await verified(email);
    const stub = userStub(user.id);
    const token = openOneTimeToken(await resetToken(email));
    if (!token) throw new Error("the token must open");
    const before = await stub.credentials();
    const family = () => ({ id: newId("fam"), method: "password", userAgent: null, ip: "::" }) as const;
    const passwordHash = await hashPassword(NEW);
    const calls = await Promise.all([
      stub.createSession({ ...family(), epoch: before?.epoch ?? -1 }),
      stub.credentials(),
      stub.resetPassword(token.hash, passwordHash),
      stub.credentials(),
      stub.createSession({ ...family(), epoch: before?.epoch ?? -1 }),
    ]);
    expect(calls[0]).toMatchObject({ ok: true });
    expect(calls[1]).toEqual(before);
    expect(calls[2]).toMatchObject({ ok: true, email });
    // A reader that sees the new hash also sees the new epoch, and the reverse.
    expect(calls[3]).toEqual({ passwordHash, epoch: (before?.epoch ?? 0) + 1 });
    expect(calls[4]).toEqual({ ok: false, reason: "stale" });
    await evictDurableObject(stub);
    await runInDurableObject(stub, async (_, { storage }) => {
      expect(storage.sql.exec("SELECT 1 FROM families WHERE revoked_at IS NULL").toArray()).toEqual([]);
      expect(await verifyPassword(NEW, readAccount(storage.sql)?.passwordHash ?? null)).toBe(true);
    });
  });

  it("leaves no session of 40 logins with the old password around it", async () => {
    const email = "r10-forty@example.com";
    const { user } = await verified(email);
    const token = await resetToken(email);
    const early = Array.from({ length: 20 }, () => login(email));
    const racing = reset(token);
    const late = Array.from({ length: 20 }, () => login(email));
    const answers: Answer[] = await Promise.all([...early, ...late]);
    expect((await racing).status).toBe(200);
    for (const answer of answers) {
      if (answer.status === 200) expect((await me(signedIn(answer).accessToken)).code).toBe("SESSION_REVOKED");
      else expect([401, 429]).toContain(answer.status);
    }
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      expect(storage.sql.exec("SELECT 1 FROM families WHERE revoked_at IS NULL").toArray()).toEqual([]);
    });
  });
});
