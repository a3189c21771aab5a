import { createHash, hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { StartFailure } from "./failure.ts";
import { ASSETS_DIR, BUNDLE, ROOT } from "./paths.ts";
import { wrangler } from "./wrangler.ts";

/** Sources of the bundle: directories, and files. */
const SOURCES: Sources = [
  ["src", "sdk/src"],
  ["wrangler.toml", "package-lock.json"],
];

/**
 * Static files of the API reference and of the account pages: path from the root, name in dist/assets, and a file to
 * append. Beside them all documents, so that agents and users can follow their links.
 */
const ASSETS = [
  ["node_modules/swagger-ui-dist/swagger-ui-bundle.js", "docs/swagger-ui-bundle.js"],
  // Appended, because the later of two equally specific rules applies.
  ["node_modules/swagger-ui-dist/swagger-ui.css", "docs/swagger-ui.css", "scripts/docs/reference.css"],
  ["scripts/docs/reference.js", "docs/reference.js"],
  ["scripts/docs/reference-plugins.js", "docs/reference-plugins.js"],
  ["scripts/pages/account.css", "pages/account.css"],
  ["scripts/pages/account.js", "pages/account.js"],
] as const;

/** Sources of the console. */
const CONSOLE_SOURCES: Sources = [
  ["web", "examples", "src", "sdk/src"],
  ["package-lock.json", "tsconfig.base.json"],
];

type Sources = readonly [directories: readonly string[], files: readonly string[]];

/** Paths of the console's page and files below dist/assets. */
const CONSOLE_DIR = path.join(ASSETS_DIR, "app");

/** Marks the end of a bundle with the hash of its sources. */
const STAMP = "// made from ";

/**
 * Writes the static files: those that are copies of files, and the console's.
 * @returns whether the console was built
 */
export async function buildAssets(onBuild?: () => void, digests: Digests = new Map()): Promise<boolean> {
  const documents = filesBelow("docs").filter((file) => file.endsWith(".md"));
  for (const [from, to, appended] of [...ASSETS, ...documents.map((file) => [file, file] as const)]) {
    const target = path.join(ASSETS_DIR, to);
    const parts = [from, ...(appended === undefined ? [] : [appended])];
    // Every start reads these hundreds of small files: asynchronous reads take several times as long.
    const content = Buffer.concat(parts.map((part) => readFileSync(path.join(ROOT, part))));
    // A start beside this one copies the directory: it stays as it is if nothing has changed.
    if (contentOf(target)?.equals(content)) continue;
    await replace(target, content);
  }
  return buildConsole(digests, onBuild);
}

/** Bundles the worker exactly as a deployment does, unless the bundle is up to date. @returns whether it was built */
async function buildWorker(digests: Digests, signal?: AbortSignal, onBuild?: () => void): Promise<boolean> {
  const stamp = `${STAMP}${sourceHash(SOURCES, digests)}\n`;
  if ((await readFile(BUNDLE, "utf8").catch(() => "")).endsWith(stamp)) return false;
  onBuild?.();
  const outdir = `${path.dirname(BUNDLE)}.${process.pid}`;
  try {
    const result = await wrangler(["deploy", "--dry-run", "--outdir", outdir], signal);
    if (result.code !== 0) throw new StartFailure(`The worker could not be bundled.\n${result.stdout}${result.stderr}`);
    const code = await readFile(path.join(outdir, "worker.js"), "utf8");
    await replace(BUNDLE, `${code.replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n")}${stamp}`);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
  return true;
}

/** Builds the console, unless it is up to date. @returns whether it was built */
async function buildConsole(digests: Digests, onBuild?: () => void): Promise<boolean> {
  const stamp = sourceHash(CONSOLE_SOURCES, digests);
  const isCurrent = async (): Promise<boolean> =>
    (await readFile(path.join(CONSOLE_DIR, "made-from.txt"), "utf8").catch(() => "")) === stamp;
  if (await isCurrent()) return false;
  onBuild?.();
  // Not below dist/assets, because a server that starts in the meantime serves everything there.
  const outDir = path.join(path.dirname(ASSETS_DIR), `app.${process.pid}`);
  try {
    const { build } = await import("vite");
    await build({
      configFile: path.join(ROOT, "web/vite.config.ts"),
      logLevel: "error",
      build: { outDir, emptyOutDir: true },
    });
    await writeFile(path.join(outDir, "made-from.txt"), stamp);
    await mkdir(ASSETS_DIR, { recursive: true });
    await rm(CONSOLE_DIR, { recursive: true, force: true });
    // Another process may have moved its build there at the same time. Both have the same sources.
    await rename(outDir, CONSOLE_DIR).catch(async (error: unknown) => {
      if (!(await isCurrent())) throw error;
    });
  } catch (error) {
    throw new StartFailure(`The console could not be built.\n${error instanceof Error ? error.message : error}`);
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
  return true;
}

/**
 * Writes everything below dist/ that a start, a test run or a deployment requires.
 * @param onBuild called once, before the first outdated part is built
 */
export async function buildAll(signal?: AbortSignal, onBuild: () => void = () => {}): Promise<boolean> {
  const digests: Digests = new Map();
  const builtConsole = await buildAssets(onBuild, digests);
  signal?.throwIfAborted();
  // A build takes a while, in which sources may change.
  if (builtConsole) digests.clear();
  return (await buildWorker(digests, signal, builtConsole ? undefined : onBuild)) || builtConsole;
}

/** Digests of files that were read already: both builds have most of their sources in common. */
type Digests = Map<string, string>;

function sourceHash([directories, files]: Sources, digests: Digests): string {
  const all = createHash("sha256");
  for (const file of [...directories.flatMap(filesBelow), ...files].sort()) {
    // A thousand small files: asynchronous reads take three times as long.
    const digest = digests.get(file) ?? hash("sha256", readFileSync(path.join(ROOT, file)));
    digests.set(file, digest);
    all.update(`${file}\0${digest}\0`);
  }
  return all.digest("hex");
}

/** All files below a directory of the repository, as paths from the root. `glob` takes ten times as long. */
function filesBelow(directory: string): string[] {
  return readdirSync(path.join(ROOT, directory), { withFileTypes: true }).flatMap((entry) => {
    const file = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(file);
    return entry.isFile() ? [file] : [];
  });
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/**
 * Two processes may build at once, so each writes a separate file and renames it atomically. Not in the target's
 * directory, where a process that copies that directory would find a file that is then gone.
 */
async function replace(target: string, content: string | Uint8Array): Promise<void> {
  const name = path.relative(path.dirname(ASSETS_DIR), target).replaceAll(path.sep, ".");
  const temporary = path.join(path.dirname(ASSETS_DIR), `${name}.${process.pid}`);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(temporary, content);
  await rename(temporary, target);
}
