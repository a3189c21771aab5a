import type { ApiKey, Page } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";

/** Days without use after which a key is listed as unused. */
export const UNUSED_DAYS = 30;
const UNUSED_MS = UNUSED_DAYS * 24 * 60 * 60 * 1000;
/** Keys of a page: the most of the API. */
const PAGE = 200;
/** Keys that are listed, of each kind. */
const LISTED = 6;

export interface KeyUse {
  /** Keys that were neither created nor used in the last days. */
  unused: readonly ApiKey[];
  /** Younger keys that were never used. */
  young: readonly ApiKey[];
  /** Whether there are more than those. */
  hasMore: boolean;
}

/** Loads the keys without use: with one request, or two if the workspace has more keys than a page. */
export async function loadKeyUse(workspaceId: string, signal: AbortSignal): Promise<KeyUse> {
  const get = async (parameters: string): Promise<Page<ApiKey>> =>
    (await authorized<Page<ApiKey>>(`/workspaces/${workspaceId}/keys?${parameters}`, { signal })).data;
  const all = await get(`limit=${PAGE}`);
  if (all.nextCursor === null) return keyUse(all.items, Date.now());
  // The young ones are not looked for among so many.
  const { items, nextCursor } = await get(`unusedForDays=${UNUSED_DAYS}&limit=${LISTED}`);
  return { unused: items, young: [], hasMore: nextCursor !== null };
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
