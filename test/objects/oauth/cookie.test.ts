import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { hashOf } from "../../../src/accounts/oauth/flows.ts";
import { app } from "../../../src/routes/app.ts";
import { newIp } from "../client-ips.ts";

const SECURE = {
  BASE_URL: "https://logs.example.com",
  MAILER: "cloudflare",
  MAIL_FROM: "logs@example.com",
  PROVIDER_A_CLIENT_ID: "client",
};

async function fetchWith(
  path: string,
  headers: Record<string, string> = {},
  settings: object = {},
  method = "GET",
): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://logs.example.com${path}`, { method, headers });
  const response = await app.fetch(request, { ...env, ...SECURE, ...settings }, context);
  await waitOnExecutionContext(context);
  return response;
}

it("O1: over https the cookie has the prefix __Host- and its required attributes", async () => {
  const response = await fetchWith("/auth/oauth/provider_a");
  expect(response.status).toBe(302);
  const authorizeUrl = new URL(response.headers.get("Location") ?? "");
  expect(authorizeUrl.origin + authorizeUrl.pathname).toBe("https://github.com/login/oauth/authorize");
  expect(authorizeUrl.searchParams.get("redirect_uri")).toBe("https://logs.example.com/auth/oauth/provider_a/callback");
  expect(response.headers.get("Set-Cookie")).toMatch(
    /^__Host-taffrail_oauth_[\w-]{12}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
});

it("O1: a cookie of the plain name is not accepted instead", async () => {
  const started = await fetchWith("/auth/oauth/provider_a");
  const cookie = started.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const state = new URL(started.headers.get("Location") ?? "").searchParams.get("state");
  const planted = { Cookie: cookie.replace("__Host-", "") };
  const response = await fetchWith(`/auth/oauth/provider_a/callback?state=${state}&error=access_denied`, planted);
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=OAUTH_STATE_INVALID");
});

/** Requests the callback of a flow that began in this browser. */
async function comeBack(more: string, settings: object = {}, ip = newIp()): Promise<Response> {
  const from = { "CF-Connecting-IP": ip };
  const started = await fetchWith("/auth/oauth/provider_a", from, settings);
  const cookie = started.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const state = new URL(started.headers.get("Location") ?? "").searchParams.get("state");
  return fetchWith(`/auth/oauth/provider_a/callback?state=${state}&${more}`, { ...from, Cookie: cookie }, settings);
}

it("O1: a failed flow deletes its cookie", async () => {
  const response = await comeBack("error=access_denied");
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=OAUTH_ACCESS_DENIED");
  expect(response.headers.get("Set-Cookie")).toMatch(/^__Host-taffrail_oauth_[\w-]{12}=; Max-Age=0; /);
});

it("O1: a limited callback keeps the cookie of another flow", async () => {
  const [ip, settings] = [newIp(), { AUTH_LIMIT: "1" }];
  const from = { "CF-Connecting-IP": ip };
  const started = await fetchWith("/auth/oauth/provider_a", from, settings);
  const cookie = started.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const forged = `/auth/oauth/provider_a/callback?state=${"A".repeat(43)}&code=c`;
  const response = await fetchWith(forged, { ...from, Cookie: cookie }, settings);
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=RATE_LIMITED");
  expect(response.headers.get("Set-Cookie")).toBeNull();
});

describe("under AUTH a provider's callback", () => {
  const settings = { AUTH_LIMIT: "2" };
  const newAddress = () => ({ "CF-Connecting-IP": newIp() });
  const remaining = (response: Response) => Number(response.headers.get("X-RateLimit-Remaining"));
  const errorOf = (response: Response) => new URL(response.headers.get("Location") ?? "").searchParams.get("error");

  async function begun(from: Record<string, string>) {
    const response = await fetchWith("/auth/oauth/provider_a", from, settings);
    expect(response.status).toBe(302);
    const state = new URL(response.headers.get("Location") ?? "").searchParams.get("state") ?? "";
    const cookie = response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const callback = `/auth/oauth/provider_a/callback?state=${state}&error=access_denied`;
    return { state, comeBack: () => fetchWith(callback, { ...from, Cookie: cookie }, settings) };
  }

  it("is free with a genuine, unused state, even if the limit is used up", async () => {
    const from = newAddress();
    const [first, second] = [await begun(from), await begun(from)];
    expect((await fetchWith("/auth/oauth/provider_a", from, settings)).status).toBe(429);
    for (const { comeBack } of [first, second]) {
      const response = await comeBack();
      expect(errorOf(response)).toBe("OAUTH_ACCESS_DENIED");
      expect([response.headers.get("X-RateLimit-Limit"), remaining(response)]).toEqual(["2", 0]);
      expect(response.headers.get("Retry-After")).toBeNull();
    }
  });

  it("is free once: with a state that was used it counts", async () => {
    const from = newAddress();
    const { comeBack } = await begun(from);
    expect(remaining(await comeBack())).toBe(1);
    const again = await comeBack();
    expect([errorOf(again), remaining(again)]).toEqual(["OAUTH_STATE_INVALID", 0]);
    expect(errorOf(await comeBack())).toBe("RATE_LIMITED");
  });

  it("is free for one of many parallel callbacks with the same state", async () => {
    const from = newAddress();
    const { comeBack } = await begun(from);
    const answers = await Promise.all(Array.from({ length: 10 }, comeBack));
    const codes = answers.map(errorOf).sort();
    expect(codes).toEqual(["OAUTH_ACCESS_DENIED", "OAUTH_STATE_INVALID", ...Array(8).fill("RATE_LIMITED")]);
  });

  it.each([
    ["no state", "code=c"],
    ["a malformed state", "state=x&code=c"],
    ["a forged state", `state=${"A".repeat(43)}&code=c`],
    ["two states", `state=${"A".repeat(43)}&state=${"B".repeat(43)}`],
  ])("counts with %s", async (_, query) => {
    const from = newAddress();
    const path = `/auth/oauth/provider_a/callback?${query}`;
    expect(remaining(await fetchWith(path, from, settings))).toBe(1);
    expect(errorOf(await fetchWith(path, from, settings))).toBe("OAUTH_STATE_INVALID");
    expect(errorOf(await fetchWith(path, from, settings))).toBe("RATE_LIMITED");
  });

  it("counts with an expired state, and with HEAD, which uses no state up", async () => {
    const from = newAddress();
    const { state, comeBack } = await begun(from);
    const path = `/auth/oauth/provider_a/callback?state=${state}&error=access_denied`;
    const head = await fetchWith(path, from, settings, "HEAD");
    expect([head.status, remaining(head)]).toEqual([200, 0]);
    await env.DB.prepare("UPDATE oauth_flows SET expires_at = 1").run();
    expect(errorOf(await comeBack())).toBe("RATE_LIMITED");
  });

  it("is looked up in the database at most 1,000 times a minute per client IP; further ones count first", async () => {
    const from = newAddress();
    const ip = from["CF-Connecting-IP"];
    const { state, comeBack } = await begun(from);
    await fetchWith("/auth/oauth/provider_a", from, settings);
    await env.ADDRESSES.get(env.ADDRESSES.idFromName(`ip:${ip}`)).check(
      { identifier: `callback:${ip}`, cost: 1000, limit: 1000, windowSeconds: 60 },
      "API_DEFAULT",
    );
    expect(errorOf(await comeBack())).toBe("RATE_LIMITED");
    const kept = await env.DB.prepare("SELECT 1 FROM oauth_flows WHERE state_hash = ?").bind(hashOf(state)).first();
    expect(kept).not.toBeNull();
  });
});

it("O9: a fault of the service redirects to the frontend with INTERNAL_ERROR, and is logged as an error", async () => {
  const { DB: _gone, ...rest } = env;
  const context = createExecutionContext();
  const request = new Request(`https://logs.example.com/auth/oauth/provider_a/callback?state=${"A".repeat(43)}`);
  const response = await app.fetch(request, { ...rest, ...SECURE, DB: null }, context);
  expect(response.headers.get("Location")).toBe("https://logs.example.com/auth/callback?error=INTERNAL_ERROR");
});
