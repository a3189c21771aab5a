import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDERS } from "../../../src/accounts/oauth/provider.ts";
import { asUser, call, createKey, createProject, type Page, register } from "../../support/api.ts";
import { mailsTo as outboxMailsTo } from "../../support/outbox.ts";
import { accessTokenOf, linkWith, me, methodsOf, newEmail, signInWith } from "./support/flows.ts";
import { type OAuthService, startOAuthService } from "./support/service.ts";

let service: OAuthService;
beforeAll(async () => {
  service = await startOAuthService();
});
afterAll(() => service.stop());

const mailsTo = (email: string) => outboxMailsTo(service.url, email);

async function verify(email: string): Promise<void> {
  await expect
    .poll(async () => (await mailsTo(email)).map(({ kind }) => kind), { timeout: 10_000 })
    .toContain("verify-email");
  const mail = (await mailsTo(email)).find(({ kind }) => kind === "verify-email");
  const token = /token=([\w-]+)/.exec(mail?.links[0] ?? "")?.[1];
  const answer = await call(service.url, "/auth/verify-email", { body: { token } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

describe.each(PROVIDERS)("an account with a password, and %s", (provider) => {
  test("O4: a verified address is linked, the account keeps everything, and a mail notifies the owner", async () => {
    const account = await register(service.url);
    await verify(account.email);
    const projectId = await createProject(service.url, account);
    const key = await createKey(service.url, account, projectId);
    const landing = await signInWith(service.url, provider, { email: account.email });
    expect(landing.parameters.isNewUser).toBe("false");
    expect((await me(service.url, accessTokenOf(landing))).body.data.user.id).toBe(account.userId);
    const methods = await methodsOf(service.url, account.accessToken);
    expect(methods.body.data).toEqual({ hasPassword: true, providers: [provider] });
    const login = await call(service.url, "/auth/login", {
      body: { email: account.email, password: account.password },
    });
    expect(login.status).toBe(200);
    expect((await call(service.url, "/logger/query", { token: key.secret, body: {} })).status).toBe(200);
    await expect
      .poll(async () => (await mailsTo(account.email)).map(({ kind }) => kind), { timeout: 10_000 })
      .toContain("notice");
    await signInWith(service.url, provider, { email: account.email });
    expect((await mailsTo(account.email)).filter(({ kind }) => kind === "notice")).toHaveLength(1);
    const notice = (await mailsTo(account.email)).find(({ kind }) => kind === "notice");
    expect(notice?.text).toContain(provider);
  });

  test("O5: an address that was never verified loses everything that was added before", async () => {
    const attacker = await register(service.url);
    const projectId = await createProject(service.url, attacker);
    const key = await createKey(service.url, attacker, projectId);
    const landing = await signInWith(service.url, provider, { email: attacker.email });
    const { user } = (await me(service.url, accessTokenOf(landing))).body.data;
    expect(user).toMatchObject({ id: attacker.userId, emailVerified: true });
    const tries = [
      await me(service.url, attacker.accessToken),
      await call(service.url, "/auth/refresh", { body: { refreshToken: attacker.refreshToken } }),
      await call(service.url, "/auth/login", { body: { email: attacker.email, password: attacker.password } }),
      await call(service.url, "/logger/query", { token: key.secret, body: {} }),
      await call(service.url, `/logger/${projectId}/log`, { token: key.secret, body: { message: "x" } }),
      await call(service.url, "/projects", { ...asUser(attacker), body: { name: "more" } }),
    ];
    expect(tries.map(({ status }) => status)).toEqual(Array(6).fill(401));
    const methods = await methodsOf(service.url, accessTokenOf(landing));
    expect(methods.body.data).toEqual({ hasPassword: false, providers: [provider] });
  });

  test("O6: with a verified address it links, and unlinks again because the password remains", async () => {
    const account = await register(service.url);
    await verify(account.email);
    const linked = await linkWith(service.url, provider, account.accessToken, { email: newEmail() });
    expect(linked.parameters).toEqual({ linked: provider });
    const path = `/auth/link/${provider}`;
    const unlinked = await call(service.url, path, { method: "DELETE", token: account.accessToken });
    expect(unlinked.body.data).toEqual({ unlinked: true });
    const methods = await methodsOf(service.url, account.accessToken);
    expect(methods.body.data).toEqual({ hasPassword: true, providers: [] });
  });
});

/** Minutes until the account's only session expires, as its owner's list shows it. */
async function minutesLeft(token: string): Promise<number> {
  const { body } = await call<Page<{ expiresAt: string }>>(service.url, "/auth/sessions", { token });
  expect(body.data.items).toHaveLength(1);
  return Math.ceil((Date.parse(body.data.items[0]?.expiresAt ?? "") - Date.now()) / 60_000);
}

test("O8: the tokens of a redirect are refreshed like any other, and must be within 30 minutes", async () => {
  const landing = await signInWith(service.url, "provider_a", { email: newEmail() });
  const { parameters } = landing;
  expect(await minutesLeft(accessTokenOf(landing))).toBe(30);
  const refreshed = await call<{ accessToken: string }>(service.url, "/auth/refresh", {
    body: { refreshToken: parameters.refreshToken },
  });
  expect(refreshed.status).toBe(200);
  expect((await me(service.url, refreshed.body.data.accessToken)).status).toBe(200);
  expect(await minutesLeft(refreshed.body.data.accessToken)).toBe(30 * 24 * 60);
});
