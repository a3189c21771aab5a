import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type Page, register, type SignedIn } from "../../support/api.ts";
import { mailsTo, nextMail, tokenIn } from "../../support/outbox.ts";
import { startServer, type TestServer } from "../../support/server.ts";

/** The alarm enqueues a lost message again after 30 seconds, and a claimed mail 30 seconds after the claim. */
const RECOVERED_WITHIN_MS = 75_000;

describe("mails of a server as npm start runs it", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test("a new user follows every mail: magic link, password, verification, sessions, logout", async () => {
    const { url } = server;
    const email = "newcomer@mail.example";
    expect((await call(url, "/auth/magic-link", { body: { email } })).status).toBe(200);
    const mail = await nextMail(url, email, "magic-link");
    expect(mail.links[0]).toMatch(new RegExp(`^${url}/auth/magic#token=vt_`));
    expect((await fetch(mail.links[0] ?? "")).headers.get("Content-Type")).toContain("text/html");
    const signedIn = await call<SignedIn>(url, "/auth/magic-link/verify", { body: { token: tokenIn(mail) } });
    expect(signedIn.body.data).toMatchObject({ isNewUser: true, user: { email } });
    const token = signedIn.body.data.accessToken;
    const put = { method: "PUT", token, body: { newPassword: "my first password" } };
    expect((await call(url, "/auth/password", put)).status).toBe(200);
    const login = await call<SignedIn>(url, "/auth/login", { body: { email, password: "my first password" } });
    expect(login.status).toBe(200);
    const sessions = async () => (await call<Page<object>>(url, "/auth/sessions", { token })).body.data.items;
    expect(await sessions()).toHaveLength(2);
    const { refreshToken } = login.body.data;
    expect((await call(url, "/auth/logout", { body: { refreshToken } })).body.data).toEqual({ revoked: true });
    expect(await sessions()).toHaveLength(1);
  });

  test("a reset's mail arrives, and its token works once", async () => {
    const { url } = server;
    const { email, accessToken } = await register(url);
    await call(url, "/auth/forgot-password", { body: { email } });
    const token = tokenIn(await nextMail(url, email, "reset-password"));
    const body = { token, password: "a new password" };
    const answers = await Promise.all(Array.from({ length: 25 }, () => call(url, "/auth/reset-password", { body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(24).fill(400)]);
    expect((await call(url, "/auth/me", { token: accessToken })).body.error.code).toBe("SESSION_REVOKED");
    expect((await call(url, "/auth/login", { body: { email, password: "a new password" } })).status).toBe(200);
  });

  test("kill -9 right after the responses loses no mail and sends none twice", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => register(server.url)));
    const strangers = Array.from({ length: 5 }, (_, i) => `stranger-${i}@mail.example`);
    const asked = await Promise.all([
      ...strangers.map((email) => call(server.url, "/auth/magic-link", { body: { email } })),
      ...accounts.map(({ email }) => call(server.url, "/auth/forgot-password", { body: { email } })),
    ]);
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
    await server.kill9();
    await server.restart();
    const withinMs = RECOVERED_WITHIN_MS;
    for (const { email } of accounts) {
      const verify = await nextMail(server.url, email, "verify-email", { withinMs });
      const reset = await nextMail(server.url, email, "reset-password", { withinMs });
      const answer = await call(server.url, "/auth/verify-email", { body: { token: tokenIn(verify) } });
      expect(answer.body.data).toEqual({ verified: true });
      const body = { token: tokenIn(reset), password: "a new password" };
      expect((await call(server.url, "/auth/reset-password", { body })).body.data).toEqual({ reset: true });
    }
    for (const email of strangers) {
      const token = tokenIn(await nextMail(server.url, email, "magic-link", { withinMs }));
      const answer = await call(server.url, "/auth/magic-link/verify", { body: { token } });
      expect(answer.body.data).toMatchObject({ isNewUser: true, user: { email } });
    }
    await sleep(2000);
    for (const email of strangers) expect(await mailsTo(server.url, email)).toHaveLength(1);
    for (const { email } of accounts) {
      const kinds = (await mailsTo(server.url, email)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind !== "notice").sort()).toEqual(["reset-password", "verify-email"]);
    }
  }, 150_000);
});
