import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { plainPage } from "./plain-page.ts";

/**
 * What a browser gets for a GET of the API that would use a mailed token up: a script takes the token out of the address,
 * and sends it on a click. Links in mails lead to the frontend's own pages; these are for addresses of the API.
 */
export type LinkPage = "verify-email" | "magic-link";

interface Page {
  title: string;
  lead: string;
  /** What can be clicked. */
  form: string;
}

const PAGES: Record<LinkPage, Page> = {
  "verify-email": {
    title: "Confirm your e-mail address",
    lead: "An account was made with this address. Is it yours?",
    form: `<button type="submit">Yes, confirm the address</button>
<button type="button" id="reject" class="second">This was not me</button>`,
  },
  "magic-link": {
    title: "Sign in",
    lead: "You are one click away from being signed in.",
    form: `<button type="submit">Sign in</button>`,
  },
};

/** Seconds a browser may keep the pages' scripts and style: they change with a release only. */
const FILE_MAX_AGE = 3600;

/** What the pages load; null for any other path. */
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
