import path from "node:path";
import { defineConfig, type Plugin } from "vite";

/** The service to which `npm run web:dev` forwards API calls. */
const SERVICE = process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787";

/**
 * Adds `<link rel="preload">` for the fonts to the page. Low priority, because text appears in a fallback font first: the
 * fonts must not delay the scripts.
 */
const fontPreloads: Plugin = {
  name: "font-preloads",
  transformIndexHtml: {
    order: "post",
    handler: (_, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((file) => file.endsWith(".woff2"))
        .map((file) => ({
          tag: "link",
          attrs: {
            rel: "preload",
            as: "font",
            type: "font/woff2",
            href: `/app/${file}`,
            crossorigin: "",
            fetchpriority: "low",
          },
          injectTo: "head" as const,
        })),
  },
};

export default defineConfig({
  plugins: [fontPreloads],
  root: import.meta.dirname,
  base: "/app/",
  // All files are below one path, which is all that the worker must recognise.
  build: {
    assetsDir: "files",
    target: "es2023",
    // A data: URL in a style sheet would need an exception in the policy.
    assetsInlineLimit: 0,
    // The preload polyfill is an inline script, which the policy refuses.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // The sources of the client library, so that no build is needed first.
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
          // Pages and API routes share path prefixes: a request for HTML is for a page.
          bypass: (request: { headers: { accept?: string } }) =>
            request.headers.accept?.includes("text/html") ? "/index.html" : undefined,
        },
      ]),
    ),
  },
});
