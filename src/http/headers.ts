import type { MiddlewareHandler } from "hono";
import type { LimitState } from "../limits/state.ts";
import { type Settings, settingsOf } from "../settings.ts";
import type { AppEnv } from "./context.ts";
import { retryAfter } from "./errors.ts";

const ALLOWED_HEADERS =
  "Authorization, Content-Type, Content-Encoding, X-Workspace-Id, Idempotency-Key, Taffrail-Stream, X-Request-Id, traceparent";
const EXPOSED_HEADERS = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id";
const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Seconds for which a browser may cache a preflight; Chromium's upper bound is 7,200. */
const PREFLIGHT_MAX_AGE = "7200";

/** Paths that pages of any origin may call. They authenticate by a header, never by a cookie, or not at all. */
const OPEN_PATHS = /^\/(?:(?:logger|sandbox)(?:\/|$)|openapi\.json$)/;

/** A path of a request, and whether it speaks the protocol of another client. */
export interface RequestedPath {
  path: string;
  isForeign: boolean;
}

/** Returns `Access-Control-Allow-Origin`; `null` if the origin is not allowed. Never allows credentials. */
function allowedOrigin({ path, isForeign }: RequestedPath, origin: string, settings: Settings): string | null {
  if (isForeign || OPEN_PATHS.test(path)) return "*";
  return origin === settings.FRONTEND_URL || settings.CORS_ORIGINS.includes(origin) ? origin : null;
}

/** Returns the headers of a cross-origin response; none for a request without `Origin`. */
export function corsHeaders(
  requested: RequestedPath,
  origin: string | undefined,
  settings: Settings,
): Record<string, string> {
  if (origin === undefined) return {};
  const allowed = allowedOrigin(requested, origin, settings);
  const vary = allowed === "*" ? {} : { Vary: "Origin" };
  if (allowed === null) return vary;
  return { ...vary, "Access-Control-Allow-Origin": allowed, "Access-Control-Expose-Headers": EXPOSED_HEADERS };
}

/** Names of headers, as a preflight lists them. */
const HEADER_NAMES = /^[\w-]+(?: *, *[\w-]+)*$/;

/**
 * Returns the headers of a preflight's 204.
 * @param wanted the headers that the request will have. Clients of other protocols have headers of their own.
 */
export function preflightHeaders(
  requested: RequestedPath,
  origin: string,
  wanted: string | undefined,
  settings: Settings,
): Record<string, string> {
  const base = corsHeaders(requested, origin, settings);
  if (!base["Access-Control-Allow-Origin"]) return base;
  const isAnyAllowed = requested.isForeign && wanted !== undefined && HEADER_NAMES.test(wanted);
  return {
    ...base,
    "Access-Control-Allow-Headers": isAnyAllowed ? wanted : ALLOWED_HEADERS,
    "Access-Control-Allow-Methods": ALLOWED_METHODS,
    "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
  };
}

/** Seconds for which a browser then uses https only: a year, the minimum of ASVS 5.0 (3.4.1). */
const HTTPS_ONLY_SECONDS = 31_536_000;

/** Browser features that no page here uses, so injected code must not get them. Copying to the clipboard is allowed. */
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
 * Headers of every response: JSON, pages, files, redirects, preflights and upgrades. The worker also serves the static
 * files, so there is no second list. A header that one page needs (its policy) is defined with that page.
 */
export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Permissions-Policy", PERMISSIONS);
  if (isHttps(c.req.raw, c.env)) headers.set("Strict-Transport-Security", `max-age=${HTTPS_ONLY_SECONDS}`);
};

/** Whether the client used https: to this worker, or to a proxy that terminates TLS before it. */
function isHttps(request: Request, env: object): boolean {
  if (request.url.startsWith("https:")) return true;
  return isServedByHttps(env) && request.headers.get("X-Forwarded-Proto") !== "http";
}

function isServedByHttps(env: object): boolean {
  try {
    return settingsOf(env).BASE_URL.startsWith("https:");
  } catch {
    return false;
  }
}

/** Returns the three headers of every limited response, and `Retry-After` (seconds, rounded up) of a refusal. */
export function limitHeaders(state: LimitState): Record<string, string> {
  const headers: Record<string, string> = {
    "X-RateLimit-Limit": String(state.limit),
    "X-RateLimit-Remaining": String(state.remaining),
    "X-RateLimit-Reset": String(Math.ceil(state.resetAt / 1000)),
  };
  if (!state.admitted) headers["Retry-After"] = retryAfter(state.retryAfter);
  return headers;
}
