import type { Context } from "hono";
import type { Env } from "../env.ts";
import { randomBase62 } from "../ids.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import { clientIp } from "../platform/loopback.ts";
import type { Origin } from "../platform/origin.ts";
import type { Settings } from "../settings.ts";
import { refuse } from "./errors.ts";

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

/**
 * Sets the limit state that the headers of the response show; `null` keeps the earlier one. The only place that sets it,
 * so that a request that was counted once is never counted again elsewhere.
 */
export function noteLimit(c: Context<AppEnv>, limit: LimitState | null | undefined): void {
  if (limit) c.set("limit", limit);
}

/** Sets the limit state and ends the request with 429 if the limit is used up. */
export function refuseIfLimited(c: Context<AppEnv>, limit: LimitState | null | undefined): void {
  noteLimit(c, limit);
  if (limit?.admitted === false) refuse("RATE_LIMITED", "Too many requests");
}

/** The request as the cause of what it makes objects do. */
export function originOf(c: Context<AppEnv>): Origin {
  return { requestId: c.get("requestId"), address: clientAddress(c) };
}

/** The client's address, as limits count it and sessions and activity show it. */
export function clientAddress(c: Context<AppEnv>): string {
  return clientIp(c.req.raw.headers, c.get("settings").DEFAULT_CLIENT_IP);
}

/**
 * Lets work come to its end although its client disconnects. The runtime drops a request whose client has gone without
 * running its `finally` blocks, and what they would have released stays taken.
 */
export function finishAfterDisconnect<T>(c: Context<AppEnv>, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return work;
}

/** Longest `X-Request-Id` that is echoed; longer or unprintable ones are replaced. */
const REQUEST_ID_MAX = 128;
const PRINTABLE_ASCII = /^[\x21-\x7e]+$/;

/** The caller's request id if it is sane, else a new one. */
export function requestIdOf(header: string | null | undefined): string {
  if (header && header.length <= REQUEST_ID_MAX && PRINTABLE_ASCII.test(header)) return header;
  return `req_${randomBase62(16)}`;
}
