import type { Settings } from "../settings.ts";

const ALLOWED_HEADERS =
  "Authorization, Content-Type, Content-Encoding, X-Workspace-Id, Idempotency-Key, X-Request-Id, traceparent";
const EXPOSED_HEADERS = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id";
const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Seconds a browser may keep a preflight's answer; Chromium's own upper bound is 7,200. */
const PREFLIGHT_MAX_AGE = "7200";

/** Paths that pages of any origin may call: they authenticate by a header, never by a cookie, or not at all. */
const OPEN_PATHS = /^\/(?:(?:logger|sandbox)(?:\/|$)|openapi\.json$)/;

/** The value of `Access-Control-Allow-Origin`, or null where the origin is not allowed. Credentials never are. */
export function allowedOrigin(path: string, origin: string, settings: Settings): string | null {
  if (OPEN_PATHS.test(path)) return "*";
  return origin === settings.FRONTEND_URL || settings.CORS_ORIGINS.includes(origin) ? origin : null;
}

/** Headers of an answer to a cross-origin request; empty for a request without `Origin`. */
export function corsHeaders(path: string, origin: string | undefined, settings: Settings): Record<string, string> {
  if (origin === undefined) return {};
  const allowed = allowedOrigin(path, origin, settings);
  const vary = allowed === "*" ? {} : { Vary: "Origin" };
  if (allowed === null) return vary;
  return { ...vary, "Access-Control-Allow-Origin": allowed, "Access-Control-Expose-Headers": EXPOSED_HEADERS };
}

/** Headers of a preflight's 204. */
export function preflightHeaders(path: string, origin: string, settings: Settings): Record<string, string> {
  const base = corsHeaders(path, origin, settings);
  if (!base["Access-Control-Allow-Origin"]) return base;
  return {
    ...base,
    "Access-Control-Allow-Headers": ALLOWED_HEADERS,
    "Access-Control-Allow-Methods": ALLOWED_METHODS,
    "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
  };
}
