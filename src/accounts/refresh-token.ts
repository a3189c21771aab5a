import { createHmac, timingSafeEqual } from "node:crypto";
import { isId } from "../ids.ts";

/**
 * A refresh token is `rt_<body>_<macs>`, both parts base64url:
 *
 *   body  = userId.familyId.counter: routes to the user object and names one link of a family's chain
 *   macs  = inner MAC (32 bytes) and outer MAC (32 bytes)
 *   inner = HMAC-SHA256 over the body, keyed from the pepper and the family's own key: only the user object can check it
 *   outer = HMAC-SHA256 over body and inner, keyed from the pepper: the router checks it, so a forgery wakes no object
 *
 * It can be derived again from the family's row and the pepper, so it is never stored: neither a dump of the object's
 * storage nor the pepper alone makes one. The body cannot contain `_`: base64url of ids, dots and digits never does.
 */
const PREFIX = "rt_";
const MAC_BYTES = 32;
const COUNTER = /^[1-9]\d{0,14}$/;

/** One link of a family's chain; the counter starts at 1 and rises by one with every rotation. */
export interface RefreshLink {
  userId: string;
  familyId: string;
  counter: number;
}

/** A token whose outer MAC holds: made by this service, though perhaps superseded, revoked or of a family long gone. */
export interface OpenedRefreshToken extends RefreshLink {
  innerMac: Uint8Array;
}

export function mintRefreshToken(link: RefreshLink, familyKey: Uint8Array, pepper: string): string {
  const body = bodyOf(link);
  const inner = innerMac(body, familyKey, pepper);
  return `${PREFIX}${body}_${Buffer.concat([inner, outerMac(body, inner, pepper)]).toString("base64url")}`;
}

/** What the router does with a token; null for anything forged, malformed or spelled in another way than minted. */
export function openRefreshToken(token: string, pepper: string): OpenedRefreshToken | null {
  const cut = token.indexOf("_", PREFIX.length);
  if (!token.startsWith(PREFIX) || cut < 0) return null;
  const body = token.slice(PREFIX.length, cut);
  const macs = Buffer.from(token.slice(cut + 1), "base64url");
  if (macs.length !== 2 * MAC_BYTES || macs.toString("base64url") !== token.slice(cut + 1)) return null;
  const inner = macs.subarray(0, MAC_BYTES);
  if (!timingSafeEqual(macs.subarray(MAC_BYTES), outerMac(body, inner, pepper))) return null;
  const link = parseBody(body);
  return link && { ...link, innerMac: Uint8Array.from(inner) };
}

/** What the user object does with an opened token: whether its family's key made it. */
export function isOfFamily(token: OpenedRefreshToken, familyKey: Uint8Array, pepper: string): boolean {
  const expected = innerMac(bodyOf(token), familyKey, pepper);
  return token.innerMac.length === MAC_BYTES && timingSafeEqual(token.innerMac, expected);
}

function bodyOf({ userId, familyId, counter }: RefreshLink): string {
  return Buffer.from(`${userId}.${familyId}.${counter}`).toString("base64url");
}

function parseBody(body: string): RefreshLink | null {
  const [userId = "", familyId = "", counter = "", ...rest] = Buffer.from(body, "base64url").toString().split(".");
  if (rest.length > 0 || !isId("usr", userId) || !isId("fam", familyId) || !COUNTER.test(counter)) return null;
  return { userId, familyId, counter: Number(counter) };
}

/** The label keeps the two uses of the pepper apart; the family's key has a fixed length, so nothing can be shifted. */
function innerMac(body: string, familyKey: Uint8Array, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update("taffrail refresh inner").update(familyKey).digest();
  return createHmac("sha256", key).update(body).digest();
}

function outerMac(body: string, inner: Uint8Array, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update("taffrail refresh outer").digest();
  return createHmac("sha256", key).update(body).update(inner).digest();
}
