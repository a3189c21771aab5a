import type { MutableResponse, MutableToken } from "oauth2-mock-server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { call } from "../../support/api.ts";
import { freePort, startServer, type TestServer } from "../../support/server.ts";
import { Browser } from "./support/browser.ts";
import { atFrontend, authorizeUrlOf, FRONTEND, type Landing, land, me, newEmail } from "./support/flows.ts";
import {
  type FakeGithub,
  type ForgingIssuer,
  json,
  startFakeGithub,
  startForgingIssuer,
} from "./support/misbehaving.ts";

const CLIENT_ID = "taffrail-test";

/** A text that no response and no redirect may contain. */
const PROSE = "SECRET PROSE OF THE PROVIDER";

let issuer: ForgingIssuer;
let github: FakeGithub;
let server: TestServer;
beforeAll(async () => {
  issuer = await startForgingIssuer();
  github = await startFakeGithub();
  server = await startServer({
    env: {
      FRONTEND_URL: FRONTEND,
      LOG_LEVEL: "info",
      PROVIDER_A_CLIENT_ID: CLIENT_ID,
      PROVIDER_A_CLIENT_SECRET: "secret-a",
      PROVIDER_A_AUTHORIZE_URL: `${github.url}/login/oauth/authorize`,
      PROVIDER_A_TOKEN_URL: `${github.url}/login/oauth/access_token`,
      PROVIDER_A_API_URL: github.url,
      PROVIDER_B_CLIENT_ID: CLIENT_ID,
      PROVIDER_B_CLIENT_SECRET: "secret-b",
      PROVIDER_B_ISSUER: issuer.url,
    },
  });
});
afterAll(async () => {
  await server.stop();
  await issuer.stop();
  await github.stop();
});
afterEach(() => {
  issuer.reset();
  github.routes.clear();
});

/** Runs a whole flow through the forging issuer, which redirects at once. */
async function throughIssuer(): Promise<Landing> {
  const browser = new Browser();
  const authorizeUrl = await authorizeUrlOf(server.url, "provider_b", browser);
  const { url, response } = await browser.open(authorizeUrl, {}, atFrontend);
  return { parameters: Object.fromEntries(url.searchParams), response };
}

/** Runs a whole flow of provider A whose browser returns with a code. */
async function throughGithub(query = "code=abc"): Promise<Landing> {
  const browser = new Browser();
  const authorizeUrl = await authorizeUrlOf(server.url, "provider_a", browser);
  const state = authorizeUrl.searchParams.get("state");
  return land(new URL(`${server.url}/auth/oauth/provider_a/callback?state=${state}&${query}`), browser);
}

function claims(more: Record<string, unknown> = {}): (token: MutableToken) => void {
  const email = newEmail();
  return ({ payload }) => Object.assign(payload, { email, email_verified: true, ...more });
}

const PROVIDER_ERROR = { error: "OAUTH_PROVIDER_ERROR" };

describe("O2: the ID token of provider_b", () => {
  test("signs in if it is valid", async () => {
    issuer.forgeToken(claims({ sub: newEmail() }));
    expect((await throughIssuer()).parameters.isNewUser).toBe("true");
  });

  test.each<[string, Record<string, unknown>]>([
    ["nonce of another flow", { nonce: "another" }],
    ["no nonce", { nonce: undefined }],
    ["issuer", { iss: "https://evil.example.com" }],
    ["audience", { aud: "another-client" }],
    ["audiences without an authorized party", { aud: [CLIENT_ID, "another-client"] }],
    ["expiry in the past", { exp: 1_000_000_000 }],
    ["no subject", { sub: undefined }],
    ["subject that is not a text", { sub: 5 }],
    ["subject of 256 characters", { sub: "x".repeat(256) }],
  ])("with a wrong %s is refused", async (_name, wrong) => {
    issuer.forgeToken(claims(wrong));
    expect((await throughIssuer()).parameters).toEqual(PROVIDER_ERROR);
  });

  test("with a broken signature is refused", async () => {
    issuer.forgeToken(claims({ sub: newEmail() }));
    issuer.breakSignature();
    expect((await throughIssuer()).parameters).toEqual(PROVIDER_ERROR);
  });

  test.each(["none", "HS256"])("of algorithm %s is refused", async (alg) => {
    const sub = newEmail();
    issuer.forgeToken(claims({ sub }));
    issuer.forgeAnswer(({ body }) => {
      if (body === "") return;
      const [, payload] = String(body.id_token).split(".");
      const header = Buffer.from(JSON.stringify({ alg, typ: "JWT" })).toString("base64url");
      body.id_token = `${header}.${payload}.`;
    });
    expect((await throughIssuer()).parameters).toEqual(PROVIDER_ERROR);
  });

  test("that is missing is refused", async () => {
    issuer.forgeAnswer(({ body }) => {
      if (body !== "") delete body.id_token;
    });
    expect((await throughIssuer()).parameters).toEqual(PROVIDER_ERROR);
  });
});

