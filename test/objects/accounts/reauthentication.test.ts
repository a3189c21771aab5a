import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { beginFlow, hashOf, randomSecret, takeFlow, takeLinkCode } from "../../../src/accounts/oauth/flows.ts";
import { linkIdentity } from "../../../src/accounts/oauth/identities.ts";
import { arrived, realPorts, sessionOf, visitor } from "../oauth/support.ts";
import { type Answer, bearer, call, callWith, claimsOf, login, me, PASSWORD, registered, userStub } from "./support.ts";

const MINUTE_MS = 60_000;
const CONFIGURED = { PROVIDER_A_CLIENT_ID: "client" };

interface Owner {
  userId: string;
  email: string;
  accessToken: string;
  refreshToken: string;
}

async function onSql(userId: string, statement: string, ...values: unknown[]): Promise<void> {
  await runInDurableObject(userStub(userId), (_, { storage }) => void storage.sql.exec(statement, ...values));
}

/** An account with a password, a verified address and one linked provider. */
async function owner(): Promise<Owner> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { user, accessToken, refreshToken } = await registered(email);
  await onSql(user.id, "UPDATE account SET email_verified = 1");
  await onSql(user.id, "INSERT INTO links VALUES ('provider_b', ?, 'claim', ?)", email, Date.now());
  return { userId: user.id, email, accessToken, refreshToken };
}

/** Makes every session of the account look as if its sign-in happened so long ago. */
function age(userId: string, ms: number): Promise<void> {
  return onSql(userId, "UPDATE families SET created_at = ?", Date.now() - ms);
}

function shown(answer: Answer): unknown[] {
  return [answer.status, answer.code];
}

const link = (token: string, body?: unknown): Promise<Answer> =>
  callWith(CONFIGURED, "/auth/link/provider_a", {
    method: "POST",
    headers: bearer(token),
    ...(body === undefined ? {} : { body }),
  });

const unlink = (token: string, body?: unknown): Promise<Answer> =>
  call("/auth/link/provider_b", {
    method: "DELETE",
    headers: bearer(token),
    ...(body === undefined ? {} : { body }),
  });

const deletion = (token: string, body?: unknown): Promise<Answer> =>
  call("/auth/me", { method: "DELETE", headers: bearer(token), ...(body === undefined ? {} : { body }) });

const firstPassword = (token: string, body: object = {}): Promise<Answer> =>
  call("/auth/password", { method: "PUT", headers: bearer(token), body: { newPassword: "the first one", ...body } });

const REQUIRED = [403, "REAUTHENTICATION_REQUIRED"];

