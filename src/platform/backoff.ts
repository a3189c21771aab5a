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
