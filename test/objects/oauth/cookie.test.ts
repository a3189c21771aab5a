import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../../src/routes/app.ts";

const SECURE = {
  BASE_URL: "https://logs.example.com",
  MAILER: "cloudflare",
  MAIL_FROM: "logs@example.com",
  PROVIDER_A_CLIENT_ID: "client",
};

async function fetchWith(path: string, headers: Record<string, string> = {}, settings: object = {}): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://logs.example.com${path}`, { headers });
  const response = await app.fetch(request, { ...env, ...SECURE, ...settings }, context);
  await waitOnExecutionContext(context);
  return response;
}

it("O1: over https the cookie has the prefix __Host- and all that it demands", async () => {
  const response = await fetchWith("/auth/oauth/provider_a");
  expect(response.status).toBe(302);
  const authorizeUrl = new URL(response.headers.get("Location") ?? "");
  expect(authorizeUrl.origin + authorizeUrl.pathname).toBe("https://github.com/login/oauth/authorize");
  expect(authorizeUrl.searchParams.get("redirect_uri")).toBe("https://logs.example.com/auth/oauth/provider_a/callback");
  expect(response.headers.get("Set-Cookie")).toMatch(
    /^__Host-taffrail_oauth_[\w-]{12}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
});

it("O1: a cookie of the plain name does not stand for it", async () => {
  const started = await fetchWith("/auth/oauth/provider_a");
  const cookie = started.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const state = new URL(started.headers.get("Location") ?? "").searchParams.get("state");
  const planted = { Cookie: cookie.replace("__Host-", "") };
  const response = await fetchWith(`/auth/oauth/provider_a/callback?state=${state}&error=access_denied`, planted);
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=OAUTH_STATE_INVALID");
});

/** Calls the callback of a flow that was begun in this browser. */
async function comeBack(more: string, settings: object = {}, ip = "203.0.113.76"): Promise<Response> {
  const from = { "CF-Connecting-IP": ip };
  const started = await fetchWith("/auth/oauth/provider_a", from, settings);
  const cookie = started.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const state = new URL(started.headers.get("Location") ?? "").searchParams.get("state");
  return fetchWith(`/auth/oauth/provider_a/callback?state=${state}&${more}`, { ...from, Cookie: cookie }, settings);
}

it("O1: a flow that failed takes its cookie with it", async () => {
  const response = await comeBack("error=access_denied");
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=OAUTH_ACCESS_DENIED");
  expect(response.headers.get("Set-Cookie")).toMatch(/^__Host-taffrail_oauth_[\w-]{12}=; Max-Age=0; /);
});

it("O1: a callback that was limited used nothing up, and leaves the cookie", async () => {
  const response = await comeBack("code=c", { AUTH_LIMIT: "1" }, "203.0.113.77");
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=RATE_LIMITED");
  expect(response.headers.get("Set-Cookie")).toBeNull();
});

it("O9: a fault of ours goes to the frontend as INTERNAL_ERROR, and is logged as an error", async () => {
  const { DB: _gone, ...rest } = env;
  const context = createExecutionContext();
  const request = new Request(`https://logs.example.com/auth/oauth/provider_a/callback?state=${"A".repeat(43)}`);
  const response = await app.fetch(request, { ...rest, ...SECURE, DB: null }, context);
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=INTERNAL_ERROR");
});
