/** The result of a limit check, passed from an object to the response headers. */
export interface LimitState {
  admitted: boolean;
  /** Requests (or, for a cost other than 1, units) allowed per window. */
  limit: number;
  /** Units left in the window after this request. */
  remaining: number;
  /** Wall-clock epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
  /** Milliseconds until this request would fit; 0 if it was admitted. */
  retryAfter: number;
}

/** The route of a request, as input of the limit cascade. */
export interface RouteRef {
  method: string;
  /** The pattern as registered, e.g. `/logger/:projectId/log`. */
  pattern: string;
  /** The literal path, without the query string. */
  path: string;
  /** Id of the request, for the event of a violation; absent in calls of older routers. */
  requestId?: string;
}

/**
 * Window of the preset AUTH: every `/auth/*` route, per client IP. The limit is the setting AUTH_LIMIT, 5 in the
 * interface.
 */
export const AUTH_WINDOW_SECONDS = 60;

/** Preset API_DEFAULT: applies to workspaces without limits of their own. */
export const API_DEFAULT = { limit: 1000, windowSeconds: 60 } as const;
