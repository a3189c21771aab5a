import { createHmac } from "node:crypto";
import fc from "fast-check";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it } from "vitest";
import { type AccessTokenSettings, mintAccessToken, verifyAccessToken } from "../../../src/accounts/access-token.ts";

const settings: AccessTokenSettings = {
  BASE_URL: "https://logs.example.com",
  JWT_SECRET: "current-secret-current-secret-01",
  JWT_SECRET_PREVIOUS: "previous-secret-previous-secret1",
};
const claims = { userId: "usr_0123456789ab", sessionId: "fam_0123456789ab" };
const NOW = Date.UTC(2026, 10, 1);
const INVALID = { ok: false, code: "INVALID_ACCESS_TOKEN" };

/** Builds a JWT by hand, so that no library's checks stop a forgery. */
function forge(header: object, payload: object, secret: string | null): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${secret === null ? "" : createHmac("sha256", secret).update(input).digest("base64url")}`;
}

const minted = await mintAccessToken(claims, settings, NOW);
const header = decodeProtectedHeader(minted);
const payload = decodeJwt(minted);
const { exp: _exp, ...withoutExp } = payload;
const { sid: _sid, ...withoutSid } = payload;
const { jti: _jti, ...withoutJti } = payload;

describe("access tokens", () => {
  it("contain the documented claims", () => {
    expect(header).toEqual({ alg: "HS256", typ: "at+jwt", kid: expect.any(String) });
    expect(payload).toEqual({
      iss: "https://logs.example.com",
      aud: "taffrail-api",
      sub: claims.userId,
      sid: claims.sessionId,
      jti: expect.any(String),
      iat: NOW / 1000,
      exp: NOW / 1000 + 900,
    });
  });

  it("are valid for exactly 900 seconds", async () => {
    expect(await verifyAccessToken(minted, settings, NOW)).toEqual({ ok: true, ...claims });
    expect(await verifyAccessToken(minted, settings, NOW + 899_999)).toEqual({ ok: true, ...claims });
    expect(await verifyAccessToken(minted, settings, NOW + 900_000)).toEqual({
      ok: false,
      code: "ACCESS_TOKEN_EXPIRED",
    });
  });

  it("forged with the right secret and claims would pass, so each forgery below fails for its fault", async () => {
    const token = forge(header, payload, settings.JWT_SECRET);
    expect(await verifyAccessToken(token, settings, NOW)).toEqual({ ok: true, ...claims });
  });

  it.each([
    ["another secret", forge(header, payload, "another-secret-another-secret-01")],
    ["alg none", forge({ ...header, alg: "none" }, payload, null)],
    ["alg none, signed", forge({ ...header, alg: "none" }, payload, settings.JWT_SECRET)],
    ["alg HS512 in name", forge({ ...header, alg: "HS512" }, payload, settings.JWT_SECRET)],
    ["alg RS256 in name", forge({ ...header, alg: "RS256" }, payload, settings.JWT_SECRET)],
    ["typ JWT", forge({ ...header, typ: "JWT" }, payload, settings.JWT_SECRET)],
    ["no typ", forge({ alg: "HS256", kid: header.kid }, payload, settings.JWT_SECRET)],
    ["no kid", forge({ alg: "HS256", typ: "at+jwt" }, payload, settings.JWT_SECRET)],
    ["unknown kid", forge({ ...header, kid: "other" }, payload, settings.JWT_SECRET)],
    ["kid constructor", forge({ ...header, kid: "constructor" }, payload, settings.JWT_SECRET)],
    ["a critical extension", forge({ ...header, crit: ["b64"], b64: false }, payload, settings.JWT_SECRET)],
    ["another audience", forge(header, { ...payload, aud: "other-api" }, settings.JWT_SECRET)],
    ["another issuer", forge(header, { ...payload, iss: "https://evil.example.com" }, settings.JWT_SECRET)],
    ["no exp", forge(header, withoutExp, settings.JWT_SECRET)],
    ["no sid", forge(header, withoutSid, settings.JWT_SECRET)],
    ["no jti", forge(header, withoutJti, settings.JWT_SECRET)],
    ["exp as text", forge(header, { ...payload, exp: "never" }, settings.JWT_SECRET)],
    ["a payload that is not an object", forge(header, [payload], settings.JWT_SECRET)],
    ["no signature", minted.slice(0, minted.lastIndexOf(".") + 1)],
    ["a refresh token", "rt_dXNyXzEyMw_AAAA"],
    ["an API key", "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"],
    ["nothing", ""],
  ])("with %s is INVALID_ACCESS_TOKEN", async (_fault, token) => {
    expect(await verifyAccessToken(token, settings, NOW)).toEqual(INVALID);
    // The fault is reported after the expiry, too: only a genuine token is called expired.
    expect(await verifyAccessToken(token, settings, NOW + 3_600_000)).toEqual(INVALID);
  });

  it("of a subject or session that cannot be one are INVALID_ACCESS_TOKEN", async () => {
    for (const odd of [{ sub: "ws_0123456789ab" }, { sub: 7 }, { sid: claims.userId }, { sid: null }]) {
      const token = forge(header, { ...payload, ...odd }, settings.JWT_SECRET);
      expect(await verifyAccessToken(token, settings, NOW)).toEqual(INVALID);
    }
  });

  it("of the previous secret verify, and are never minted", async () => {
    const before = await mintAccessToken(claims, { ...settings, JWT_SECRET: settings.JWT_SECRET_PREVIOUS ?? "" }, NOW);
    expect(await verifyAccessToken(before, settings, NOW)).toEqual({ ok: true, ...claims });
    const { JWT_SECRET_PREVIOUS: _gone, ...current } = settings;
    expect(await verifyAccessToken(before, current, NOW)).toEqual(INVALID);
    expect(await verifyAccessToken(minted, current, NOW)).toEqual({ ok: true, ...claims });
  });

  it("that are malformed are refused without a throw", async () => {
    const part = fc.oneof(
      fc.base64String(),
      fc.string(),
      fc.json().map((text) => Buffer.from(text).toString("base64url")),
      fc.constantFrom(...minted.split(".")),
    );
    const token = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join(".")),
    );
    await fc.assert(
      fc.asyncProperty(token, async (text) => {
        fc.pre(text !== minted);
        expect(await verifyAccessToken(text, settings, NOW)).toEqual(INVALID);
      }),
      { numRuns: 2000 },
    );
  });
});
