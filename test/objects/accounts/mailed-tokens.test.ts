import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { readAccount } from "../../../src/accounts/account.ts";
import { newId, randomBase62 } from "../../../src/ids.ts";
import { signedInShape } from "../../../src/routes/auth/sign-in.ts";
import {
  deliver,
  emailOwner,
  emailStub,
  mailedToken,
  mailsTo,
  pendingMailsOf,
  requestsAnswered,
  rowsOf,
} from "./mail-support.ts";
import { type Answer, bearer, call, callWith, dump, login, me, registered, requestOf, userStub } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const askMagic = (email: string) => call("/auth/magic-link", { body: { email } });
const askReset = (email: string) => call("/auth/forgot-password", { body: { email } });
const useMagic = (token: string) => call("/auth/magic-link/verify", { body: { token } });
const useVerify = (token: string) => call("/auth/verify-email", { body: { token } });
const useReset = (token: string, password = "a new password") =>
  call("/auth/reset-password", { body: { token, password } });

async function magicToken(email: string): Promise<string> {
  await askMagic(email);
  return mailedToken(email, "magic-link");
}

const magicShape = signedInShape.strict().extend({ isNewUser: z.boolean() });

function magic(answer: Answer) {
  expect([answer.status, answer.code]).toEqual([200, null]);
  return magicShape.parse(answer.data);
}

async function emailVerified(accessToken: string): Promise<unknown> {
  const { data } = await me(accessToken);
  return (data as { user: { emailVerified: boolean } }).user.emailVerified;
}

const later = (ms: number) => vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);

describe("magic link", () => {
  it("signs an unknown address up: verified, without a password, with a personal workspace", async () => {
    const answer = await askMagic(" New.Person@Example.com ");
    expect(answer.status).toBe(200);
    const link = await mailedToken("new.person@example.com", "magic-link");
    const used = await useMagic(link);
    expect(used.headers.get("Cache-Control")).toBe("no-store");
    const { isNewUser, user, accessToken, personalWorkspace } = magic(used);
    expect(isNewUser).toBe(true);
    expect(user).toEqual({ id: expect.stringMatching(/^usr_/), email: "new.person@example.com" });
    expect(personalWorkspace.slug).toBe("new-person");
    expect(await emailVerified(accessToken)).toBe(true);
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      expect(readAccount(storage.sql)).toMatchObject({ passwordHash: null, emailVerified: true, confirmed: true });
    });
    expect(await pendingMailsOf(user.id)).toEqual([]);
    expect((await login("new.person@example.com")).code).toBe("INVALID_CREDENTIALS");
    const again = magic(await useMagic(await forcedMagicToken("new.person@example.com")));
    expect([again.isNewUser, again.user.id]).toEqual([false, user.id]);
  });

  it("returns the same for known, unknown and throttled addresses, with one call and no lookup before it", async () => {
    await registered("magic-known@example.com");
    const texts = new Set<string>();
    // A router without any storage to look addresses up in.
    const blind = { DB: null, USERS: null, WORKSPACES: null };
    for (const email of ["magic-known@example.com", "magic-unknown@example.com", "magic-known@example.com"]) {
      for (const path of ["/auth/magic-link", "/auth/forgot-password"]) {
        const answer = await callWith(blind, path, { body: { email } });
        expect(answer.status).toBe(200);
        texts.add(answer.text.replace(/"meta":.*/, ""));
      }
    }
    expect(texts.size).toBe(2);
    await requestsAnswered("magic-known@example.com");
  });

  it("works once, also of 25 parallel uses, for known and unknown addresses, after eviction", async () => {
    const { user } = await registered("magic-25@example.com");
    await verifyByMail("magic-25@example.com");
    for (const email of ["magic-25@example.com", "magic-25-new@example.com"]) {
      const token = await magicToken(email);
      await evictDurableObject(userStub(user.id));
      const answers = await Promise.all(Array.from({ length: 25 }, () => useMagic(token)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ code }) => code === "INVALID_TOKEN")).toHaveLength(24);
    }
    const rows = await env.DB.prepare("SELECT 1 FROM users WHERE email = 'magic-25-new@example.com'").all();
    expect(rows.results).toHaveLength(1);
  });

  it("signs in to an account that was registered for the address since, and purges it", async () => {
    const email = "magic-overtaken@example.com";
    const token = await magicToken(email);
    const attacker = await registered(email);
    const victim = magic(await useMagic(token));
    expect([victim.isNewUser, victim.user.id]).toEqual([false, attacker.user.id]);
    expect((await me(attacker.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await login(email)).code).toBe("INVALID_CREDENTIALS");
    expect(await emailVerified(victim.accessToken)).toBe(true);
  });

  it("expires after 10 minutes and is replaced by a newer one", async () => {
    const email = "magic-old@example.com";
    const first = await magicToken(email);
    const clock = later(61_000);
    const second = await magicToken(email);
    clock.mockRestore();
    expect(second).not.toBe(first);
    expect((await useMagic(first)).code).toBe("INVALID_TOKEN");
    const late = later(61_000 + 600_001);
    const expired = await useMagic(second);
    expect([expired.status, expired.code]).toEqual([400, "TOKEN_EXPIRED"]);
    late.mockRestore();
    await registered(email);
    const known = await forcedMagicToken(email, 122_000);
    expect((await useMagic(second)).code).toBe("INVALID_TOKEN");
    const expiry = later(122_000 + 600_001);
    expect((await useMagic(known)).code).toBe("TOKEN_EXPIRED");
    expiry.mockRestore();
    expect((await useMagic(known)).status).toBe(200);
  });
});

