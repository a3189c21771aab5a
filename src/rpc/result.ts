import type { ErrorCode } from "../http/errors.ts";

/** An admitted request that a rule of the workspace refuses. */
export interface Refused {
  ok: false;
  code: Extract<ErrorCode, "NOT_FOUND" | "FORBIDDEN" | "CONFLICT" | "RATE_LIMITED" | "INVALID_TOKEN" | "TOKEN_EXPIRED">;
  message: string;
  /** Milliseconds after which the request would be granted, if only time decides. */
  retryAfter?: number;
}

export type Ruling<T> = { ok: true; value: T } | Refused;

export function refused(code: Refused["code"], message: string): Refused {
  return { ok: false, code, message };
}
