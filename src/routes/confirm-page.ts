import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../http/context.ts";
import { type LinkPage, renderPage } from "./account-pages.ts";

/**
 * The answer to a GET of an API route that must not act yet: the page for a browser, which lists `text/html` in `Accept`
 * (a mere wildcard does not count), and nothing for HEAD. Null for everybody else. Whatever fetches a link without
 * anybody clicking on the page, a mail scanner or a preview, so uses nothing up.
 */
export function confirmPage(c: Context<AppEnv>, kind: LinkPage): Response | null {
  if (isBrowser(c)) return renderPage(kind);
  return c.req.method === "HEAD"
    ? new Response(null, { headers: { "Cache-Control": "no-store", Vary: "Accept" } })
    : null;
}

/** A link's token is in the address, and by `Accept` it is a page or an answer: whatever comes of it, no cache keeps it. */
export const noStore: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Vary", "Accept");
};

/** Whether a person is going to see the answer: browsers list `text/html` when they follow a link. */
export function isBrowser(c: Context<AppEnv>): boolean {
  const accept = c.req.header("Accept") ?? "";
  return accept.split(",").some((range) => range.split(";", 1)[0]?.trim().toLowerCase() === "text/html");
}
