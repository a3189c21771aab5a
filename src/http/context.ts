import type { Env } from "../env.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import type { Settings } from "../settings.ts";

/** What one request carries from middleware to handler. */
export interface Variables {
  requestId: string;
  settings: Settings;
  /** The matched route; unset while no route has matched. */
  route: RouteRef;
  /** The limit state for the headers; null until a check has been made, and on routes of no group. */
  limit: LimitState | null;
  /** The caller of a JWT route; set by its guard, and unset on every other route. */
  user: { userId: string; sessionId: string };
  /** The workspace of a JWT route; set by its guard. */
  workspaceId: string;
  /** Fields for the request's operation line, added to by guards and handlers. */
  log: Record<string, string | number | boolean | null>;
}

export type AppEnv = { Bindings: Env; Variables: Variables };
