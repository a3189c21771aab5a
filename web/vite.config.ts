import path from "node:path";
import { defineConfig } from "vite";

/** The service that `npm run web:dev` passes API calls on to. */
const SERVICE = process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787";

export default defineConfig({
  root: import.meta.dirname,
  base: "/app/",
  // Everything the pages load is below one path of their own, so that the worker needs to know only that one.
  build: {
    assetsDir: "files",
    target: "es2023",
    // A data: address in a style sheet would need a hole in the policy for fonts and the like.
    assetsInlineLimit: 0,
    // A preload polyfill is an inline script where the policy allows none.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // The client library as it is in this tree: nothing has to be built first.
  resolve: { alias: { "taffrail/browser": path.resolve(import.meta.dirname, "../sdk/src/browser/index.ts") } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: {
    proxy: Object.fromEntries(
      [
        "/auth",
        "/workspaces",
        "/projects",
        "/logger",
        "/invitations",
        "/sandbox",
        "/playground",
        "/health",
        "/dev",
        "/docs",
      ].map((path) => [
        path,
        {
          target: SERVICE,
          ws: true,
          // A page and an API route can share a path's beginning: what asks for HTML is a page.
          bypass: (request: { headers: { accept?: string } }) =>
            request.headers.accept?.includes("text/html") ? "/index.html" : undefined,
        },
      ]),
    ),
  },
});
