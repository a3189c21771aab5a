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
  /** The limit of a refused request, for its response; absent if it was admitted, and in states of older objects. */
  refusedBy?: RefusedBy;
}

/** The counter under which a refused request counts. */
export interface RefusedBy {
  /** Method and path of a rule, `default`, or the name of a preset. */
  rule: string;
  windowSeconds: number;
  /** `key:<keyId>`, `user:<userId>`, `grant:<grantId>`, or one with a client IP. */
  identifier: string;
}

/** The route of a request, as input of the limit cascade. */
export interface RouteRef {
  method: string;
  /** The pattern as registered, e.g. `/logger/:projectId/log`. */
  pattern: string;
  /**
   * The literal path, without the query string. Empty if only the object knows the project of the key: the path is then the
   * pattern with that project.
   */
  path: string;
  /** Id of the request, for the event of a violation; absent in calls of older routers. */
  requestId?: string;
}

/** What a call counts under in its workspace. `earlier`: an earlier call, or another object, has counted the request. */
export type Charge = { by: "route"; route: RouteRef } | { by: "earlier" };

export const COUNTED: Charge = { by: "earlier" };

/** Members of a call to a workspace object that say what it counts under. The shape crosses versions during a deploy. */
export interface ChargedCall {
  /** Absent in calls of older routers. */
  charge?: Charge;
  /** @deprecated The earlier form of the charge, for older objects: the route, or `null` for `earlier`. */
  route: RouteRef | null;
}

/** Returns the members of a call, in both forms: an older object that found no route would not count the request. */
export function chargeMembers(charge: Charge): Required<ChargedCall> {
  return { charge, route: charge.by === "route" ? charge.route : null };
}

/** Returns what a call counts under. */
export function chargeOf({ charge, route }: ChargedCall): Charge {
  return charge ?? (route ? { by: "route", route } : COUNTED);
}

/**
 * Window of the preset AUTH: every `/auth/*` route, per client IP. The limit is the setting AUTH_LIMIT, 5 in the
 * interface.
 */
export const AUTH_WINDOW_SECONDS = 60;

/** Preset API_DEFAULT: applies to workspaces without their own limits. */
export const API_DEFAULT = { limit: 1000, windowSeconds: 60 } as const;
