import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type CallOptions, call } from "../../support/api.ts";
import { nextMail, tokenIn } from "../../support/outbox.ts";
import { startServer } from "../../support/server.ts";

test("no token, password, address or key of any account flow is in what the server writes", async () => {
  const server = await startServer({ env: { LOG_LEVEL: "info" } });
  const secrets = new Set<string>();
  const secret = <T extends string>(text: T): T => {
    secrets.add(text);
    return text;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the members each flow needs are named where they are used.
  const data = async (path: string, options: CallOptions = {}): Promise<any> => {
    const answer = await call(server.url, path, options);
    for (const name of ["accessToken", "refreshToken"]) {
      if (typeof answer.body?.data?.[name] === "string") secret(answer.body.data[name]);
    }
    return answer.body?.data;
  };
  const mailed = async (to: string, kind: string, count = 1): Promise<string> =>
    secret(tokenIn(await nextMail(server.url, to, kind, { count })));
  const email = secret(`quiet-${randomUUID()}@example.com`);
  const newcomer = secret(`newcomer-${randomUUID()}@example.com`);
  const password = secret(`pass-${randomUUID()}`);
  const another = secret(`word-${randomUUID()}`);
  const key = secret(`idem-${randomUUID()}`);

  try {
    const first = await data("/auth/register", { body: { email, password, name: secret("Quiet Mouse") } });
    await data("/auth/register", { body: { email, password } });
    await data("/auth/login", { body: { email, password: another } });
    await data("/auth/login", { body: `{"email":"${email}","password":"${password}"` });
    await data(`/auth/login?password=${password}`, { body: { email, password, [another]: email } });
    const verify = await mailed(email, "verify-email");
    await data(`/auth/verify-email?token=${verify}`, { headers: { Accept: "text/html" } });
    await data(`/auth/verify-email?token=${verify}x`);
    await data(`/auth/verify-email?token=${verify}`);
    await data(`/auth/verify?token=${verify}`);
    const headers = { "Idempotency-Key": key, "User-Agent": secret("agent-of-the-quiet") };
    const second = await data("/auth/refresh", { body: { refreshToken: first.refreshToken }, headers });
    const elsewhere = { ...headers, "CF-Connecting-IP": "203.0.113.77" };
    await data("/auth/refresh", { body: { refreshToken: first.refreshToken }, headers: elsewhere });
    await data("/auth/sessions", { token: second.accessToken });
    await data("/auth/refresh", { body: { refreshToken: first.refreshToken } });
    await data("/auth/me", { token: second.accessToken });
    await nextMail(server.url, email, "notice");
    await data("/auth/magic-link", { body: { email } });
    const third = await data(`/auth/magic-link/verify?token=${await mailed(email, "magic-link")}`);
    await data("/auth/magic-link", { body: { email: newcomer } });
    const fresh = await data("/auth/magic-link/verify", { body: { token: await mailed(newcomer, "magic-link") } });
    await data("/auth/verify-email/resend", { method: "POST", token: third.accessToken });
    const body = { currentPassword: password, newPassword: another };
    await data("/auth/password", { method: "PUT", token: third.accessToken, body });
    await data("/auth/forgot-password", { body: { email } });
    const reset = await mailed(email, "reset-password");
    await data("/auth/reset-password", { body: { token: reset, password } });
    await data("/auth/reset-password", { body: { token: reset, password } });
    await data("/auth/verify-email/reject", { body: { token: verify } });
    await data("/auth/logout", { body: { refreshToken: fresh.refreshToken } });
    await data(`/auth/nowhere?token=${reset}`);
    await data("/dev/outbox");

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
