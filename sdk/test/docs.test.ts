import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const SDK = path.resolve(import.meta.dirname, "..");
const DOCS = path.resolve(SDK, "../docs/client");
const PAGES = readdirSync(DOCS).filter((name) => name.endsWith(".md"));

/** What the pages leave to the reader. */
const AMBIENT = `
declare const apiUrl: string;
declare const projectId: string;
declare const apiKey: string;
declare const app: import("hono").Hono;
declare function orders(): Promise<string[]>;
declare function defineNuxtConfig(config: { modules: string[]; taffrail: import("taffrail/nuxt").TaffrailNuxtOptions }): object;
interface ExecutionContext { waitUntil(promise: Promise<unknown>): void }
`;
const LOGGER = `export declare const logger: import("taffrail").Logger;`;

let dir = "";
// In the library's directory, so that the packages it is tested with are found.
beforeAll(() => {
  dir = mkdtempSync(path.join(SDK, "test/.docs-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** TypeScript's own defaults for a new project are stricter than `strict`. */
test("the code on the pages is right by its types", async () => {
  const files = new Map([
    ["ambient.d.ts", AMBIENT],
    ["nuxt/server/logger.ts", LOGGER],
  ]);
  for (const page of PAGES) {
    for (const [name, code] of blocksOf(page))
      files.set(path.join(page.replace(".md", ""), name), `${code}\nexport {};\n`);
  }
  expect(files.size).toBeGreaterThan(15);
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), text);
  }
  writeFileSync(path.join(dir, "tsconfig.json"), JSON.stringify({ ...config(), files: [...files.keys()] }));

  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsc, "-p", dir]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  expect(stdout + stderr).toBe("");
});

/** The blocks of TypeScript by the file they say they are, else by their number. */
function blocksOf(page: string): [string, string][] {
  const blocks = [...readFileSync(path.join(DOCS, page), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)];
  return blocks.map(([, code = ""], n) => [/^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1] ?? `${n}.ts`, code]);
}

function config() {
  const { exports }: { exports: Record<string, { import?: { types: string } }> } = JSON.parse(
    readFileSync(path.join(SDK, "package.json"), "utf8"),
  );
  const entries = Object.entries(exports).flatMap(([name, target]) => {
    const types = target.import?.types;
    if (types === undefined) return [];
    return [
      [path.posix.join("taffrail", name), [path.join(SDK, types.replace("/dist/", "/src/").replace(".d.mts", ".ts"))]],
    ];
  });
  return {
    extends: "../../tsconfig.json",
    compilerOptions: {
      isolatedDeclarations: false,
      declaration: false,
      paths: {
        ...Object.fromEntries(entries),
        "#runtime": [path.join(SDK, "src/runtime/node.ts")],
        "#names": [path.join(SDK, "src/names.ts")],
        "@/*": [`${dir}/next/*`],
      },
    },
    include: [],
  };
}
