import type { ErrorCode } from "../http/errors.ts";

/** A request that was admitted, and that the workspace's own rules refuse. */
export interface Refused {
  ok: false;
  code: Extract<ErrorCode, "NOT_FOUND" | "FORBIDDEN" | "CONFLICT" | "RATE_LIMITED" | "INVALID_TOKEN" | "TOKEN_EXPIRED">;
  message: string;
  /** Milliseconds after which it would be granted, where time alone decides. */
  retryAfter?: number;
}

export type Ruling<T> = { ok: true; value: T } | Refused;

export function refused(code: Refused["code"], message: string): Refused {
  return { ok: false, code, message };
}
