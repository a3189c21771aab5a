import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { build as viteBuild } from "vite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { createLogger as Create } from "../src/index.ts";
import { type Reply, startSink } from "./support/sink.ts";

declare global {
  var makeLogger: typeof Create;
}

const CODE = 'import { createLogger } from "taffrail"; globalThis.makeLogger = createLogger;';

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "taffrail-bundle-"));
  symlinkSync(path.resolve(import.meta.dirname, "../../node_modules"), path.join(dir, "node_modules"));
  writeFileSync(path.join(dir, "package.json"), '{"type":"module"}');
  writeFileSync(path.join(dir, "entry.js"), CODE);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function withEsbuild(isSplit: boolean, conditions: string[] = []): Promise<void> {
  await build({
    absWorkingDir: dir,
    entryPoints: ["entry.js"],
    outdir: "out",
    bundle: true,
    minify: true,
    splitting: isSplit,
    format: isSplit ? "esm" : "iife",
    platform: "browser",
    conditions,
    target: "es2022",
    // Excludes the workspace's link to the sources, which users of the package do not have.
    tsconfigRaw: "{}",
    logLevel: "error",
  });
}

async function withVite(): Promise<void> {
  await viteBuild({
    configFile: false,
    root: dir,
    logLevel: "error",
    build: {
      outDir: "out",
      assetsDir: "",
      // The chunks are loaded by Node, which has no page for preloads.
      modulePreload: false,
      rolldownOptions: { input: path.join(dir, "entry.js"), output: { entryFileNames: "entry.js" } },
    },
  });
}

/** The chunks of a bundle, without its entry. */
function parts(): string[] {
  return readdirSync(path.join(dir, "out")).filter((name) => name !== "entry.js");
}

function start(): string {
  return readFileSync(path.join(dir, "out/entry.js"), "utf8");
}

/** Logs three entries with the bundle's library, and waits until they are delivered or dropped. */
async function logThree(first: Reply) {
  const sink = await startSink((_, number) => (number === 0 ? first : { status: 201 }));
  const errors: string[] = [];
  await import(pathToFileURL(path.join(dir, "out/entry.js")).href);
  const logger = globalThis.makeLogger({
    apiUrl: sink.url,
    projectId: "proj_web",
    batch: { backoffBase: 1 },
    onError: ({ message }) => errors.push(message),
  });
  for (const message of ["one", "two", "three"]) logger.info(message);
  const result = await logger.flush({ timeoutMs: 5000 });
  await logger.close();
  const stored = sink.stored().map(({ message }) => message);
  await sink.close();
  return { stored, result, errors };
}

const BAD: Reply = {
  status: 400,
  body: { error: { code: "VALIDATION_ERROR", message: "one is bad", details: [{ path: "logs.1.message" }] } },
};

describe.each([
  ["esbuild with splitting", () => withEsbuild(true), 1],
  ["esbuild as one script", () => withEsbuild(false), 0],
  ["Vite", withVite, 1],
])("the size of a page's bundle: %s", (_name, bundle, count) => {
  test("loads the module for an answer that rejects an entry, and drops only that entry", async () => {
    await bundle();
    expect(parts()).toHaveLength(count);
    expect(start().includes("x-ratelimit-reset")).toBe(count === 0);
    const { stored, result, errors } = await logThree(BAD);
    expect(stored).toEqual(["one", "three"]);
    expect(result).toEqual({ delivered: 2, dropped: 1, pending: 0 });
    expect(errors).toEqual(["The service answered 400: one is bad"]);
  });
});

test("the size of a page's bundle: a batch is sent again if the module cannot be loaded", async () => {
  await withEsbuild(true);
  for (const name of parts()) rmSync(path.join(dir, "out", name));
  const { stored, result, errors } = await logThree({ status: 503 });
  expect(stored).toEqual(["one", "two", "three"]);
  expect(result).toEqual({ delivered: 3, dropped: 0, pending: 0 });
  expect(errors).toEqual([expect.stringContaining("Cannot find module")]);
});

test("the size of a page's bundle: only bundles for development have the lists of option names", async () => {
  for (const conditions of [["production"], ["development"]]) {
    await withEsbuild(true, conditions);
    expect(start().includes("unknown option")).toBe(conditions.includes("development"));
  }
});
