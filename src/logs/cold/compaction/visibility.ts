import { PARTS } from "./policy.ts";

/**
 * When readers see a merged segment instead of those that it replaced.
 *
 * A read of several pages must see either all replaced segments or the merged one. So both have one time, some seconds after
 * the swap: a read sees the segments that were current at the time at which it began. The time is in the part number of a
 * merged segment, which all indices have, so that a search tests it without reading the row.
 */

/** Part numbers count seconds from here. */
const EPOCH = Date.UTC(2026, 0, 1);
const SECOND_MS = 1000;

/**
 * Milliseconds from the beginning of a merge until readers see it: two minutes to build and store the files, and twice
 * `SWAP_MS`.
 */
export const SWITCH_MS = 240_000;

/**
 * Milliseconds before readers see a merge in which its swap may no longer begin. Longer than a swap takes and than clocks
 * differ: a read that began before the swap never sees it.
 */
export const SWAP_MS = 60_000;

/**
 * Returns from when on readers see a merged segment, epoch milliseconds.
 * @param parts of the replaced segments. A later merge is visible later
 */
export function visibleFrom(now: number, parts: readonly number[]): number {
  const newest = Math.max(...parts.map((part) => Math.floor(part / PARTS)));
  const second = Math.max(Math.ceil((now + SWITCH_MS - EPOCH) / SECOND_MS), newest + 1);
  return EPOCH + second * SECOND_MS;
}

/**
 * Returns the part number of a merged segment.
 * @param part within its range, 0 to 3
 */
export function mergedPart(visibleFromMs: number, part: number): number {
  return ((visibleFromMs - EPOCH) / SECOND_MS) * PARTS + part;
}

/** Returns the largest part number that a read sees. @param readAt when the read began, epoch milliseconds */
export function lastVisiblePart(readAt: number): number {
  return Math.max(0, Math.floor((readAt - EPOCH) / SECOND_MS)) * PARTS + PARTS - 1;
}

/** Milliseconds for which a read sees the segments that were current when it began; replaced ones are kept for 15 minutes. */
export const READABLE_MS = 12 * 60 * 1000;