describe("verify-email", () => {
  it("is mailed by a registration, and verifies by GET and by POST, once", async () => {
    for (const method of ["GET", "POST"] as const) {
      const email = `verify-${method.toLowerCase()}@example.com`;
      const { accessToken, user } = await registered(email);
      expect(await emailVerified(accessToken)).toBe(false);
      const token = await mailedToken(email, "verify-email");
      await evictDurableObject(userStub(user.id));
      const path = method === "GET" ? `/auth/verify-email?token=${token}&utm_source=mail` : "/auth/verify-email";
      const answer = await call(path, { method, ...(method === "POST" ? { body: { token } } : {}) });
      expect([answer.status, answer.data]).toEqual([200, { verified: true }]);
      expect(await emailVerified(accessToken)).toBe(true);
      expect((await login(email)).status).toBe(200);
      expect((await useVerify(token)).code).toBe("INVALID_TOKEN");
    }
  });

  it("succeeds for one of 25 parallel uses", async () => {
    await registered("verify-25@example.com");
    const token = await mailedToken("verify-25@example.com", "verify-email");
    const answers = await Promise.all(Array.from({ length: 25 }, () => useVerify(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(24).fill(400)]);
  });

  it("expires after 24 hours and is replaced by a requested one", async () => {
    const email = "verify-again@example.com";
    const { accessToken } = await registered(email);
    const first = await mailedToken(email, "verify-email");
    const clock = later(86_400_001);
    expect((await useVerify(first)).code).toBe("TOKEN_EXPIRED");
    clock.mockRestore();
    const resend = await call("/auth/verify-email/resend", { method: "POST", headers: bearer(accessToken) });
    expect([resend.status, resend.data]).toEqual([200, { message: expect.any(String) }]);
    const second = await mailedToken(email, "verify-email");
    expect(second).not.toBe(first);
    expect((await useVerify(first)).code).toBe("INVALID_TOKEN");
    expect((await useVerify(second)).status).toBe(200);
    const clock2 = later(61_000);
    await call("/auth/verify-email/resend", { method: "POST", headers: bearer(accessToken) });
    await requestsAnswered(email);
    clock2.mockRestore();
    expect(await mailsTo(email, "verify-email")).toHaveLength(2);
  });

  it("a token is valid for its purpose only", async () => {
    const email = "purpose@example.com";
    await registered(email);
    const verify = await mailedToken(email, "verify-email");
    await askReset(email);
    const reset = await mailedToken(email, "reset-password");
    const link = await magicToken(email);
    for (const token of [reset, link]) expect((await useVerify(token)).code).toBe("INVALID_TOKEN");
    for (const token of [verify, link]) expect((await useReset(token)).code).toBe("INVALID_TOKEN");
    for (const token of [verify, reset]) expect((await useMagic(token)).code).toBe("INVALID_TOKEN");
    expect((await useVerify(verify)).status).toBe(200);
    const unknown = await magicToken("purpose-unknown@example.com");
    expect((await useVerify(unknown)).code).toBe("INVALID_TOKEN");
    expect((await useReset(unknown)).code).toBe("INVALID_TOKEN");
    expect((await useMagic(unknown)).status).toBe(200);
  });

  it("a malformed token is 400 on every route, and writes nothing to an object it names", async () => {
    const userId = newId("usr");
    const forged = `vt_${userId.slice(4)}${randomBase62(43)}`;
    for (const token of ["", "x", "vt_", forged, `vt_${randomBase62(43)}`, `vt_${"é".repeat(43)}`, "v".repeat(9000)]) {
      for (const use of [
        useMagic,
        useVerify,
        useReset,
        (t: string) => call("/auth/verify-email/reject", { body: { token: t } }),
      ]) {
        const answer = await use(token);
        expect([token, answer.status, answer.code]).toEqual([token, 400, "INVALID_TOKEN"]);
      }
      const query = encodeURIComponent(token);
      expect((await call(`/auth/verify-email?token=${query}`)).code).toBe("INVALID_TOKEN");
      expect((await call(`/auth/magic-link/verify?token=${query}`)).code).toBe("INVALID_TOKEN");
    }
    expect((await call("/auth/verify-email")).code).toBe("VALIDATION_ERROR");
    await runInDurableObject(userStub(userId), async (_, { storage }) => {
      expect(dump(storage.sql)).toEqual({});
      expect(await storage.getAlarm()).toBeNull();
    });
  });
});

describe("links that are fetched without a click", () => {
  const HTML = "text/html,application/xhtml+xml,*/*;q=0.8";

  async function fetched(path: string, method: string, accept?: string): Promise<Response> {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    return exports.default.fetch(requestOf(path, { method, headers }));
  }

  it("return a page with a strict policy to a browser; neither GET nor HEAD uses the token up", async () => {
    const email = "scanner@example.com";
    await registered(email);
    const verify = await mailedToken(email, "verify-email");
    const link = await magicToken("scanner-magic@example.com");
    for (const path of [`/auth/verify-email?token=${verify}`, `/auth/magic-link/verify?token=${link}`]) {
      for (const accept of [HTML, "TEXT/HTML", "application/json, text/html;q=0.1"]) {
        const page = await fetched(path, "GET", accept);
        expect(page.status).toBe(200);
        expect(page.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
        const policy = page.headers.get("Content-Security-Policy") ?? "";
        expect(policy).toContain("default-src 'none'");
        expect(policy).not.toMatch(/unsafe|https?:|\*/);
        expect(page.headers.get("Cache-Control")).toBe("no-store");
        expect(page.headers.get("Referrer-Policy")).toBe("no-referrer");
        expect(page.headers.get("X-RateLimit-Limit")).not.toBeNull();
        const html = await page.text();
        expect(html).not.toContain("vt_");
        expect(html).not.toMatch(/https?:\/\//);
      }
      for (const accept of [undefined, HTML, "application/json", "*/*"]) {
        const head = await fetched(path, "HEAD", accept);
        expect([head.status, await head.text()]).toEqual([200, ""]);
      }
    }
    expect((await fetched(`/auth/verify-email?token=${verify}`, "GET", "*/*")).status).toBe(200);
    expect((await fetched(`/auth/verify-email?token=${verify}`, "GET")).status).toBe(400);
    expect((await fetched(`/auth/magic-link/verify?token=${link}`, "GET", "application/json")).status).toBe(200);
  });

  it("lead to pages that load their files; other files at that path do not exist", async () => {
    for (const path of ["/auth/verify-email?token=vt_x", "/auth/magic-link/verify?token=vt_x"]) {
      const html = await (await fetched(path, "GET", HTML)).text();
      expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
      const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file = ""]) => file);
      expect(files).toEqual(["/pages/account.css", "/pages/account.js"]);
      for (const file of files) expect([file, (await fetched(file, "GET")).status]).toEqual([file, 200]);
    }
    for (const path of ["/pages/nothing.js", "/pages/../wrangler.toml"]) {
      expect([path, (await fetched(path, "GET", HTML)).status]).toEqual([path, 404]);
    }
  });

  it("the frontend's pages for mailed links and provider sign-ins count nothing", async () => {
    for (const path of [
      "/auth/verify",
      "/auth/magic",
      "/auth/reset",
      "/auth/callback",
      "/auth/invitation",
      "/auth/address",
    ]) {
      const page = await fetched(path, "GET", HTML);
      expect([path, page.status, page.headers.get("X-RateLimit-Limit")]).toEqual([path, 200, null]);
      expect((await fetched(path, "POST")).status).toBe(404);
    }
    for (const path of ["/auth/nothing", "/auth/__proto__"]) {
      expect([path, (await fetched(path, "GET", HTML)).status]).toEqual([path, 404]);
    }
  });
});

