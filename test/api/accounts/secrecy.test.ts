import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type CallOptions, call, type SignedIn } from "../../support/api.ts";
import { nextMail, tokenIn } from "../../support/outbox.ts";
import { startServer } from "../../support/server.ts";

test("the server's output contains no token, password, address or key of any account flow", async () => {
  const server = await startServer({ env: { LOG_LEVEL: "info" } });
  const secrets = new Set<string>();
  const secret = <T extends string>(text: T): T => {
    secrets.add(text);
    return text;
  };
  /** Sends a request that may fail, and records the tokens of its response as secrets. */
  const done = async (path: string, options: CallOptions = {}): Promise<Partial<SignedIn>> => {
    const { body } = await call<Partial<SignedIn> | null>(server.url, path, options);
    // A page has no envelope, and HEAD no body.
    const data = body?.data ?? {};
    for (const token of [data.accessToken, data.refreshToken]) if (token !== undefined) secret(token);
    return data;
  };
  const mailed = async (to: string, kind: string, count = 1): Promise<string> =>
    secret(tokenIn(await nextMail(server.url, to, kind, { count })));
  const email = secret(`quiet-${randomUUID()}@example.com`);
  const newcomer = secret(`newcomer-${randomUUID()}@example.com`);
  const password = secret(`pass-${randomUUID()}`);
  const another = secret(`word-${randomUUID()}`);
  const key = secret(`idem-${randomUUID()}`);

  try {
    const first = await done("/auth/register", { body: { email, password, name: secret("Quiet Mouse") } });
    await done("/auth/register", { body: { email, password } });
    await done("/auth/login", { body: { email, password: another } });
    await done("/auth/login", { body: `{"email":"${email}","password":"${password}"` });
    await done(`/auth/login?password=${password}`, { body: { email, password, [another]: email } });
    const verify = await mailed(email, "verify-email");
    await done(`/auth/verify-email?token=${verify}`, { headers: { Accept: "text/html" } });
    await done(`/auth/verify-email?token=${verify}x`);
    await done(`/auth/verify-email?token=${verify}`);
    await done(`/auth/verify?token=${verify}`);
    const headers = { "Idempotency-Key": key, "User-Agent": secret("agent-of-the-quiet") };
    const second = await done("/auth/refresh", { body: { refreshToken: first.refreshToken }, headers });
    const elsewhere = { ...headers, "CF-Connecting-IP": "203.0.113.77" };
    await done("/auth/refresh", { body: { refreshToken: first.refreshToken }, headers: elsewhere });
    await done("/auth/sessions", { token: second.accessToken ?? "" });
    await done("/auth/refresh", { body: { refreshToken: first.refreshToken } });
    await done("/auth/me", { token: second.accessToken ?? "" });
    await nextMail(server.url, email, "notice");
    await done("/auth/magic-link", { body: { email } });
    const third = await done(`/auth/magic-link/verify?token=${await mailed(email, "magic-link")}`);
    await done("/auth/magic-link", { body: { email: newcomer } });
    const fresh = await done("/auth/magic-link/verify", { body: { token: await mailed(newcomer, "magic-link") } });
    await done("/auth/verify-email/resend", { method: "POST", token: third.accessToken ?? "" });
    const body = { currentPassword: password, newPassword: another };
    await done("/auth/password", { method: "PUT", token: third.accessToken ?? "", body });
    await done("/auth/forgot-password", { body: { email } });
    const reset = await mailed(email, "reset-password");
    await done("/auth/reset-password", { body: { token: reset, password } });
    await done("/auth/reset-password", { body: { token: reset, password } });
    await done("/auth/verify-email/reject", { body: { token: verify } });
    await done("/auth/logout", { body: { refreshToken: fresh.refreshToken } });
    const last = await done("/auth/login", { body: { email, password } });
    await done("/auth/methods", { token: last.accessToken ?? "" });
    await done("/auth/sessions", { method: "DELETE", token: last.accessToken ?? "" });
    await done("/auth/me", { method: "DELETE", token: last.accessToken ?? "", body: { password } });
    await done(`/auth/nowhere?token=${reset}`);
    await done("/dev/outbox");

    const output = server.output();
    const lines = output.split("\n").filter((line) => line.startsWith("{"));
    const events = lines.map((line) => JSON.parse(line)).map(({ event, outcome }) => `${event} ${outcome}`);
    for (const line of [
      "auth.register ok",
      "auth.register EMAIL_ALREADY_EXISTS",
      "auth.login INVALID_CREDENTIALS",
      "auth.login VALIDATION_ERROR",
      "auth.refresh ok",
      "auth.refresh REFRESH_TOKEN_REUSED",
      "user.refresh.replayed other_address",
      "user.refresh.reused session_ended",
      "auth.me SESSION_REVOKED",
      "auth.verify-email ok",
      "auth.verify-email INVALID_TOKEN",
      "auth.magic-link.verify ok",
      "auth.password.change ok",
      "auth.password.reset ok",
      "auth.password.reset INVALID_TOKEN",
      "auth.logout ok",
      "auth.methods ok",
      "auth.sessions.end-others ok",
      "auth.delete ok",
      "mail.send ok",
    ]) {
      expect(events).toContain(line);
    }
    expect(secrets.size).toBeGreaterThanOrEqual(20);
    const text = lines.join("\n").toLowerCase();
    for (const one of [...secrets, "quiet", "mouse", "newcomer", "pbkdf2", "203.0.113.77", "@example"]) {
      expect(text.includes(one.toLowerCase()), one).toBe(false);
      expect(text.includes(encodeURIComponent(one).toLowerCase()), one).toBe(false);
    }
  } finally {
    await server.stop();
  }
});
