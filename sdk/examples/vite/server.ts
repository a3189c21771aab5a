/** The backend behind Vite's dev proxy: `node server.ts` and `npx vite`. The key stays on the server. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createProxy } from "taffrail/proxy";

const proxy = createProxy({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  onError: (error) => console.error(error),
});

const app = new Hono();
app.all("/logs", (c) => proxy(c.req.raw));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