describe("mails that an unauthenticated client can request", () => {
  it("are limited to one a minute and five an hour per address and kind, silently; a registration's is not", async () => {
    const email = "flood@example.com";
    const startedAt = Date.now();
    const clock = vi.spyOn(Date, "now");
    let sent = 0;
    for (const [minute, expected] of [
      [0, 1],
      [0.5, 1],
      [1.01, 2],
      [2.02, 3],
      [3.03, 4],
      [4.04, 5],
      [5.05, 5],
      [59, 5],
      [60.1, 6],
    ] as const) {
      clock.mockReturnValue(startedAt + minute * 60_000);
      expect((await askMagic(email)).status).toBe(200);
      await requestsAnswered(email);
      await deliver(emailOwner(email));
      sent = (await mailsTo(email, "magic-link")).length;
      expect([minute, sent]).toEqual([minute, expected]);
    }
    clock.mockRestore();
    await registered(email);
    await askReset(email);
    await mailedToken(email, "verify-email");
    await mailedToken(email, "reset-password");
  });

  it("30 at once send one, with evictions in between", async () => {
    const email = "flood-at-once@example.com";
    await Promise.all(Array.from({ length: 15 }, () => askMagic(email)));
    await evictDurableObject(emailStub(email));
    await Promise.all(Array.from({ length: 15 }, () => askMagic(email)));
    await requestsAnswered(email);
    await deliver(emailOwner(email));
    expect(await mailsTo(email)).toHaveLength(1);
  });

  it("no mail is sent about an account that does not exist", async () => {
    const email = "nobody@example.com";
    await askReset(email);
    await requestsAnswered(email);
    expect(await rowsOf(emailOwner(email), "SELECT * FROM promised_mails")).toEqual([]);
    expect(await env.DB.prepare("SELECT 1 FROM address_tokens WHERE address = ?").bind(email).first()).toBeNull();
  });

  it("an address object deletes itself once nothing counts", async () => {
    const email = "tidy@example.com";
    await askMagic(email);
    await login(email);
    await mailedToken(email, "magic-link");
    const clock = later(2 * 3_600_000 + 120_000);
    expect(await runDurableObjectAlarm(emailStub(email))).toBe(true);
    clock.mockRestore();
    await runInDurableObject(emailStub(email), async (_, { storage }) => {
      expect(dump(storage.sql)).toEqual({});
      expect(await storage.getAlarm()).toBeNull();
    });
    expect((await askMagic(email)).status).toBe(200);
    await requestsAnswered(email);
  });
});

