/**
 * Renders and serves the page, and receives its entries. The key stays on the server.
 * `npx esbuild page.ts --bundle --format=esm --outfile=page.js && node server.ts`
 */
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { createProxy } from "taffrail/proxy";
import { render } from "./page.ts";

const proxy = createProxy({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  onError: (error) => console.error(error),
});

const app = new Hono();
app.all("/logs", (c) => proxy(c.req.raw));
app.get("/page.js", serveStatic({ path: "./page.js" }));
app.get("/", (c) =>
  c.html(`<!doctype html><title>Shop</title><body>${render(3)}<script type="module" src="/page.js"></script></body>`),
);

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
