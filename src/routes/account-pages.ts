import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";

/** Pages behind the links of mails: a script takes the token out of the address, and sends it when somebody clicks. */
export type LinkPage = "verify-email" | "magic-link" | "reset-password";

/**
 * For a service that is its own frontend. `callback`: where a sign-in through a provider ends. `invitation`: where the
 * link of an invitation leads, which only somebody who is signed in can accept.
 */
type PageKind = LinkPage | "callback" | "invitation";

interface Page {
  title: string;
  lead: string;
  /** What can be clicked, with the fields that belong to it; empty where there is nothing to decide. */
  form: string;
  script: "account" | "callback" | "invitation";
}

const PAGES: Record<PageKind, Page> = {
  "verify-email": {
    title: "Confirm your e-mail address",
    lead: "An account was made with this address. Is it yours?",
    form: `<button type="submit">Yes, confirm the address</button>
<button type="button" id="reject" class="second">This was not me</button>`,
    script: "account",
  },
  "magic-link": {
    title: "Sign in",
    lead: "You are one click away from being signed in.",
    form: `<button type="submit">Sign in</button>`,
    script: "account",
  },
  "reset-password": {
    title: "Set a new password",
    lead: "It ends every session of your account; then you sign in with the new one.",
    // No `maxlength`: browsers cut what is pasted down to it without a word, and count other units than the service does.
    form: `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required aria-describedby="hint">
<p class="hint" id="hint">8 characters or more.</p>
<button type="submit">Set password</button>`,
    script: "account",
  },
  callback: { title: "Signing in", lead: "One moment.", form: "", script: "callback" },
  invitation: { title: "Invitation", lead: "One moment.", form: "", script: "invitation" },
};

const PATHS: Readonly<Record<string, PageKind>> = {
  "/auth/verify": "verify-email",
  "/auth/magic": "magic-link",
  "/auth/reset": "reset-password",
  "/auth/callback": "callback",
  "/auth/invitation": "invitation",
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

/** Seconds a browser may keep the pages' scripts and style: they change with a release only. */
const FILE_MAX_AGE = 3600;

/** The pages of accounts, and what they load; null for any other path. */
export async function accountPage(c: Context<AppEnv>): Promise<Response | null> {
  const kind = Object.hasOwn(PATHS, c.req.path) ? PATHS[c.req.path] : undefined;
  if (kind) return renderPage(kind);
  if (!c.req.path.startsWith("/pages/")) return null;
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}`);
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

export function renderPage(kind: PageKind): Response {
  const { title, lead, form, script } = PAGES[kind];
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
<noscript><p class="error">This page needs JavaScript.</p></noscript>
<form id="form" method="post">
<p>${lead}</p>
${form}
</form>
<div id="result" role="status" hidden></div>
</section>
</main>
<script type="module" src="/pages/${script}.js"></script>
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
