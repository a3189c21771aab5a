import { randomBase62 } from "../ids.ts";

/**
 * What caused a piece of work. Plain data: it goes from the router to an object as the last argument of a call, which
 * may be of another version, so an object takes a call without one too (see `originOrNew`).
 */
export interface Origin {
  /** `X-Request-Id` of the request (at most 128 printable ASCII characters), or `run_...` where no request is the cause. */
  requestId: string;
  /** The client address as limits count it; null where no client is the cause. */
  address: string | null;
}

/** The origin of work that an object begins itself: one id for all lines of one run of its alarm. */
export function newAlarmOrigin(): Origin {
  return { requestId: `run_${randomBase62(16)}`, address: null };
}

/** @param origin left out by a caller of an older version */
export function originOrNew(origin: Origin | undefined): Origin {
  return origin ?? newAlarmOrigin();
}
