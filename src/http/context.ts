import type { Context } from "hono";
import type { Env } from "../env.ts";
import { randomBase62 } from "../ids.ts";
import type { LimitState, RefusedBy, RouteRef } from "../limits/state.ts";
import { clientIp } from "../platform/loopback.ts";
import type { Origin } from "../platform/origin.ts";
import type { Settings } from "../settings.ts";
import { type Refusal, refuseTooMany } from "./errors.ts";

/** State of one request, from middleware to handler. */
export interface Variables {
  requestId: string;
  settings: Settings;
  /** The matched route; unset until a route has matched. */
  route: RouteRef;
  /** The limit state for the headers; `null` until a check, and on routes of no group. Set by `noteLimit`. */
  limit: LimitState | null;
  /**
   * The caller of a JWT route; set by its guard, and unset on every other route. `method`: how the session was signed in,
   * where the route asks for it; `null` if the user object is of an older version.
   */
  user: { userId: string; sessionId: string; method?: string | null };
  /** The API key of a route that members and keys may call; set by its guard if the caller is a key. */
  key?: { kind: "key"; hash: string };
  /** The workspace of a JWT route; set by its guard. */
  workspaceId: string;
  /**
   * Admits and counts the request by a call of its own, or ends it. Set by a guard that leaves this to the handler's call;
   * `null` from that call on.
   */
  admit: (() => Promise<void>) | null;
  /** Checks the credential again, or ends the request. Set by guards of routes with an access token. */
  recheckSession?: () => Promise<void>;
  /** Makes the response of a refused request, on routes whose errors are not those of the API. Set by the route. */
  answerFailure?: (refusal: Refusal, requestId: string) => Response;
  /** Fields for the request's event, added by guards and handlers. */
  log: Record<string, string | number | boolean | null>;
}

export type AppEnv = { Bindings: Env; Variables: Variables };

/**
 * Sets the limit state that the headers of the response show; `null` keeps the earlier one. The only place that sets
 * it, so that a request that was counted once is never counted again elsewhere.
 */
export function noteLimit(c: Context<AppEnv>, limit: LimitState | null | undefined): void {
  if (limit) c.set("limit", limit);
}

/** Sets the limit state and ends the request with 429 if the limit is used up. */
export function refuseIfLimited(c: Context<AppEnv>, limit: LimitState | null | undefined): void {
  noteLimit(c, limit);
  if (limit?.admitted === false) refuseTooMany(limit.refusedBy && limitText(limit.limit, limit.refusedBy));
}

/** What an identifier names, by its prefix. */
const CALLERS: Readonly<Record<string, string>> = { key: "API key", user: "user", grant: "agent" };

function limitText(limit: number, { rule, windowSeconds, identifier }: RefusedBy): string {
  const [one, several] = rule === "SANDBOX_LOGS" ? ["entry", "entries"] : ["request", "requests"];
  const caller = CALLERS[identifier.split(":", 1)[0] ?? ""] ?? "client IP";
  return `At most ${limit} ${limit === 1 ? one : several} in ${windowSeconds} s for this ${caller} (rule: ${rule}).`;
}

/** Returns the bearer token of a request, or `null`. The scheme is case-insensitive (RFC 9110). */
export function bearerToken(c: Context<AppEnv>): string | null {
  return /^bearer +(\S.*)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? null;
}

/** Returns the request as the origin of the work that it causes in objects. */
export function originOf(c: Context<AppEnv>): Origin {
  return { requestId: c.get("requestId"), address: clientAddress(c) };
}

/** Returns the client IP, as limits count it and sessions and activity show it. */
export function clientAddress(c: Context<AppEnv>): string {
  return clientIp(c.req.raw.headers, c.get("settings").DEFAULT_CLIENT_IP);
}

/**
 * Finishes `work` even if the client disconnects. The runtime drops a request of a disconnected client without running
 * its `finally` blocks, so what they release would stay reserved.
 */
export function finishAfterDisconnect<T>(c: Context<AppEnv>, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return work;
}

/** Milliseconds after which a session is checked again if its request is still being received. */
const SESSION_HOLDS_MS = 1_000;

/**
 * Reads a body, and checks the session of the request again if that took longer than a second: a client decides how slowly a
 * body arrives, and a session that has ended meanwhile must not act.
 */
export async function readInSession<T>(c: Context<AppEnv>, read: () => T | Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const body = await read();
  if (Date.now() - startedAt > SESSION_HOLDS_MS) await c.get("recheckSession")?.();
  return body;
}

/** Maximum length of an echoed `X-Request-Id`. Longer or unprintable ones are replaced. */
const REQUEST_ID_MAX = 128;
const PRINTABLE_ASCII = /^[\x21-\x7e]+$/;

/** Returns the client's request id if it is valid, else a new one. */
export function requestIdOf(header: string | null | undefined): string {
  if (header && header.length <= REQUEST_ID_MAX && PRINTABLE_ASCII.test(header)) return header;
  return `req_${randomBase62(16)}`;
}
