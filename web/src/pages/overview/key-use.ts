import type { ApiKey } from "../../model/types.ts";
import { LISTED } from "./now.ts";

/** Days without use after which a key is listed as unused. */
export const UNUSED_DAYS = 30;
const UNUSED_MS = UNUSED_DAYS * 24 * 60 * 60 * 1000;

export interface KeyUse {
  /** Keys that were neither created nor used in the last days. */
  unused: readonly ApiKey[];
  /** Younger keys that were never used. */
  young: readonly ApiKey[];
  /** Whether there are more than those. */
  hasMore: boolean;
}

/** Tells the keys without use in a list of all keys. @param now epoch milliseconds */
export function keyUse(keys: readonly ApiKey[], now: number): KeyUse {
  const since = now - UNUSED_MS;
  const unused = keys.filter(({ lastUsedAt, createdAt }) => Date.parse(lastUsedAt ?? createdAt) < since);
  const young = keys.filter(({ lastUsedAt, createdAt }) => lastUsedAt === null && Date.parse(createdAt) >= since);
  return {
    unused: unused.slice(0, LISTED),
    young: young.slice(0, LISTED),
    hasMore: Math.max(unused.length, young.length) > LISTED,
  };
}
