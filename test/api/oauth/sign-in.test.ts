import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDERS, type ProviderName } from "../../../src/accounts/oauth/provider.ts";
import { call, register } from "../../support/api.ts";
import { Browser } from "./support/browser.ts";
import {
  accessTokenOf,
  authorizeUrlOf,
  callbackUrlOf,
  land,
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

describe.each(PROVIDERS)("signing in with %s", (provider) => {
  test("creates an account with a personal workspace, and finds it at the next sign-in", async () => {
    const email = newEmail();
    const first = await signInWith(service.url, provider, { email: email.toUpperCase(), name: "Vera Visitor" });
    expect(Object.keys(first.parameters)).toEqual(["accessToken", "refreshToken", "isNewUser"]);
    expect(first.parameters.isNewUser).toBe("true");
    expect(first.parameters.refreshToken).toMatch(/^rt_/);
    const token = accessTokenOf(first);
    const { user } = (await me(service.url, token)).body.data;
    expect(user).toEqual({ id: expect.stringMatching(/^usr_/), email, name: "Vera Visitor", emailVerified: true });
    expect((await methodsOf(service.url, token)).body.data).toEqual({ hasPassword: false, providers: [provider] });

    const second = await signInWith(service.url, provider, { email: email.toUpperCase() });
    expect(second.parameters.isNewUser).toBe("false");
    expect((await me(service.url, accessTokenOf(second))).body.data.user.id).toBe(user.id);
  });

  test("O8: redirects to the frontend only, without caching or referrer, and logs neither tokens nor addresses", async () => {
    const email = newEmail();
    const { parameters, response } = await signInWith(service.url, provider, { email });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(response.headers.get("X-RateLimit-Limit")).not.toBeNull();
    const requestId = response.headers.get("X-Request-Id");
    await expect.poll(service.server.output).toContain(requestId);
    const output = service.server.output();
    for (const secret of [parameters.accessToken, parameters.refreshToken, email, encodeURIComponent(email)]) {
      expect(output).not.toContain(secret);
    }
  });

  test("O1: the cookie is HttpOnly and Lax, has no prefix over http, and is deleted by the callback", async () => {
    const browser = new Browser();
    const authorizeUrl = await authorizeUrlOf(service.url, provider, browser);
    const [cookie] = browser.cookies();
    expect(cookie?.header).toMatch(
      /^taffrail_oauth_[\w-]{12}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    await land(await callbackUrlOf(authorizeUrl, { email: newEmail() }, browser), browser);
    expect(browser.cookies().filter(({ name }) => name === cookie?.name)).toEqual([]);
  });

  test("O1: state is 32 random bytes; a wrong, missing or repeated one is refused", async () => {
    const browser = new Browser();
    const authorizeUrl = await authorizeUrlOf(service.url, provider, browser);
    const state = authorizeUrl.searchParams.get("state") ?? "";
    expect(Buffer.from(state, "base64url")).toHaveLength(32);
    const callback = await callbackUrlOf(authorizeUrl, { email: newEmail() }, browser);
    for (const wrong of [`state=${"A".repeat(43)}`, "state=x", "state=", "", `state=${state}&state=${state}`]) {
      const url = new URL(callback);
      url.searchParams.delete("state");
      const { parameters } = await land(new URL(`${url}&${wrong}`), browser);
      expect(parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
    }
    expect((await land(callback, browser)).parameters.accessToken).toBeDefined();
  });

  test("O1: a callback works once, even if it failed the first time", async () => {
    const browser = new Browser();
    const callback = await callbackUrlOf(
      await authorizeUrlOf(service.url, provider, browser),
      { email: newEmail() },
      browser,
    );
    const racing = await Promise.all(Array.from({ length: 8 }, () => land(callback, browserLike(browser))));
    expect(racing.filter(({ parameters }) => parameters.accessToken !== undefined)).toHaveLength(1);
    expect(racing.filter(({ parameters }) => parameters.error === "OAUTH_STATE_INVALID")).toHaveLength(7);
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
  });

  test("O1: a callback in another browser is refused, and uses the state up", async () => {
    const browser = new Browser();
    const callback = await callbackUrlOf(
      await authorizeUrlOf(service.url, provider, browser),
      { email: newEmail() },
      browser,
    );
    expect((await land(callback, new Browser())).parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
  });

  test("O1: the state of the other provider's flow is refused", async () => {
    const browser = new Browser();
    const callback = await callbackUrlOf(
      await authorizeUrlOf(service.url, provider, browser),
      { email: newEmail() },
      browser,
    );
    callback.pathname = `/auth/oauth/${other(provider)}/callback`;
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_STATE_INVALID" });
  });

  test("flows in two tabs of one browser do not affect each other", async () => {
    const browser = new Browser();
    const tabs = [
      await authorizeUrlOf(service.url, provider, browser),
      await authorizeUrlOf(service.url, provider, browser),
    ];
    for (const tab of tabs) {
      const callback = await callbackUrlOf(tab, { email: newEmail() }, browser);
      expect((await land(callback, browser)).parameters.isNewUser).toBe("true");
    }
  });

  test("O2: requests with PKCE S256, and the provider enforces it", async () => {
    const browser = new Browser();
    const authorizeUrl = await authorizeUrlOf(service.url, provider, browser);
    expect(authorizeUrl.searchParams.get("code_challenge_method")).toBe("S256");
    expect(authorizeUrl.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    // A provider that got another challenge must refuse the service's verifier.
    authorizeUrl.searchParams.set("code_challenge", "A".repeat(43));
    const callback = await callbackUrlOf(authorizeUrl, { email: newEmail() }, browser);
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_PROVIDER_ERROR" });
    await expect.poll(service.server.output).toMatch(/"providerReason":"token: (invalid_grant|bad_verification_code)"/);
  });

  test("O9: a denied consent is reported as such, without the provider's text", async () => {
    const { parameters } = await signInWith(service.url, provider, { email: newEmail(), decision: "deny" });
    expect(parameters).toEqual({ error: "OAUTH_ACCESS_DENIED" });
  });

  test("O9: a code that is unknown to the provider is a provider's error", async () => {
    const browser = new Browser();
    const callback = await callbackUrlOf(
      await authorizeUrlOf(service.url, provider, browser),
      { email: newEmail() },
      browser,
    );
    callback.searchParams.set("code", "forged");
    expect((await land(callback, browser)).parameters).toEqual({ error: "OAUTH_PROVIDER_ERROR" });
  });

  test("O3: without a verified address there is no account, and an existing link still signs in", async () => {
    const email = newEmail();
    const visitor = { email, subject: String(Date.now()) };
    const refused = await signInWith(service.url, provider, { ...visitor, verified: false });
    expect(refused.parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
    const made = await signInWith(service.url, provider, visitor);
    const { id } = (await me(service.url, accessTokenOf(made))).body.data.user;
    const again = await signInWith(service.url, provider, { ...visitor, verified: false, email: newEmail() });
    expect(again.parameters.isNewUser).toBe("false");
    const { user } = (await me(service.url, accessTokenOf(again))).body.data;
    expect([user.id, user.email]).toEqual([id, email]);
  });

  test("O3: an address that the provider has not verified links to no account", async () => {
    const account = await register(service.url);
    const visitor = { email: account.email, subject: String(Date.now()), verified: false };
    expect((await signInWith(service.url, provider, visitor)).parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
    const methods = await methodsOf(service.url, account.accessToken);
    expect(methods.body.data).toEqual({ hasPassword: true, providers: [] });
  });

  test("O3: an identity whose address has changed still signs in to its account", async () => {
    const [owner, subject] = [newEmail(), String(Date.now())];
    const made = await signInWith(service.url, provider, { email: owner, subject });
    // The identity has another address now; the account stays the identity's.
    const moved = await signInWith(service.url, provider, { email: newEmail(), subject });
    const idOf = async (landing: typeof made) => (await me(service.url, accessTokenOf(landing))).body.data.user.id;
    expect(await idOf(moved)).toBe(await idOf(made));
  });

  test("O4: a verified address links the provider to its account", async () => {
    const email = newEmail();
    const first = await signInWith(service.url, other(provider), { email });
    const second = await signInWith(service.url, provider, { email });
    expect(second.parameters.isNewUser).toBe("false");
    const methods = await methodsOf(service.url, accessTokenOf(second));
    expect(methods.body.data).toEqual({ hasPassword: false, providers: ["provider_a", "provider_b"] });
    // Nothing was purged: the first session is still valid.
    expect((await me(service.url, accessTokenOf(first))).status).toBe(200);
  });

  test("many parallel sign-ins with one new identity create one account", async () => {
    const email = newEmail();
    const flows = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const browser = new Browser();
        const authorizeUrl = await authorizeUrlOf(service.url, provider, browser);
        return { browser, callback: await callbackUrlOf(authorizeUrl, { email }, browser) };
      }),
    );
    const landings = await Promise.all(flows.map(({ callback, browser }) => land(callback, browser)));
    expect(landings.filter(({ parameters }) => parameters.isNewUser === "true")).toHaveLength(1);
    const users = await Promise.all(
      landings.map(async (landing) => (await me(service.url, accessTokenOf(landing))).body.data.user.id),
    );
    expect(new Set(users).size).toBe(1);
  });

  test("HEAD starts no flow and ends none", async () => {
    const browser = new Browser();
    const begun = await browser.request(`${service.url}/auth/oauth/${provider}`, { method: "HEAD" });
    expect([begun.status, begun.headers.get("Location"), browser.cookies().length]).toEqual([200, null, 0]);
    const callback = await callbackUrlOf(
      await authorizeUrlOf(service.url, provider, browser),
      { email: newEmail() },
      browser,
    );
    expect((await browser.request(callback, { method: "HEAD" })).headers.get("Location")).toBeNull();
    expect((await land(callback, browser)).parameters.isNewUser).toBe("true");
  });

  test("an unknown query parameter is named", async () => {
    for (const query of [
      "?mode=tokens",
      "?mode=code",
      `?code_challenge=${"A".repeat(43)}`,
      "?redirect=http://evil.test",
    ]) {
      const answer = await call(service.url, `/auth/oauth/${provider}${query}`);
      expect([query, answer.status, answer.body.error.code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });
});

/** Copies a browser as another tab: the same cookies, held separately. */
function browserLike(browser: Browser): Browser {
  const copy = new Browser();
  copy.adopt(browser);
  return copy;
}
