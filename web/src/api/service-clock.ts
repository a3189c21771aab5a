import { signal } from "@preact/signals";

/** Milliseconds of difference that are not said: a response may have been on its way as long. */
const TOLERATED_MS = 300_000;
const MINUTE_MS = 60_000;

/**
 * Milliseconds by which the clock of this device was ahead of the service's at the last response, in whole minutes; below
 * 0 if it was behind, 0 if they differed by less than 5 minutes. Relative ranges such as the last 24 hours follow the
 * device.
 */
export const clockAhead = signal(0);

/** @param timestamp of a response, in ISO 8601 */
export function noteServiceTime(timestamp: string): void {
  const ahead = Date.now() - Date.parse(timestamp);
  clockAhead.value = Math.abs(ahead) > TOLERATED_MS ? Math.round(ahead / MINUTE_MS) * MINUTE_MS : 0;
}
