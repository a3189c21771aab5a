import { createHash, createHmac } from "node:crypto";
import { ID_LENGTH, isBase62, isId } from "../ids.ts";
import type { TokenMailKind } from "../mail/mail.ts";

/**
 * A one-time token is `vt_` + locator + secret:
 *
 *   locator = 12 characters of the id whose object stores the token (a user's); absent if the address has no account
 *   secret  = base64url of HMAC-SHA256 over 32 random bytes (the seed), keyed from the pepper
 *
 * Only its SHA-256 is stored. The seed is kept with the pending mail until the mail is sent: neither a dump of an
 * object's storage nor the pepper alone yields a token.
 */
const PREFIX = "vt_";
const SECRET = /^[A-Za-z0-9_-]{43}$/;

const SEED_BYTES = 32;

export type TokenPurpose = TokenMailKind;

const MINUTE_MS = 60_000;

/** Lifetime of a token by purpose, in milliseconds. */
export const TOKEN_LIFETIME_MS: Record<TokenPurpose, number> = {
  "verify-email": 24 * 60 * MINUTE_MS,
  "reset-password": 60 * MINUTE_MS,
  "magic-link": 10 * MINUTE_MS,
};

export interface OpenedOneTimeToken {
  /** The user whose object stores the token; `null` if the directory stores it. */
  userId: string | null;
  hash: Uint8Array;
}

export function newSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

/** Derives the token of a seed. `ownerId` names the object that stores it; `null` for the directory. */
export function mintOneTimeToken(ownerId: string | null, seed: Uint8Array, pepper: string): string {
  const key = createHmac("sha256", pepper).update("taffrail one-time token").digest();
  const secret = createHmac("sha256", key).update(seed).digest("base64url");
  return `${PREFIX}${ownerId?.slice(ownerId.indexOf("_") + 1) ?? ""}${secret}`;
}

/** Returns where a token is stored, and its hash; `null` for a text that is not a token. */
export function openOneTimeToken(token: string): OpenedOneTimeToken | null {
  if (!token.startsWith(PREFIX)) return null;
  const rest = token.slice(PREFIX.length);
  const located = rest.length === ID_LENGTH + 43;
  const locator = located ? rest.slice(0, ID_LENGTH) : "";
  if (!SECRET.test(rest.slice(locator.length)) || !isBase62(locator)) return null;
  const userId = located ? `usr_${locator}` : null;
  if (userId !== null && !isId("usr", userId)) return null;
  return { userId, hash: hashOneTimeToken(token) };
}

export function hashOneTimeToken(token: string): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(token).digest());
}
