import type { Context } from "hono";
import { z } from "zod";
import { version } from "../../package.json";
import type { AppEnv } from "../http/context.ts";
import { openApiDocument } from "../http/openapi.ts";
import { type Resource, resource } from "../http/resource.ts";
import { publicLimit } from "./address-limits.ts";

/** No host but this one, no inline script, nothing framed. `data:` is for the small images in the UI's style sheet. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Taffrail API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The document it shows is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/init.js"></script>
</body>
</html>
`;

/** Seconds a browser may keep the reference's files without asking again: they change with a release only. */
const FILE_MAX_AGE = 3600;

/** The API's own description: `/openapi.json` and the page that shows it. Both are exempt from the envelope. */
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
  routes.route(documentRoute("/docs", "docs.page", "The API reference"), [], () => {
    const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": PAGE_POLICY };
    return new Response(PAGE, { headers: { ...headers, "Referrer-Policy": "no-referrer" } });
  });
  return routes;
}

/** The files below `/docs/`; null for any other path and for a file that is not there. */
export async function docsFile(c: Context<AppEnv>): Promise<Response | null> {
  if (!c.req.path.startsWith("/docs/")) return null;
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) return null;
  const response = new Response(found.body, found);
  response.headers.set("Cache-Control", `public, max-age=${FILE_MAX_AGE}`);
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
