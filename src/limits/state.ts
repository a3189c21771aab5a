/** The verdict of a limit check, as it travels from an object to the response headers. */
export interface LimitState {
  admitted: boolean;
  /** Requests (or, for a cost other than 1, units) allowed per window. */
  limit: number;
  /** Units left in the window after this request. */
  remaining: number;
  /** Wall-clock epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
  /** Milliseconds until this very request would fit; 0 when admitted. */
  retryAfter: number;
}

/** The route a request fell on: what the limit cascade is decided by. */
export interface RouteRef {
  method: string;
  /** The pattern as registered, e.g. `/logger/:projectId/log`. */
  pattern: string;
  /** The literal path, without the query string. */
  path: string;
  /** Of the request, for the line of a violation; absent where the router is of an older version. */
  requestId?: string;
}

/** Preset AUTH: every `/auth/*` route, per client IP. The number is the setting AUTH_LIMIT; 5 in the interface. */
export const AUTH_WINDOW_SECONDS = 60;

/** Preset API_DEFAULT: what applies to a workspace without a configuration of its own. */
export const API_DEFAULT = { limit: 1000, windowSeconds: 60 } as const;
