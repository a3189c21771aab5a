import { randomBase62 } from "../ids.ts";

/**
 * The cause of a piece of work. Plain data: the router passes it to an object as the last argument of a call. Calls of
 * older routers may lack it; see `originOrNew`.
 */
export interface Origin {
  /**
   * `X-Request-Id` of the request (at most 128 printable ASCII characters), or `run_...` if no request is the cause.
   */
  requestId: string;
  /** Client IP as limits count it; `null` if no client is the cause. */
  address: string | null;
}

/** Returns the origin of work that an object starts itself, with one id for all events of an alarm run. */
export function newAlarmOrigin(): Origin {
  return { requestId: `run_${randomBase62(16)}`, address: null };
}

/**
 * Returns the origin of a call.
 * @param origin absent in calls of older versions
 */
export function originOrNew(origin: Origin | undefined): Origin {
  return origin ?? newAlarmOrigin();
}
