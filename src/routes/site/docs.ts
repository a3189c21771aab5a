import type { Context } from "hono";
import { z } from "zod";
import { version } from "../../../package.json";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { type Resource, resource } from "../../http/resource.ts";
import { countByAddress, publicLimit } from "../guards/address.ts";
import { consoleHtml } from "./console.ts";
import { openApiDocument } from "./openapi.ts";
import { isBrowser } from "./pages.ts";

/** Seconds for which a browser may keep the reference's files, which change only with a release. */
const FILE_MAX_AGE = 3600;

/** The description of the API: `/openapi.json` and the page that shows it. Both are exempt from the envelope. */
export function docs(documented: readonly Resource[]): Resource {
  const routes = resource();
  let document: string | null = null;
  routes.route(
    documentRoute("/openapi.json", "docs.document", "The API as an OpenAPI document"),
    [publicLimit],
    (c) => {
      document ??= JSON.stringify(openApiDocument(documented, c.get("settings").BASE_URL, version));
      return new Response(document, { headers: { "Content-Type": "application/json" } });
    },
  );
  const page = documentRoute("/docs", "docs.page", "The API reference, as a page of the console");
  routes.route({ ...page, errors: ["NOT_FOUND"] }, [], async (c) => {
    const html = await consoleHtml(c, "API reference · Taffrail");
    if (html !== null) return html;
    await countByAddress(c, "API_DEFAULT");
    return refuse("NOT_FOUND", "Path not found.");
  });
  return routes;
}

/**
 * Returns the files below `/docs/`; `null` for any other path and for a missing file. A browser that follows a link to a document
 * gets the page of the console that shows it.
 */
export async function docsFile(c: Context<AppEnv>): Promise<Response | null> {
  if (!c.req.path.startsWith("/docs/")) return null;
  const isDocument = c.req.path.endsWith(".md");
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const page = isDocument && isBrowser(c) ? await consoleHtml(c) : null;
  if (page !== null) await found.body?.cancel();
  const response = page ?? new Response(found.body, found);
  if (page === null) response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}`);
  if (isDocument) response.headers.append("Vary", "Accept");
  return response;
}

function documentRoute<const P extends string, const O extends string>(path: P, operation: O, summary: string) {
  return {
    method: "GET",
    path,
    operation,
    tag: "Operations",
    summary,
    security: "none",
    status: 200,
    response: z.unknown(),
    errors: [],
  } as const;
}

const PATH = "/.well-known/security.txt";
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days for which the file is valid, from the day of the request. RFC 9116 (2.5.5) recommends less than a year. */
const VALID_DAYS = 180;
/** Seconds for which a cache may keep the file. */
const MAX_AGE = 86_400;

/** Where to report a vulnerability of this deployment (RFC 9116): plain text, exempt from the envelope. */
export const securityTxt = resource();

securityTxt.route(
  {
    method: "GET",
    path: PATH,
    operation: "security.contact",
    tag: "Operations",
    summary: "Where to report a vulnerability",
    security: "none",
    status: 200,
    response: z.unknown(),
    errors: ["NOT_FOUND"],
  },
  [],
  async (c) => {
    if (c.get("settings").SECURITY_CONTACT.length === 0) {
      await countByAddress(c, "API_DEFAULT");
      return refuse("NOT_FOUND", "Path not found.");
    }
    const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": `public, max-age=${MAX_AGE}` };
    return new Response(securityText(c, Date.now()), { headers });
  },
);

function securityText(c: Context<AppEnv>, now: number): string {
  const { SECURITY_CONTACT, BASE_URL } = c.get("settings");
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString();
  const lines = [...SECURITY_CONTACT.map((contact) => `Contact: ${contact}`), `Expires: ${expires}`];
  // Web addresses in the file must be https (RFC 9116, 2.5.2).
  if (BASE_URL.startsWith("https:")) lines.push(`Canonical: ${BASE_URL}${PATH}`);
  return `${lines.join("\n")}\n`;
}
