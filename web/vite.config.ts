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

/** Parts of every page, and those of the explorer's first row. */
const ALWAYS = /\/(?:index|hooks|signals\.module|jsxRuntime|failure|backoff)-/;
const EXPLORER = /\/(?:explorer|results|notes)-/;
const OF_EXPLORER =
  /\/(?:index|hooks|signals\.module|jsxRuntime|failure|backoff|explorer|results|notes|states|format|load|select|visible|zone|language|panels|types|poll|ellipsis)-[^/]*\.js$/;

export default defineConfig({
  plugins: [fontPreloads],
  root: import.meta.dirname,
  base: "/app/",
  // All files are below one path, which is all that the worker must recognise.
  // Names of classes are in scripts and styles: `row_x3k`.
  css: { modules: { generateScopedName: "[local]_[hash:base64:4]" } },
  build: {
    assetsDir: "files",
    target: "es2023",
    // A data: URL in a style sheet would need an exception in the policy.
    assetsInlineLimit: 0,
    // The preload polyfill is an inline script, which the policy refuses.
    modulePreload: {
      polyfill: false,
      // What the page has loaded already is not named again beside each part that it loads later.
      resolveDependencies: (_, files, { hostId, hostType }) =>
        hostType === "html"
          ? files
          : files.filter((file) => !(EXPLORER.test(hostId) ? OF_EXPLORER : ALWAYS).test(file)),
    },
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
