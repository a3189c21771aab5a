import path from "node:path";
import { defineConfig } from "vite";

/** The service to which `npm run web:dev` forwards API calls. */
const SERVICE = process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787";

/** Files that every page loads: named again beside each part that is loaded later, they would be a third of its names. */
const ALWAYS = /\/(?:index|shared)-/;

type ModuleGraph = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

let needed: Set<string> | undefined;

/**
 * Name of the file that a module is put into: one for what the first page needs and later parts share, instead of thirty small
 * ones; `null` leaves the choice to the bundler.
 */
function fileOf(id: string, graph: ModuleGraph): string | null {
  if (needed === undefined) {
    needed = new Set([path.join(import.meta.dirname, "src/main.tsx")]);
    // A set is iterated over what is added meanwhile, too.
    for (const each of needed)
      for (const imported of graph.getModuleInfo(each)?.importedIds ?? []) needed.add(imported);
  }
  return needed.has(id) ? "shared" : null;
}

export default defineConfig({
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
      resolveDependencies: (_, files, { hostType }) =>
        hostType === "html" ? files : files.filter((file) => !ALWAYS.test(file)),
    },
    reportCompressedSize: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: fileOf, debugName: "shared", minShareCount: 2 }] } },
    },
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
