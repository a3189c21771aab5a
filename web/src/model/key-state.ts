import type { ApiKey } from "./types.ts";

/** Days before its expiry from which a key is highlighted. */
const SOON_DAYS = 7;
const DAY_MS = 86_400_000;

export type KeyState = "active" | "ends soon" | "expired" | "deleted";

export function keyState({ revokedAt, expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return "deleted";
  if (expiresAt === null) return "active";
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return "expired";
  return left < SOON_DAYS * DAY_MS ? "ends soon" : "active";
}

export function hasEnded(key: ApiKey, now: number): boolean {
  const state = keyState(key, now);
  return state === "expired" || state === "deleted";
}
