/** Growing delay between attempts: doubled with every attempt, up to a maximum. */
export interface Backoff {
  /** Milliseconds after the first attempt. */
  firstMs: number;
  maxMs: number;
}

/**
 * Returns the delay before the next attempt, in milliseconds.
 * @param retries attempts before the last one, from 0
 */
export function delayOf({ firstMs, maxMs }: Backoff, retries: number): number {
  return Math.min(firstMs * 2 ** retries, maxMs);
}

/** Shortens a delay by a random part, at most half of it, so that callers that failed together return apart. */
export function jittered(delayMs: number, random: () => number): number {
  return delayMs / 2 + (random() * delayMs) / 2;
}
