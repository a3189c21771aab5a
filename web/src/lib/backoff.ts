const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/**
 * Milliseconds to wait before the next attempt after `failures` failed ones (from 0). Doubles each time, less a random
 * part of up to half.
 */
export function backoff(failures: number, random: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 20), LONGEST_WAIT_MS) * (1 - random / 2);
}
