const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/** Milliseconds to wait before a try, by the number of those that failed, from 0: it doubles, less a random part up to half. */
export function backoff(failures: number, random: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 20), LONGEST_WAIT_MS) * (1 - random / 2);
}