/** Requests a magic link for an address that may have requested one within the minute. */
async function forcedMagicToken(email: string, aheadMs = 61_000): Promise<string> {
  const clock = later(aheadMs);
  const token = await magicToken(email);
  clock.mockRestore();
  return token;
}

async function verifyByMail(email: string): Promise<void> {
  expect((await useVerify(await mailedToken(email, "verify-email"))).status).toBe(200);
}

describe("storage", () => {
  it("contains no token: neither the user object, nor D1, nor the address object", async () => {
    const email = "stored@example.com";
    const { user } = await registered(email);
    await askReset(email);
    await requestsAnswered(email);
    await askMagic("stored-unknown@example.com");
    await requestsAnswered("stored-unknown@example.com");
    const cells: unknown[] = [];
    for (const stub of [userStub(user.id), emailStub(email), emailStub("stored-unknown@example.com")]) {
      await runInDurableObject(stub, (_, { storage }) => {
        cells.push(...Object.values(dump(storage.sql)).flat(2));
      });
    }
    cells.push(...(await env.DB.prepare("SELECT * FROM address_tokens").raw()).flat());
    const tokens = [await mailedToken(email, "verify-email"), await mailedToken(email, "reset-password")];
    tokens.push(await mailedToken("stored-unknown@example.com", "magic-link"));
    for (const cell of cells) {
      const bytes = cell instanceof ArrayBuffer ? Buffer.from(cell) : Buffer.from(String(cell));
      for (const encoding of ["utf8", "hex", "base64url"] as const) {
        for (const token of tokens) expect(bytes.toString(encoding)).not.toContain(token.slice(-43));
      }
    }
  });
});
