import type { MiddlewareHandler } from "hono";
import { settingsOf } from "../settings.ts";
import type { AppEnv } from "./context.ts";

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
