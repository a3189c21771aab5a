import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDERS, type ProviderName } from "../../../src/accounts/oauth/provider.ts";
import { type Answer, call, register } from "../../support/api.ts";
import { Browser } from "./support/browser.ts";
import {
  accessTokenOf,
  callbackUrlOf,
  land,
  linkUrlOf,
  linkWith,
  me,
  methodsOf,
  newEmail,
  signInWith,
} from "./support/flows.ts";
import { type OAuthService, startOAuthService } from "./support/service.ts";

let service: OAuthService;
beforeAll(async () => {
  service = await startOAuthService();
});
afterAll(() => service.stop());

const other = (provider: ProviderName): ProviderName => (provider === "provider_a" ? "provider_b" : "provider_a");

/** An account with a verified address, created by a provider. */
async function verifiedAccount(provider: ProviderName): Promise<{ token: string; email: string }> {
  const email = newEmail();
  return { email, token: accessTokenOf(await signInWith(service.url, provider, { email })) };
}

function unlink(provider: ProviderName, token: string): Promise<Answer> {
  return call(service.url, `/auth/link/${provider}`, { method: "DELETE", token });
}

function confirm(linkCode: string | undefined, token: string): Promise<Answer> {
  return call(service.url, "/auth/link/confirm", { token, body: { linkCode } });
}

const newSubject = () => String(Math.floor(Math.random() * 1e12) + 1);

