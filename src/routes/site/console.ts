import type { Context } from "hono";
import { configuredProviders } from "../../accounts/oauth/clients.ts";
import type { AppEnv } from "../../http/context.ts";
import { isLocal } from "./local.ts";
import { isBrowser } from "./pages.ts";

/** Paths of the console's pages. For others see `missingPage`. */
const PAGES =
  /^\/(?:|login|playground|w\/.+|auth\/(?:sign-up|forgot|verify|magic|reset|callback|invitation|address|account|review|consent))$/;

/** The page of all components, which exists only on a service that runs locally. */
const COMPONENTS = "/dev/ui";

/** Files of the console, named by a hash of their content. Other files are not served. */
const FILES = "/app/files/";

/** Path at which the build writes the console's page. */
const PAGE = "/app/index.html";

/** Seconds for which a browser may keep a file whose name contains a hash of its content. */
const FILE_MAX_AGE = 31_536_000;

/** The only inline script, with its hash as the build writes it; see web/vite.config.ts. */
const INLINE_SCRIPT = /<script data-hash="(sha256-[\w+/]+=)">/;

/**
 * Allows this origin only: no other host, no inline script but that of the build, no inline style, no frame, no form that
 * leaves the page. Scripts set styles through the object model, which needs no permission.
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

function policyOf(html: string): string {
  const [, hash] = INLINE_SCRIPT.exec(html) ?? [];
  return hash === undefined ? POLICY : POLICY.replace("script-src 'self'", `$& '${hash}'`);
}

/** Returns the console's page for each of its paths, and the files it loads; `null` for any other path. */
export async function consolePage(c: Context<AppEnv>): Promise<Response | null> {
  if (c.req.path.startsWith(FILES)) return consoleFile(c);
  const isPage = PAGES.test(c.req.path) || (c.req.path === COMPONENTS && isLocal(c));
  return isPage ? page(c, 200) : null;
}

/**
 * Returns the console's page with status 404, which shows an explanation. For a browser, which lists `text/html` in
 * `Accept`, at a path that neither the console nor the API has. `null` for other clients and below the API's paths.
 */
export function missingPage(c: Context<AppEnv>, isOfApi: (path: string) => boolean): Promise<Response | null> | null {
  return isBrowser(c) && !isOfApi(c.req.path) ? page(c, 404) : null;
}

/**
 * Returns the console's page for a route that answers other clients differently; `null` if the console is not built.
 * @param title title of the page until its script sets one
 */
export function consoleHtml(c: Context<AppEnv>, title?: string): Promise<Response | null> {
  return page(c, 200, title);
}

/** Writes the configured providers into the page, so that it offers only those and needs no request for them. */
const PROVIDERS_META = /(<meta name="taffrail-providers" content=")[^"]*/;

async function page(c: Context<AppEnv>, status: 200 | 404, title = "Taffrail"): Promise<Response | null> {
  const found = await c.env.ASSETS.fetch(new URL(PAGE, c.req.url));
  if (found.status !== 200) return null;
  const providers = configuredProviders(c.get("settings")).join(" ");
  const html = (await found.text())
    .replace(PROVIDERS_META, `$1${providers}`)
    .replace("<title>Taffrail</title>", `<title>${title}</title>`);
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policyOf(html),
    // The page names the files of one release: a cached page would request files of an older one.
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  if (status === 404) Object.assign(headers, { Vary: "Accept" });
  const response = new Response(c.req.method === "HEAD" ? null : html, { status, headers });
  return isLocal(c) ? compressed(c, response) : response;
}

async function consoleFile(c: Context<AppEnv>): Promise<Response | null> {
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}, immutable`);
  return isLocal(c) ? compressed(c, response) : response;
}

/** Types of files that compression makes smaller. Fonts are compressed already. */
const COMPRESSIBLE = /^(?:text\/|application\/(?:javascript|json)|image\/svg)/;

/** Compresses a response for a client that accepts it. In production the network in front of the worker does. */
function compressed(c: Context<AppEnv>, response: Response): Response {
  const accepted = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(c.req.header("Accept-Encoding") ?? "");
  response.headers.append("Vary", "Accept-Encoding");
  if (!accepted || response.body === null || !COMPRESSIBLE.test(response.headers.get("Content-Type") ?? "")) {
    return response;
  }
  // The runtime compresses a body with this header.
  response.headers.set("Content-Encoding", "gzip");
  response.headers.delete("Content-Length");
  return response;
}
