import { createHmac, timingSafeEqual } from "node:crypto";
import { isBase62, isId, randomBase62 } from "../ids.ts";

/**
 * The mark of a device that has signed in to an account (OWASP's device cookie): its logins have a counter of failures of
 * their own, so that failures of strangers cannot lock the owner out. It is no identity: without the password it opens
 * nothing. `dt_<body>_<mac>`, both base64url:
 *
 *   body = userId.deviceId.epoch.second of issue
 *   mac  = HMAC-SHA256 over body and e-mail address, keyed from the pepper
 *
 * It is bound to the address and to the account's epoch, which a new password moves. Nothing of it is stored.
 */
const PREFIX = "dt_";
const DEVICE_ID_LENGTH = 22;
const MAC_BYTES = 32;
const NUMBER = /^\d{1,15}$/;

/** Longer than any that is minted. What is longer is none, and must not be hashed. */
const MAX_LENGTH = 256;

/** Milliseconds that a mark is good for: 400 days, as long as browsers keep a cookie. Every sign-in gives a new one. */
export const DEVICE_TOKEN_MS = 400 * 24 * 60 * 60 * 1000;

export interface Device {
  userId: string;
  /** Names the counter of failures. */
  deviceId: string;
  epoch: number;
}

/** Marks the device that has just signed in. */
export function mintDeviceToken(
  { userId, email, epoch }: { userId: string; email: string; epoch: number },
  pepper: string,
  now: number,
): string {
  const parts = [userId, randomBase62(DEVICE_ID_LENGTH), epoch, Math.floor(now / 1000)];
  const body = Buffer.from(parts.join(".")).toString("base64url");
  return `${PREFIX}${body}_${macOf(body, email, pepper).toString("base64url")}`;
}

/** The device that a token marks for an address; null for one that is forged, of another address, or too old. */
export function openDeviceToken(token: string, email: string, pepper: string, now: number): Device | null {
  if (token.length > MAX_LENGTH || !token.startsWith(PREFIX)) return null;
  // The body has no `_`: base64url of ids, dots and digits never does.
  const cut = token.indexOf("_", PREFIX.length);
  if (cut < 0) return null;
  const body = token.slice(PREFIX.length, cut);
  const mac = Buffer.from(token.slice(cut + 1), "base64url");
  if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(body, email, pepper))) return null;
  const [userId = "", deviceId = "", epoch = "", issued = "", ...rest] = Buffer.from(body, "base64url")
    .toString()
    .split(".");
  const isWhole = rest.length === 0 && isId("usr", userId) && NUMBER.test(epoch) && NUMBER.test(issued);
  if (!isWhole || deviceId.length !== DEVICE_ID_LENGTH || !isBase62(deviceId)) return null;
  if (Number(issued) * 1000 + DEVICE_TOKEN_MS <= now) return null;
  return { userId, deviceId, epoch: Number(epoch) };
}

function macOf(body: string, email: string, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update("taffrail device token").digest();
  return createHmac("sha256", key).update(`${body}\n${email}`).digest();
}
