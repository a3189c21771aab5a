import { createHash, createHmac } from "node:crypto";
import { ID_LENGTH, isBase62, isId } from "../ids.ts";
import type { TokenMailKind } from "../mail/mail.ts";

/**
 * A one-time token is `vt_` + locator + secret:
 *
 *   locator = the 12 characters of the id of whose object knows it (a user's); none while the address has no account
 *   secret  = base64url of HMAC-SHA256 over 32 random bytes (the seed), keyed from the pepper
 *
 * Only its SHA-256 is stored. The seed waits with the promised mail until that is sent: neither a dump of an object's
 * storage nor the pepper alone makes a token.
 */
const PREFIX = "vt_";
const SECRET = /^[A-Za-z0-9_-]{43}$/;

const SEED_BYTES = 32;

export type TokenPurpose = TokenMailKind;

const MINUTE_MS = 60_000;

/** Milliseconds that a token of a purpose is good for. */
export const TOKEN_LIFETIME_MS: Record<TokenPurpose, number> = {
  "verify-email": 24 * 60 * MINUTE_MS,
  "reset-password": 60 * MINUTE_MS,
  "magic-link": 10 * MINUTE_MS,
};

export interface OpenedOneTimeToken {
  /** Whose object knows the token; null where the directory does. */
  userId: string | null;
  hash: Uint8Array;
}

export function newSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

/** The token of a seed. `ownerId` names the object that knows it; null where the directory does. */
export function mintOneTimeToken(ownerId: string | null, seed: Uint8Array, pepper: string): string {
  const key = createHmac("sha256", pepper).update("taffrail one-time token").digest();
  const secret = createHmac("sha256", key).update(seed).digest("base64url");
  return `${PREFIX}${ownerId?.slice(ownerId.indexOf("_") + 1) ?? ""}${secret}`;
}

/** Where a token is to be looked up, and as what; null for anything that is not spelled like one. */
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