describe.each(PROVIDERS)("linking %s", (provider) => {
  test("O6: in the same browser it is linked and signs in afterwards; linking it again succeeds", async () => {
    const { token } = await verifiedAccount(other(provider));
    const visitor = { email: newEmail(), subject: newSubject() };
    expect((await linkWith(service.url, provider, token, visitor)).parameters).toEqual({ linked: provider });
    expect((await methodsOf(service.url, token)).body.data.providers).toEqual(["provider_a", "provider_b"]);
    const signedIn = accessTokenOf(await signInWith(service.url, provider, visitor));
    const ids = [token, signedIn].map(async (one) => (await me(service.url, one)).body.data.user.id);
    expect(await ids[0]).toBe(await ids[1]);
    expect((await linkWith(service.url, provider, token, visitor)).parameters).toEqual({ linked: provider });
  });

  test("O6: without the cookie nothing is linked until the same user confirms, once", async () => {
    const { token } = await verifiedAccount(other(provider));
    const visitor = { email: newEmail(), subject: newSubject() };
    const authorizeUrl = await linkUrlOf(service.url, provider, token, new Browser());
    const elsewhere = new Browser();
    const landing = await land(await callbackUrlOf(authorizeUrl, visitor, elsewhere), elsewhere);
    expect(Object.keys(landing.parameters)).toEqual(["linkCode"]);
    const { linkCode } = landing.parameters;
    expect((await methodsOf(service.url, token)).body.data.providers).toEqual([other(provider)]);

    const stranger = await verifiedAccount(provider);
    const refused = await confirm(linkCode, stranger.token);
    expect([refused.status, refused.body.error.code]).toEqual([400, "INVALID_TOKEN"]);
    const racing = await Promise.all(Array.from({ length: 5 }, () => confirm(linkCode, token)));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(racing.find(({ status }) => status === 200)?.body.data).toEqual({ linked: provider });
    expect((await methodsOf(service.url, token)).body.data.providers).toEqual(["provider_a", "provider_b"]);
  });

  test("O6: an identity of another user is refused, with the cookie and by confirmation", async () => {
    const owner = { email: newEmail() };
    await signInWith(service.url, provider, owner);
    const { token } = await verifiedAccount(other(provider));
    const refusal = { error: "PROVIDER_ALREADY_LINKED" };
    expect((await linkWith(service.url, provider, token, owner)).parameters).toEqual(refusal);
    const elsewhere = new Browser();
    const authorizeUrl = await linkUrlOf(service.url, provider, token, new Browser());
    const { parameters } = await land(await callbackUrlOf(authorizeUrl, owner, elsewhere), elsewhere);
    const confirmed = await confirm(parameters.linkCode, token);
    expect([confirmed.status, confirmed.body.error.code]).toEqual([409, "PROVIDER_ALREADY_LINKED"]);
    expect((await methodsOf(service.url, token)).body.data.providers).toEqual([other(provider)]);
  });

  test("O6: requires a verified address", async () => {
    const account = await register(service.url);
    const answer = await call(service.url, `/auth/link/${provider}`, { method: "POST", token: account.accessToken });
    expect([answer.status, answer.body.error.code]).toEqual([403, "EMAIL_NOT_VERIFIED"]);
  });

  test("O3: an identity without a verified address is not linked", async () => {
    const { token } = await verifiedAccount(other(provider));
    const visitor = { email: newEmail(), subject: newSubject(), verified: false };
    const { parameters } = await linkWith(service.url, provider, token, visitor);
    expect(parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
  });

  test("a denied link, and one with a used state, change nothing", async () => {
    const { token } = await verifiedAccount(other(provider));
    const visitor = { email: newEmail(), decision: "deny" } as const;
    expect((await linkWith(service.url, provider, token, visitor)).parameters).toEqual({
      error: "OAUTH_ACCESS_DENIED",
    });
    const browser = new Browser();
    const authorizeUrl = await linkUrlOf(service.url, provider, token, browser);
    const callback = await callbackUrlOf(authorizeUrl, { email: newEmail() }, browser);
    await land(callback, browser);
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
  });

  test("O7: the last method cannot be unlinked, and can be after another provider was linked", async () => {
    const { token, email } = await verifiedAccount(provider);
    const refused = await unlink(provider, token);
    expect([refused.status, refused.body.error.code]).toEqual([409, "LAST_AUTH_METHOD"]);
    const missing = await unlink(other(provider), token);
    expect([missing.status, missing.body.error.code]).toEqual([404, "NOT_FOUND"]);
    const visitor = { email: newEmail(), subject: newSubject() };
    await linkWith(service.url, other(provider), token, visitor);
    expect((await unlink(provider, token)).body.data).toEqual({ unlinked: true });
    expect((await methodsOf(service.url, token)).body.data).toEqual({
      hasPassword: false,
      providers: [other(provider)],
    });
    // The address still identifies the account, so the next sign-in links the identity again.
    const back = await signInWith(service.url, provider, { email });
    expect(back.parameters.isNewUser).toBe("false");
    expect((await methodsOf(service.url, token)).body.data.providers).toEqual(["provider_a", "provider_b"]);
  });

  test("an unlinked identity is free for another user", async () => {
    const { token } = await verifiedAccount(other(provider));
    const visitor = { email: newEmail(), subject: newSubject() };
    await linkWith(service.url, provider, token, visitor);
    await unlink(provider, token);
    const next = await signInWith(service.url, provider, visitor);
    expect(next.parameters.isNewUser).toBe("true");
    expect((await linkWith(service.url, provider, token, visitor)).parameters).toEqual({
      error: "PROVIDER_ALREADY_LINKED",
    });
  });
});

describe("unlinking", () => {
  test("O7: of two parallel unlinks of the last two methods one succeeds, every time", async () => {
    for (let round = 0; round < 5; round++) {
      const { token, email } = await verifiedAccount("provider_a");
      await signInWith(service.url, "provider_b", { email });
      const answers = await Promise.all(PROVIDERS.map((provider) => unlink(provider, token)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.error.code).toBe("LAST_AUTH_METHOD");
      expect((await methodsOf(service.url, token)).body.data.providers).toHaveLength(1);
    }
  });
});

test.each([
  ["POST", "/auth/link/provider_a"],
  ["DELETE", "/auth/link/provider_b"],
  ["GET", "/auth/methods"],
])("%s %s requires an access token", async (method, path) => {
  const missing = await call(service.url, path, { method });
  expect([missing.status, missing.body.error.code]).toEqual([401, "UNAUTHORIZED"]);
  const wrong = await call(service.url, path, { method, token: "rt_nonsense" });
  expect([wrong.status, wrong.body.error.code]).toEqual([401, "INVALID_ACCESS_TOKEN"]);
});
