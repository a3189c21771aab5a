import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";

/** Paths of the console's own pages. Whatever else there is no route for gets the envelope's 404. */
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
  if (!PAGES.test(c.req.path)) return null;
  const found = await c.env.ASSETS.fetch(new URL(PAGE, c.req.url));
  if (found.status !== 200) return null;
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    // Names the files of one release: a kept page would ask for files of the last one.
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  return new Response(c.req.method === "HEAD" ? null : found.body, { headers });
}

async function consoleFile(c: Context<AppEnv>): Promise<Response | null> {
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}, immutable`);
  return response;
}
