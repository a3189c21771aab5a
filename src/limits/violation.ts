/** One refused request, with the limit that refused it. */
export interface RefusedRequest {
  /** `key:<keyId>`, `user:<userId>` or `ip:<address>`. */
  identifier: string;
  /** Method and path of a rule as set, `default`, or the name of a preset. */
  rule: string;
  limit: number;
  windowSeconds: number;
  /** Of the request; absent where the router is of an older version. */
  requestId?: string | undefined;
}

/**
 * All refusals of one identifier under one rule within one minute; the limit is that of the last one, the request id that
 * of the first. The id is for operation lines: it is kept in memory only, and not written to D1.
 */
export interface Violation extends RefusedRequest {
  /** Minutes since the epoch. */
  minute: number;
  count: number;
  /** Epoch milliseconds of the first and the last refusal. */
  firstAt: number;
  lastAt: number;
}

const MINUTE_MS = 60_000;

export function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** When a minute is over. */
export function minuteEnd(minute: number): number {
  return (minute + 1) * MINUTE_MS;
}

/**
 * A message of the violations queue: the object that refused (a workspace id, `usr_...` or `ip:<address>`), what it refused
 * so far, and the request that was refused first (absent in a message of an older version). Counts only rise, so a
 * message that comes twice or late changes nothing.
 */
export type ViolationMessage = readonly [object: string, violations: readonly Violation[], requestId?: string | null];
