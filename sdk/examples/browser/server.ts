/**
 * Serves the page and takes its entries; the key stays here.
 * `npx esbuild page.ts --bundle --format=esm --outfile=page.js && node server.ts`
 */
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { createProxy } from "taffrail/proxy";

const proxy = createProxy({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY ?? "sk_replace_me",
  onError: (error) => console.error(error),
});

const app = new Hono();
app.all("/logs", (c) => proxy(c.req.raw));
app.get("/page.js", serveStatic({ path: "./page.js" }));
app.get("/", (c) => c.html('<!doctype html><title>Shop</title><script type="module" src="/page.js"></script>'));

serve({ fetch: app.fetch, port: 3000 });
