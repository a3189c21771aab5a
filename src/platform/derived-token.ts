import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * A token that is derived instead of stored: `<prefix><text>_<macs>`, both parts base64url.
 *
 *   text  = routes to the object that decides about the token, and names it there
 *   macs  = inner MAC (32 bytes) and outer MAC (32 bytes)
 *   inner = HMAC-SHA256 over the text, keyed from the pepper and a key of the object: only the object can verify it
 *   outer = HMAC-SHA256 over text and inner, keyed from the pepper: verified by the router, so a forgery reaches no
 *   object
 *
 * A token can be derived again from the object's key and the pepper, so it is never stored: neither a dump of the object's
 * storage nor the pepper alone yields one. The encoded text must not contain `_`: base64url of ids, dots and digits never does.
 */
export interface TokenFormat {
  prefix: string;
  /** Separates the uses of the pepper. */
  label: string;
}

const MAC_BYTES = 32;

/** A token with a valid outer MAC: this service has issued it. */
export interface OpenedToken {
  text: string;
  innerMac: Uint8Array;
}

/** @param key of a fixed length, so that the parts of the inner MAC cannot shift */
export function mintToken({ prefix, label }: TokenFormat, text: string, key: Uint8Array, pepper: string): string {
  const body = bodyOf(text);
  const inner = innerMac(label, body, key, pepper);
  return `${prefix}${body}_${Buffer.concat([inner, outerMac(label, body, inner, pepper)]).toString("base64url")}`;
}

/** Opens a token; `null` if it is forged, malformed or spelled otherwise than minted. */
export function openToken({ prefix, label }: TokenFormat, token: string, pepper: string): OpenedToken | null {
  const cut = token.indexOf("_", prefix.length);
  if (!token.startsWith(prefix) || cut < 0) return null;
  const body = token.slice(prefix.length, cut);
  const macs = Buffer.from(token.slice(cut + 1), "base64url");
  if (macs.length !== 2 * MAC_BYTES || macs.toString("base64url") !== token.slice(cut + 1)) return null;
  const inner = macs.subarray(0, MAC_BYTES);
  if (!timingSafeEqual(macs.subarray(MAC_BYTES), outerMac(label, body, inner, pepper))) return null;
  return { text: Buffer.from(body, "base64url").toString(), innerMac: Uint8Array.from(inner) };
}

/** Whether an opened token was made with a key of the object; called in the object. */
export function isMadeWith(
  { label }: TokenFormat,
  { text, innerMac: presented }: OpenedToken,
  key: Uint8Array,
  pepper: string,
): boolean {
  const expected = innerMac(label, bodyOf(text), key, pepper);
  return presented.length === MAC_BYTES && timingSafeEqual(presented, expected);
}

function bodyOf(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function innerMac(label: string, body: string, key: Uint8Array, pepper: string): Buffer {
  const inner = createHmac("sha256", pepper).update(`${label} inner`).update(key).digest();
  return createHmac("sha256", inner).update(body).digest();
}

function outerMac(label: string, body: string, inner: Uint8Array, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update(`${label} outer`).digest();
  return createHmac("sha256", key).update(body).update(inner).digest();
}