describe("O3: an e-mail address", () => {
  test.each<[string, Record<string, unknown>]>([
    ["false", { email_verified: false }],
    ["absent", { email_verified: undefined }],
    ["a string", { email_verified: "true" }],
    ["true for an invalid address", { email: "not an address" }],
  ])("is refused if email_verified is %s", async (_name, more) => {
    issuer.forgeToken(claims({ sub: newEmail(), ...more }));
    expect((await throughIssuer()).parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
  });

  test("from the userinfo endpoint requires email_verified in the same document", async () => {
    const [sub, email] = [newEmail(), newEmail()];
    issuer.forgeToken(claims({ sub, email: undefined, email_verified: true }));
    issuer.forgeUserinfo((answer) => Object.assign(answer, { body: { sub, email } }));
    expect((await throughIssuer()).parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
    issuer.reset();
    issuer.forgeToken(claims({ sub, email: undefined, email_verified: undefined }));
    issuer.forgeUserinfo((answer) => Object.assign(answer, { body: { sub, email, email_verified: true } }));
    const { parameters } = await throughIssuer();
    expect((await me(server.url, parameters.accessToken ?? "")).body.data.user.email).toBe(email);
  });

  test("is not accepted from another user's userinfo", async () => {
    issuer.forgeToken(claims({ sub: newEmail(), email: undefined }));
    issuer.forgeUserinfo((answer) =>
      Object.assign(answer, { body: { sub: "another-user", email: newEmail(), email_verified: true } }),
    );
    expect((await throughIssuer()).parameters).toEqual(PROVIDER_ERROR);
  });
});

describe("O9: responses of provider_b", () => {
  const refusal: MutableResponse["body"] = { error: "server_error", error_description: PROSE };

  test.each([400, 401, 429, 500, 503])("a token endpoint that answers %d", async (statusCode) => {
    issuer.forgeAnswer((answer) => Object.assign(answer, { statusCode, body: refusal }));
    const { parameters } = await throughIssuer();
    expect(parameters).toEqual(PROVIDER_ERROR);
    expect(server.output()).not.toContain(PROSE);
  });

  test.each([
    ["server_error", "OAUTH_PROVIDER_ERROR"],
    ["access_denied", "OAUTH_ACCESS_DENIED"],
    [`${PROSE}\n`, "OAUTH_PROVIDER_ERROR"],
  ])("an authorization that returns the error %j", async (error, code) => {
    const browser = new Browser();
    const state = (await authorizeUrlOf(server.url, "provider_b", browser)).searchParams.get("state") ?? "";
    const callback = new URL(`${server.url}/auth/oauth/provider_b/callback`);
    callback.search = new URLSearchParams({ state, error, error_description: PROSE }).toString();
    expect((await land(callback, browser)).parameters).toEqual({ error: code });
    expect(server.output()).not.toContain(PROSE);
  });

  test("a callback without code and without error", async () => {
    const browser = new Browser();
    const state = (await authorizeUrlOf(server.url, "provider_b", browser)).searchParams.get("state");
    const callback = new URL(`${server.url}/auth/oauth/provider_b/callback?state=${state}`);
    expect((await land(callback, browser)).parameters).toEqual(PROVIDER_ERROR);
  });

  test("a mix-up: a callback that names another issuer", async () => {
    const browser = new Browser();
    const state = (await authorizeUrlOf(server.url, "provider_b", browser)).searchParams.get("state");
    const callback = `${server.url}/auth/oauth/provider_b/callback?state=${state}&code=x&iss=https://evil.example.com`;
    expect((await land(new URL(callback), browser)).parameters).toEqual(PROVIDER_ERROR);
  });
});

describe("O9: responses of provider_a", () => {
  const token = json(200, { access_token: "gho_test", token_type: "bearer", scope: "read:user,user:email" });
  const user = (id: number) => json(200, { id, login: "vera", name: null });
  const emails = (email: string) => json(200, [{ email, primary: true, verified: true }]);
  const id = () => Math.floor(Math.random() * 1e12) + 1;

  test("sign in by the primary and verified address only", async () => {
    const primary = newEmail();
    github.routes.set("/login/oauth/access_token", token);
    github.routes.set("/user", user(id()));
    const list = [
      { email: newEmail(), primary: false, verified: true },
      { email: primary, primary: true, verified: true },
    ];
    github.routes.set("/user/emails", json(200, list));
    const { parameters } = await throughGithub();
    expect((await me(server.url, parameters.accessToken ?? "")).body.data.user).toMatchObject({ email: primary });
    github.routes.set("/user", user(id()));
    github.routes.set("/user/emails", json(200, [list[0], { ...list[1], email: newEmail(), verified: false }]));
    expect((await throughGithub()).parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
  });

  test("O2: an error with status 200, as GitHub reports it", async () => {
    github.routes.set(
      "/login/oauth/access_token",
      json(200, { error: "bad_verification_code", error_description: PROSE }),
    );
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    await expect.poll(server.output).toContain('"providerReason":"token: bad_verification_code"');
    expect(server.output()).not.toContain(PROSE);
  });

  test("an error beside a token is an error", async () => {
    const both = { error: "bad_verification_code", access_token: "gho_test", token_type: "bearer" };
    github.routes.set("/login/oauth/access_token", json(200, both));
    github.routes.set("/user", user(id()));
    github.routes.set("/user/emails", emails(newEmail()));
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
  });

  test.each([
    ["a 500 of the token endpoint", "/login/oauth/access_token", json(500, { message: PROSE })],
    ["a response without a token", "/login/oauth/access_token", json(200, { token_type: "bearer" })],
    ["a 500 of the profile", "/user", json(500, { message: PROSE })],
    ["a profile without an id", "/user", json(200, { login: PROSE })],
    ["a profile that is not an object", "/user", json(200, PROSE)],
    ["a 500 of the addresses", "/user/emails", json(500, { message: PROSE })],
    ["addresses that are not a list", "/user/emails", json(200, { email: PROSE })],
  ])("%s", async (_name, path, answer) => {
    github.routes.set("/login/oauth/access_token", token);
    github.routes.set("/user", user(id()));
    github.routes.set("/user/emails", emails(newEmail()));
    github.routes.set(path, answer);
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    expect(server.output()).not.toContain(PROSE);
  });

  test("without the scope of addresses there is no account, and an existing link still signs in", async () => {
    const known = id();
    github.routes.set("/login/oauth/access_token", token);
    github.routes.set("/user", user(known));
    github.routes.set("/user/emails", json(404, { message: "Not Found" }));
    expect((await throughGithub()).parameters).toEqual({ error: "OAUTH_EMAIL_UNVERIFIED" });
    github.routes.set("/user/emails", emails(newEmail()));
    expect((await throughGithub()).parameters.isNewUser).toBe("true");
    github.routes.set("/user/emails", json(404, { message: "Not Found" }));
    expect((await throughGithub()).parameters.isNewUser).toBe("false");
  });

  test("HTML, a redirect and an endless response", async () => {
    github.routes.set("/login/oauth/access_token", (_request, response) => {
      response.writeHead(200, { "Content-Type": "text/html" }).end(`<h1>${PROSE}</h1>`);
    });
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    github.routes.set("/login/oauth/access_token", (_request, response) => {
      response.writeHead(307, { Location: "http://evil.example.com/token" }).end();
    });
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    github.routes.set("/login/oauth/access_token", (_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
  });

  test("a timeout of 10 seconds, before the response and in the middle of it", async () => {
    github.routes.set("/login/oauth/access_token", () => {});
    const startedAt = Date.now();
    const silent = throughGithub();
    await new Promise((resolve) => setTimeout(resolve, 500));
    github.routes.set("/login/oauth/access_token", (_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" }).write('{"access_token":');
    });
    const stuck = throughGithub();
    expect((await silent).parameters).toEqual(PROVIDER_ERROR);
    expect((await stuck).parameters).toEqual(PROVIDER_ERROR);
    expect(Date.now() - startedAt).toBeGreaterThan(9_900);
    expect(Date.now() - startedAt).toBeLessThan(14_000);
    await expect.poll(server.output).toContain('"providerReason":"connection: TimeoutError"');
  });

  test("the 10 seconds apply to all calls of a callback together", async () => {
    github.routes.set("/login/oauth/access_token", (request, response) => {
      setTimeout(() => token(request, response), 6_000);
    });
    github.routes.set("/user", () => {});
    github.routes.set("/user/emails", emails(newEmail()));
    const startedAt = Date.now();
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    expect(Date.now() - startedAt).toBeGreaterThan(9_900);
    expect(Date.now() - startedAt).toBeLessThan(14_000);
  });

  test("no server at all", async () => {
    const { stop } = github;
    await stop();
    expect((await throughGithub()).parameters).toEqual(PROVIDER_ERROR);
    github = await startFakeGithub();
  });
});

describe("a service with other settings", () => {
  async function serviceWith(env: Readonly<Record<string, string>>): Promise<TestServer> {
    return startServer({ env: { FRONTEND_URL: FRONTEND, ...env } });
  }

  test("without client ids returns OAUTH_NOT_CONFIGURED, and redirects a browser or callback to the frontend with it", async () => {
    const bare = await serviceWith({});
    for (const provider of ["provider_a", "provider_b"] as const) {
      const answer = await call(bare.url, `/auth/oauth/${provider}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, "OAUTH_NOT_CONFIGURED"]);
      const seen = await fetch(`${bare.url}/auth/oauth/${provider}`, {
        headers: { Accept: "text/html,*/*;q=0.8" },
        redirect: "manual",
      });
      expect(seen.headers.get("Location")).toBe(`${FRONTEND}/auth/callback?error=OAUTH_NOT_CONFIGURED`);
      const callback = new URL(`${bare.url}/auth/oauth/${provider}/callback?state=x&code=y`);
      expect((await land(callback, new Browser())).parameters).toEqual({ error: "OAUTH_NOT_CONFIGURED" });
    }
    await bare.stop();
  });

  test("redirects a limited callback to the frontend, and returns 429 for a limited start", async () => {
    const limited = await serviceWith({ AUTH_LIMIT: "1" });
    const callback = new URL(`${limited.url}/auth/oauth/provider_a/callback`);
    expect((await land(callback, new Browser())).parameters).toEqual({ error: "OAUTH_NOT_CONFIGURED" });
    const landing = await land(callback, new Browser());
    expect(landing.parameters).toEqual({ error: "RATE_LIMITED" });
    expect(landing.response.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(landing.response.headers.get("Retry-After")).not.toBeNull();
    expect((await call(limited.url, "/auth/oauth/provider_a")).status).toBe(429);
    await limited.stop();
  });

  test("an unreachable or falsely named issuer is a provider's error at the start", async () => {
    const unreachable = await serviceWith({
      PROVIDER_B_CLIENT_ID: "x",
      PROVIDER_B_ISSUER: `http://127.0.0.1:${await freePort()}`,
    });
    const answer = await new Browser().request(`${unreachable.url}/auth/oauth/provider_b`);
    expect(answer.headers.get("Location")).toBe(`${FRONTEND}/auth/callback?error=OAUTH_PROVIDER_ERROR`);
    await unreachable.stop();
    const forger = await startForgingIssuer();
    const fooled = await serviceWith({ PROVIDER_B_CLIENT_ID: "x", PROVIDER_B_ISSUER: forger.url });
    const forgeries: Record<string, string>[] = [
      { issuer: "https://evil.example.com" },
      { authorization_endpoint: "http://evil.example.com/authorize" },
      { authorization_endpoint: "javascript:alert(1)" },
    ];
    for (const forged of forgeries) {
      forger.reset();
      forger.forgeDiscovery(({ body }) => Object.assign(body, forged));
      const refused = await new Browser().request(`${fooled.url}/auth/oauth/provider_b`);
      expect(refused.headers.get("Location")).toBe(`${FRONTEND}/auth/callback?error=OAUTH_PROVIDER_ERROR`);
    }
    await fooled.stop();
    await forger.stop();
  });
});
