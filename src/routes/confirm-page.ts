import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../http/context.ts";

/**
 * Pages behind the links of mails. Whatever fetches a link without anybody clicking on the page, a mail scanner or a
 * preview, uses nothing up. One script serves them all: it takes the token from the fragment or the query, out of the
 * address bar, and sends it with a POST when somebody clicks.
 */
type PageKind = "verify-email" | "magic-link" | "reset-password";

const PAGES: Record<PageKind, { title: string; lead: string; button: string }> = {
  "verify-email": {
    title: "Confirm your e-mail address",
    lead: "An account was made with this address. Is it yours?",
    button: "Yes, confirm the address",
  },
  "magic-link": {
    title: "Sign in",
    lead: "You are one click away from being signed in.",
    button: "Sign in",
  },
  "reset-password": {
    title: "Set a new password",
    lead: "It ends every session of your account; then you sign in with the new one.",
    button: "Set password",
  },
};

/** The paths that mails link to, and their pages. */
const PATHS: Readonly<Record<string, PageKind>> = {
  "/auth/verify": "verify-email",
  "/auth/magic": "magic-link",
  "/auth/reset": "reset-password",
};

/** Nothing but this origin's own script and style; nothing framed, nothing submitted without the script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The empty icon.
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Seconds a browser may keep the pages' script and style: they change with a release only. */
const FILE_MAX_AGE = 3600;

/**
 * The answer to a GET of an API route that must not act yet: the page for a browser, which lists `text/html` in `Accept`
 * (a mere wildcard does not count), and nothing for HEAD. Null for everybody else.
 */
export function confirmPage(c: Context<AppEnv>, kind: PageKind): Response | null {
  if (listsHtml(c.req.header("Accept"))) return page(kind);
  return c.req.method === "HEAD"
    ? new Response(null, { headers: { "Cache-Control": "no-store", Vary: "Accept" } })
    : null;
}

/** A link's token is in the address, and by `Accept` it is a page or an answer: whatever comes of it, no cache keeps it. */
export const keptByNobody: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Vary", "Accept");
};

/** The pages that mails link to, and what they load; null for any other path. */
export async function accountPage(c: Context<AppEnv>): Promise<Response | null> {
  const kind = Object.hasOwn(PATHS, c.req.path) ? PATHS[c.req.path] : undefined;
  if (kind) return page(kind);
  if (!c.req.path.startsWith("/pages/")) return null;
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}`);
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

function listsHtml(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((range) => range.split(";", 1)[0]?.trim().toLowerCase() === "text/html");
}

function page(kind: PageKind): Response {
  const { title, lead, button } = PAGES[kind];
  const password =
    kind === "reset-password"
      ? `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="256" required>
<p class="hint">8 characters or more.</p>
`
      : "";
  const reject =
    kind === "verify-email" ? `<button type="button" id="reject" class="second">This was not me</button>\n` : "";
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
<body data-kind="${kind}">
<main>
<p class="brand">Taffrail</p>
<section>
<h1>${title}</h1>
<form id="form" method="post">
<p>${lead}</p>
${password}<button type="submit" id="go">${button}</button>
${reject}</form>
<div id="result" role="status" hidden></div>
<noscript><p class="error">This page needs JavaScript, so that nothing happens before you click.</p></noscript>
</section>
</main>
<script src="/pages/account.js"></script>
</body>
</html>
`;
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept",
    },
  });
}
