import type { LimitState } from "../limits/state.ts";

/** The three headers of every limited answer, and `Retry-After` (seconds, rounded up) on a refusal. */
export function limitHeaders(state: LimitState): Record<string, string> {
  const headers: Record<string, string> = {
    "X-RateLimit-Limit": String(state.limit),
    "X-RateLimit-Remaining": String(state.remaining),
    "X-RateLimit-Reset": String(Math.ceil(state.resetAt / 1000)),
  };
  if (!state.admitted) headers["Retry-After"] = String(Math.max(1, Math.ceil(state.retryAfter / 1000)));
  return headers;
}
