import type { AgentScope, Scope } from "../keys/scopes.ts";
import type { LimitState } from "../limits/state.ts";

// These shapes cross versions during a deploy: add optional members only, and accept that an older sender omits them.

/** Codes of the API with which an object refuses a request. */
export type FailureCode =
  | "INVALID_API_KEY"
  | "API_KEY_REVOKED"
  | "API_KEY_EXPIRED"
  | "INVALID_ACCESS_TOKEN"
  | "ACCESS_TOKEN_EXPIRED"
  | "INVALID_TOKEN"
  | "TOKEN_EXPIRED"
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "INSUFFICIENT_SCOPE"
  | "RATE_LIMITED"
  | "IDEMPOTENCY_CONFLICT"
  | "CONFLICT";

/** A refusal by an object. */
export interface Failure<C extends string = FailureCode> {
  ok: false;
  code: C;
  message: string;
  /**
   * The limit that the request was counted under. `null`: the caller is unknown to the object, so the request was not
   * counted and the router counts it elsewhere. Absent: the request was counted before the rule that refuses it.
   */
  limit?: LimitState | null;
  /** The missing scope, for `WWW-Authenticate`. */
  scope?: Scope | AgentScope;
  /** Milliseconds after which the request would be granted, if only time decides. */
  retryAfter?: number;
  /** What is limited, for whom and in which window, if no `limit` names it; absent in results of older objects. */
  quota?: string;
}

export interface Success<T> {
  ok: true;
  value: T;
  /** The limit that the request was counted under; `null` or absent if this call did not count it. */
  limit?: LimitState | null;
}

/** The result of a call to an object: a value, or the reason for a refusal. Exceptions are faults. */
export type Result<T, C extends string = FailureCode> = Success<T> | Failure<C>;

export function ok<T>(value: T): Success<T> {
  return { ok: true, value };
}

export function fail<C extends string>(
  code: C,
  message: string,
  more: Pick<Failure, "limit" | "scope" | "retryAfter" | "quota"> = {},
): Failure<C> {
  return { ok: false, code, message, ...more };
}
