import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../../http/context.ts";

/** A page that the worker renders, in the style of `scripts/pages/account.css`. */
export interface PlainPage {
  title: string;
  /** HTML of the page's `<main>`, after the brand. */
  main: string;
  /** Attributes of `<body>`, as HTML. */
  attributes?: string;
  /** A module of this origin. Without it the page may load no script and connect nowhere. */
  script?: string;
  /** Headers in addition to those of every such page. */
  headers: Readonly<Record<string, string>>;
}

/** Allows the style of this origin, and a script if the page has one; no frame, and no form without the script. */
function policy(hasScript: boolean): string {
  return [
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    // The empty icon.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export function plainPage({ title, main, attributes = "", script, headers }: PlainPage): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Taffrail</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/pages/account.css">
</head>
<body${attributes === "" ? "" : ` ${attributes}`}>
<main>
<p class="brand">Taffrail</p>
${main}
</main>
${script === undefined ? "" : `<script type="module" src="${script}"></script>\n`}</body>
</html>
`;
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy(script !== undefined),
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  });
}

/**
 * Page that a browser gets for a GET of an API route that would use a mailed token up. A script takes the token out of
 * the URL and sends it on a click. Links in mails lead to the frontend's pages; these pages serve the API's URLs.
 */
export type LinkPage = "verify-email" | "magic-link";

interface Page {
  title: string;
  lead: string;
  /** HTML of the controls. */
  form: string;
}

const PAGES: Record<LinkPage, Page> = {
  "verify-email": {
    title: "Confirm your e-mail address",
    lead: "An account was created with this address. Is it yours?",
    form: `<button type="submit">Yes, confirm the address</button>
<button type="button" id="reject" class="second">This was not me</button>`,
  },
  "magic-link": {
    title: "Sign in",
    lead: "Click to sign in.",
    form: `<button type="submit">Sign in</button>`,
  },
};

/** Seconds for which a browser may keep the pages' scripts and style, which change only with a release. */
const FILE_MAX_AGE = 3600;

/** Returns the files that the pages load; `null` for any other path. */
export async function accountPageFile(c: Context<AppEnv>): Promise<Response | null> {
  if (!c.req.path.startsWith("/pages/")) return null;
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}`);
  return response;
}

export function renderPage(kind: LinkPage): Response {
  const { title, lead, form } = PAGES[kind];
  return plainPage({
    title,
    attributes: `data-kind="${kind}"`,
    main: `<section>
<h1>${title}</h1>
<noscript><p class="error">This page needs JavaScript.</p></noscript>
<form id="form" method="post">
<p>${lead}</p>
${form}
</form>
<div id="result" role="status" hidden></div>
</section>`,
    script: "/pages/account.js",
    headers: { "Cache-Control": "no-store", Vary: "Accept" },
  });
}

/**
 * Returns the response to a GET of an API route that must not act yet: the page for a browser, which lists `text/html`
 * in `Accept` (a wildcard does not count), an empty one for HEAD, and `null` for other clients. So a mail scanner or a
 * link preview, which fetches the link without a click, uses no token up.
 */
export function confirmPage(c: Context<AppEnv>, kind: LinkPage): Response | null {
  if (isBrowser(c)) return renderPage(kind);
  return c.req.method === "HEAD"
    ? new Response(null, { headers: { "Cache-Control": "no-store", Vary: "Accept" } })
    : null;
}

/** No cache may keep the response: the URL contains a token, and `Accept` decides between page and JSON. */
export const noStore: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Vary", "Accept");
};

/** Whether a person will see the response: browsers list `text/html` when they follow a link. */
export function isBrowser(c: Context<AppEnv>): boolean {
  const accept = c.req.header("Accept") ?? "";
  return accept.split(",").some((range) => range.split(";", 1)[0]?.trim().toLowerCase() === "text/html");
}
