import type { MiddlewareHandler } from "hono";
import type { LimitState } from "../limits/state.ts";
import { type Settings, settingsOf } from "../settings.ts";
import type { AppEnv } from "./context.ts";

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

/** Seconds for which a browser then uses https only: a year, the least that ASVS 5.0 (3.4.1) accepts. */
const HTTPS_ONLY_SECONDS = 31_536_000;

/** Features of browsers that no page here uses, and that nothing injected into one gets. Copying to the clipboard stays. */
const UNUSED_FEATURES = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
];
const PERMISSIONS = UNUSED_FEATURES.map((feature) => `${feature}=()`).join(", ");

/**
 * The headers that every answer carries: JSON, pages, files, redirects, preflights and upgrades. The worker is in front of
 * the static files, so there is no second list for them. What one page alone needs (its policy) stands with that page.
 */
export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Permissions-Policy", PERMISSIONS);
  if (isHttps(c.req.raw, c.env)) headers.set("Strict-Transport-Security", `max-age=${HTTPS_ONLY_SECONDS}`);
};

/** Whether the client came by https: to this worker, or to a proxy that ends TLS before it. */
function isHttps(request: Request, env: object): boolean {
  if (request.url.startsWith("https:")) return true;
  return request.headers.get("X-Forwarded-Proto") !== "http" && isServedByHttps(env);
}

function isServedByHttps(env: object): boolean {
  try {
    return settingsOf(env).BASE_URL.startsWith("https:");
  } catch {
    return false;
  }
}

/** The three headers of every limited answer, and `Retry-After` (seconds, rounded up) on a refusal. */
export function limitHeaders(state: LimitState): Record<string, string> {
  const headers: Record<string, string> = {
    "X-RateLimit-Limit": String(state.limit),
    "X-RateLimit-Remaining": String(state.remaining),
    "X-RateLimit-Reset": String(Math.ceil(state.resetAt / 1000)),
  };
  if (!state.admitted) headers["Retry-After"] = String(Math.max(1, Math.ceil(state.retryAfter / 1000)));
  return headers;
}
