import { createHmac } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { isId, randomBase62 } from "../ids.ts";
import type { Settings } from "../settings.ts";

/** Lifetime of an access token, in seconds. */
export const ACCESS_TOKEN_SECONDS = 900;

/** RFC 9068: a JWT of another kind signed with the same secret must not pass for an access token. */
const TYPE = "at+jwt";
const ALGORITHM = "HS256";
/** The API as a resource. There is one, whatever host name a request uses. */
const AUDIENCE = "taffrail-api";
const REQUIRED_CLAIMS = ["iss", "aud", "sub", "sid", "jti", "iat", "exp"];

export type AccessTokenSettings = Pick<Settings, "BASE_URL" | "JWT_SECRET" | "JWT_SECRET_PREVIOUS">;

/** The subject of a token: a user, and the session (refresh family) that must still be valid. */
export interface AccessClaims {
  userId: string;
  sessionId: string;
}

export type AccessVerdict =
  | ({ ok: true } & AccessClaims)
  | { ok: false; code: "INVALID_ACCESS_TOKEN" | "ACCESS_TOKEN_EXPIRED" };

/** Signs a token that is valid for 15 minutes from `now` (epoch milliseconds). */
export async function mintAccessToken(
  claims: AccessClaims,
  settings: AccessTokenSettings,
  now: number,
): Promise<string> {
  const { signing } = await keysOf(settings);
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT({ sid: claims.sessionId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: signing.kid })
    .setIssuer(settings.BASE_URL)
    .setAudience(AUDIENCE)
    .setSubject(claims.userId)
    .setJti(randomBase62(22))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
    .sign(signing.key);
}

/** Verifies the signature and the claims of a token. Only the user object can tell whether its session is valid. */
export async function verifyAccessToken(
  token: string,
  settings: AccessTokenSettings,
  now: number,
): Promise<AccessVerdict> {
  const { accepted } = await keysOf(settings);
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => accepted.get(kid ?? "") ?? noKey(), {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: settings.BASE_URL,
      audience: AUDIENCE,
      requiredClaims: REQUIRED_CLAIMS,
      currentDate: new Date(now),
    });
    const { sub, sid } = payload;
    if (typeof sub !== "string" || typeof sid !== "string" || !isId("usr", sub) || !isId("fam", sid)) {
      return { ok: false, code: "INVALID_ACCESS_TOKEN" };
    }
    return { ok: true, userId: sub, sessionId: sid };
  } catch (error) {
    // Checks expiry last, so that only a genuine token is reported as expired.
    if (error instanceof errors.JWTExpired) return { ok: false, code: "ACCESS_TOKEN_EXPIRED" };
    if (error instanceof errors.JOSEError) return { ok: false, code: "INVALID_ACCESS_TOKEN" };
    throw error;
  }
}

interface Keys {
  signing: { kid: string; key: CryptoKey };
  /** By `kid`: the current secret and, until its tokens have expired, the previous one. */
  accepted: ReadonlyMap<string, CryptoKey>;
}

/** Keyed by the settings object. Holds values, not promises: a request must not wait for the I/O of another one. */
const cache = new WeakMap<AccessTokenSettings, Keys>();

async function keysOf(settings: AccessTokenSettings): Promise<Keys> {
  const known = cache.get(settings);
  if (known) return known;
  const signing = { kid: kidOf(settings.JWT_SECRET), key: await importSecret(settings.JWT_SECRET) };
  const accepted = new Map([[signing.kid, signing.key]]);
  const previous = settings.JWT_SECRET_PREVIOUS;
  if (previous !== undefined) accepted.set(kidOf(previous), await importSecret(previous));
  const keys = { signing, accepted };
  cache.set(settings, keys);
  return keys;
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

/** Returns an id of a secret. The id reveals no more about the secret than a signature does. */
function kidOf(secret: string): string {
  return createHmac("sha256", secret).update("taffrail access token kid").digest("base64url").slice(0, 8);
}

function noKey(): never {
  throw new errors.JWKSNoMatchingKey();
}