describe("B8: a change of sign-in methods requires a session of the last 10 minutes or the password", () => {
  it.each([
    ["linking", link, 200],
    ["unlinking", unlink, 200],
  ] as const)("B8: %s", async (_, act, done) => {
    const { userId, accessToken, refreshToken } = await owner();
    await age(userId, 10 * MINUTE_MS + 1000);
    expect(shown(await act(accessToken))).toEqual(REQUIRED);
    expect(shown(await act(accessToken, {}))).toEqual(REQUIRED);
    // A refresh does not make a session fresh.
    const refreshed = await call("/auth/refresh", { body: { refreshToken } });
    const { accessToken: renewed } = refreshed.data as { accessToken: string };
    expect(shown(await act(renewed))).toEqual(REQUIRED);
    expect(shown(await act(renewed, { password: "wrong password" }))).toEqual([401, "INVALID_CREDENTIALS"]);
    expect(shown(await act(renewed, { password: "short" }))).toEqual([400, "VALIDATION_ERROR"]);
    expect(shown(await act(renewed, { password: PASSWORD, more: 1 }))).toEqual([400, "VALIDATION_ERROR"]);
    const methods = await call("/auth/methods", { headers: bearer(renewed) });
    expect(methods.data).toEqual({ hasPassword: true, providers: ["provider_b"] });
    expect(shown(await act(renewed, { password: PASSWORD }))).toEqual([done, null]);
  });

  it.each([
    ["linking", link],
    ["unlinking", unlink],
  ] as const)("B8: %s within 10 minutes of the sign-in needs no body", async (_, act) => {
    const { userId, accessToken } = await owner();
    await age(userId, 9 * MINUTE_MS);
    expect(shown(await act(accessToken))).toEqual([200, null]);
  });

  it("B8: a wrong password is refused in a fresh session, too", async () => {
    const { accessToken } = await owner();
    expect(shown(await unlink(accessToken, { password: "wrong password" }))).toEqual([401, "INVALID_CREDENTIALS"]);
    expect(shown(await link(accessToken, { password: "wrong password" }))).toEqual([401, "INVALID_CREDENTIALS"]);
  });

  it("B8: the first password", async () => {
    const { userId, accessToken } = await owner();
    await onSql(userId, "UPDATE account SET password_hash = NULL");
    await age(userId, 11 * MINUTE_MS);
    expect(shown(await firstPassword(accessToken))).toEqual(REQUIRED);
    const guess = await firstPassword(accessToken, { currentPassword: PASSWORD });
    expect(shown(guess)).toEqual([401, "INVALID_CREDENTIALS"]);
    await age(userId, 9 * MINUTE_MS);
    expect(shown(await firstPassword(accessToken))).toEqual([200, null]);
  });

  it("B8: the first password is decided in the turn of the change, even if the router's data is outdated", async () => {
    const { userId, accessToken } = await owner();
    const { sessionId } = await claimsOf(accessToken);
    await onSql(userId, "UPDATE account SET password_hash = NULL");
    await age(userId, 11 * MINUTE_MS);
    const change = { sessionId, epoch: 0, checkedEpoch: null, passwordHash: "pbkdf2:x" };
    expect(await userStub(userId).setPassword(change)).toBe("unproven");
    await age(userId, MINUTE_MS);
    await onSql(userId, "UPDATE account SET password_hash = 'pbkdf2:y'");
    // A password that was set in the meantime must be given.
    expect(await userStub(userId).setPassword(change)).toBe("unproven");
  });

  it("B8: deletion of an account with a password requires the password", async () => {
    const { userId, accessToken } = await owner();
    expect(shown(await deletion(accessToken))).toEqual([400, "VALIDATION_ERROR"]);
    await age(userId, 11 * MINUTE_MS);
    expect(shown(await deletion(accessToken))).toEqual(REQUIRED);
    expect(shown(await deletion(accessToken, { password: "wrong password" }))).toEqual([401, "INVALID_CREDENTIALS"]);
    expect((await me(accessToken)).status).toBe(200);
    expect(shown(await deletion(accessToken, { password: PASSWORD }))).toEqual([200, null]);
  });

  it("B8: deletion of an account without a password requires a fresh session", async () => {
    const { userId, accessToken } = await owner();
    await onSql(userId, "UPDATE account SET password_hash = NULL");
    await age(userId, 11 * MINUTE_MS);
    expect(shown(await deletion(accessToken))).toEqual(REQUIRED);
    expect(shown(await deletion(accessToken, { password: PASSWORD }))).toEqual([401, "INVALID_CREDENTIALS"]);
    await age(userId, 9 * MINUTE_MS);
    expect(shown(await deletion(accessToken))).toEqual([200, null]);
  });

  it("B8: wrong passwords count as failed logins, by the same throttle", async () => {
    const { email, userId, accessToken } = await owner();
    await age(userId, 11 * MINUTE_MS);
    for (let i = 0; i < 5; i++) {
      expect((await unlink(accessToken, { password: "wrong password" })).code).toBe("INVALID_CREDENTIALS");
      expect((await login(email, "wrong password")).code).toBe("INVALID_CREDENTIALS");
    }
    const locked = await unlink(accessToken, { password: PASSWORD });
    expect(shown(locked)).toEqual([429, "RATE_LIMITED"]);
    expect(Number(locked.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(shown(await login(email))).toEqual([429, "RATE_LIMITED"]);
  });

  it("B8: a password that was changed after it was checked proves nothing", async () => {
    const { userId, accessToken } = await owner();
    const { sessionId } = await claimsOf(accessToken);
    await age(userId, 11 * MINUTE_MS);
    await onSql(userId, "UPDATE account SET epoch = epoch + 1");
    await onSql(userId, "UPDATE families SET epoch = epoch + 1");
    const before = { sessionId, checkedEpoch: 0 };
    expect(await userStub(userId).unlinkProvider(before, "provider_b")).toEqual({ ok: false, reason: "unproven" });
    expect(await userStub(userId).allowLinking(before)).toEqual({ ok: false, reason: "unproven" });
    expect(await userStub(userId).deleteAccount(before)).toBe("unproven");
  });
});

describe("B8: an allowed link is void after a change of the account", () => {
  it("B8: after a change of the password nothing is linked, by callback or code", async () => {
    const { entry, epoch } = await arrived(visitor());
    const sessionId = await sessionOf(entry.userId, epoch);
    const authority = { by: "session", sessionId, checkedEpoch: epoch } as const;
    const profile = visitor({ provider: "provider_b" });
    await onSql(entry.userId, "UPDATE account SET epoch = epoch + 1");
    await onSql(entry.userId, "UPDATE families SET epoch = epoch + 1");
    expect(await linkIdentity(realPorts(), entry.userId, profile, authority)).toEqual({ ok: false, reason: "changed" });
    const renewed = { ...authority, checkedEpoch: epoch + 1 };
    expect((await linkIdentity(realPorts(), entry.userId, profile, renewed)).ok).toBe(true);
  });

  it("B8: refuses a link that an older version began without reauthentication", async () => {
    const state = randomSecret();
    const purpose = { mode: "link", userId: "usr_x", sessionId: "fam_x", checkedEpoch: 0 } as const;
    const flow = { provider: "provider_a", verifier: "v", nonce: "n", browserHash: "b", purpose } as const;
    await beginFlow(env.DB, state, flow, 0);
    // As that version wrote it: without the column.
    await env.DB.prepare("UPDATE oauth_flows SET checked_epoch = NULL WHERE state_hash = ?").bind(hashOf(state)).run();
    expect(await takeFlow(env.DB, state, 1)).toBeNull();
    const code = randomSecret();
    await env.DB.prepare(
      "INSERT INTO oauth_link_codes (code_hash, user_id, provider, subject, expires_at) VALUES (?, 'usr_x', 'provider_a', '1', 60000)",
    )
      .bind(hashOf(code))
      .run();
    expect(await takeLinkCode(env.DB, code, "usr_x", 1)).toEqual({ ok: false, reason: "unknown" });
    const { entry, epoch } = await arrived(visitor());
    const sessionId = await sessionOf(entry.userId, epoch);
    const claim = { provider: "provider_b", subject: "1", claim: "c" } as const;
    const old = { by: "session", sessionId } as const;
    // With the reason that a router of that version expects.
    expect(await userStub(entry.userId).beginLink(claim, old)).toEqual({ ok: false, reason: "busy" });
  });
});
