import type { Context } from "hono";
import { configuredProviders } from "../../accounts/oauth/clients.ts";
import type { AppEnv } from "../../http/context.ts";
import { isBrowser } from "./pages.ts";

/** Paths of the console's own pages. Others: see `missingPage`. */
const PAGES =
  /^\/(?:|login|playground|w\/.+|auth\/(?:sign-up|forgot|verify|magic|reset|callback|invitation|account|review))$/;

/** Files of the console: their names change with what is in them. Nothing beside them is served. */
const FILES = "/app/files/";

/** Where the build puts the console's one page. */
const PAGE = "/app/index.html";

/** Seconds that a browser may keep a file whose name carries the hash of what is in it. */
const FILE_MAX_AGE = 31_536_000;

/**
 * Nothing but this origin: no other host, no inline script or style, no frame, no form that leaves the page. Scripts set
 * styles through the object model, which needs no permission.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  // The API, and its live tail by WebSocket.
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The console's page for each of its paths, and the files it loads; null for any other path. */
export async function consolePage(c: Context<AppEnv>): Promise<Response | null> {
  if (c.req.path.startsWith(FILES)) return consoleFile(c);
  return PAGES.test(c.req.path) ? page(c, 200) : null;
}

/**
 * The console's page with status 404, which says so in words: for a browser, which lists `text/html` in `Accept`, at a path
 * that neither the console nor the API has. Null for every other caller, and below the API's own paths.
 */
export function missingPage(c: Context<AppEnv>, isOfApi: (path: string) => boolean): Promise<Response | null> | null {
  return isBrowser(c) && !isOfApi(c.req.path) ? page(c, 404) : null;
}

/** In the page: the providers that the service is set up for, so that it offers no others and needs no request for them. */
const PROVIDERS_META = /(<meta name="taffrail-providers" content=")[^"]*/;

async function page(c: Context<AppEnv>, status: 200 | 404): Promise<Response | null> {
  const found = await c.env.ASSETS.fetch(new URL(PAGE, c.req.url));
  if (found.status !== 200) return null;
  const providers = configuredProviders(c.get("settings")).join(" ");
  const html = (await found.text()).replace(PROVIDERS_META, `$1${providers}`);
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    // Names the files of one release: a kept page would ask for files of the last one.
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  if (status === 404) Object.assign(headers, { Vary: "Accept" });
  return new Response(c.req.method === "HEAD" ? null : html, { status, headers });
}

async function consoleFile(c: Context<AppEnv>): Promise<Response | null> {
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}, immutable`);
  return response;
}
