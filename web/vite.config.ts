import { createHash } from "node:crypto";
import path from "node:path";
import { build, defineConfig, type Plugin } from "vite";

/** The service to which `npm run web:dev` forwards API calls. */
const SERVICE = process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787";

/** All files are below one path, which is all that the worker must recognise. */
const BASE = "/app/";
const TARGET = "es2023";

/** Files that every page loads: named again beside each part that is loaded later, they would be a third of its names. */
const ALWAYS = /\/(?:index|shared)-/;

type ModuleGraph = {
  getModuleInfo: (id: string) => { importedIds: readonly string[]; code: string | null } | null;
};

/** Lucide's index imports every drawing: who imports a drawing is seen only by its name. */
const DRAWINGS_INDEX = /\/lucide\/dist\/esm\/lucide\.m?js$/;
const DRAWING = /\/lucide\/dist\/esm\/icons\/([\w-]+)\.m?js$/;
const NAMED_DRAWINGS = /import\s*\{([^}]*)\}\s*from\s*"lucide"/g;

/** What the first page needs: modules, and drawings by their names in small letters. */
let needed: { modules: Set<string>; drawings: Set<string> } | undefined;

/**
 * Name of the file that a module is put into: one for what the first page needs and later parts share, and one for drawings that
 * only later parts share, instead of thirty small ones each; `null` leaves the choice to the bundler.
 */
function fileOf(id: string, graph: ModuleGraph): string | null {
  needed ??= neededFirst(graph);
  const [, drawing] = DRAWING.exec(id) ?? [];
  if (drawing !== undefined) return needed.drawings.has(drawing.replaceAll("-", "")) ? "shared" : "drawings";
  return needed.modules.has(id) ? "shared" : null;
}

function neededFirst(graph: ModuleGraph): NonNullable<typeof needed> {
  const modules = new Set([path.join(import.meta.dirname, "src/main.tsx")]);
  const drawings = new Set<string>();
  // A set is iterated over what is added meanwhile, too.
  for (const each of modules) {
    if (DRAWINGS_INDEX.test(each)) continue;
    const info = graph.getModuleInfo(each);
    for (const imported of info?.importedIds ?? []) modules.add(imported);
    for (const [, names = ""] of info?.code?.matchAll(NAMED_DRAWINGS) ?? [])
      for (const name of names.split(","))
        drawings.add(
          name
            .replace(/\sas\s.*/, "")
            .trim()
            .toLowerCase(),
        );
  }
  // Otherwise all drawings would leave the shared file, and the first page would wait for another one.
  if (drawings.size === 0) {
    throw new Error(
      'No module of the first page has `import { … } from "lucide"` in its code as NAMED_DRAWINGS expects it.',
    );
  }
  return { modules, drawings };
}

/**
 * Writes the script that requests the explorer's first entries into the page, so that it runs before any file is loaded. The
 * worker allows it by its hash. `npm run web:dev` goes without it.
 */
function earlyScript(): Plugin {
  let code = "";
  return {
    name: "taffrail-early",
    apply: "build",
    async buildStart() {
      const input = path.join(import.meta.dirname, "src/early/early.ts");
      const made = await build({
        configFile: false,
        logLevel: "error",
        build: { write: false, target: TARGET, rolldownOptions: { input, output: { format: "iife" } } },
      });
      const [chunk] = "output" in made ? made.output : [];
      if (chunk === undefined) throw new Error("The early script is missing in its build.");
      code = chunk.code.trim();
    },
    transformIndexHtml: {
      order: "post",
      // Before the style sheets, which an inline script would wait for.
      handler: (html) => {
        const hash = createHash("sha256").update(code).digest("base64");
        return html.replace("<title>", (title) => `<script data-hash="sha256-${hash}">${code}</script>\n${title}`);
      },
    },
  };
}

/**
 * Asks the browser to compile the first files as a whole, while they arrive and beside the main thread: the first page calls most of
 * their functions.
 */
function compileHints(): Plugin {
  return {
    name: "taffrail-compile-hints",
    apply: "build",
    generateBundle: {
      order: "post",
      handler: (_, files) => {
        for (const file of Object.values(files)) {
          if (file.type === "chunk" && ALWAYS.test(file.fileName))
            file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
        }
      },
    },
  };
}

/** Loads the files of a part by `web/src/lib/load-part.ts` instead of the bundler's loader. */
function partLoader(): Plugin {
  const file = path.join(import.meta.dirname, "src/lib/load-part.ts");
  return {
    name: "taffrail-parts",
    apply: "build",
    transform: {
      filter: { id: /vite\/preload-helper/ },
      handler: () => ({ code: `export { loadPart as __vitePreload } from ${JSON.stringify(file)};`, map: null }),
    },
  };
}

export default defineConfig({
  plugins: [earlyScript(), partLoader(), compileHints()],
  root: import.meta.dirname,
  base: BASE,
  // Names of classes are in scripts and styles: `row_x3k`.
  css: { modules: { generateScopedName: "[local]_[hash:base64:4]" } },
  build: {
    assetsDir: "files",
    target: TARGET,
    // A data: URL in a style sheet would need an exception in the policy.
    assetsInlineLimit: 0,
    // The preload polyfill is an inline script, which the policy refuses.
    modulePreload: {
      polyfill: false,
      // What the page has loaded already is not named again beside each part that it loads later. The bundler leaves out a part that
      // needs no other file, and names code instead of a part whose address is known only in the browser.
      resolveDependencies: (part, files, { hostType }) =>
        hostType === "html"
          ? files
          : [...new Set([part, ...files])].filter((file) => file.endsWith(".js") && !ALWAYS.test(file)),
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
