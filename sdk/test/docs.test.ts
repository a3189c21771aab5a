import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const SDK = path.resolve(import.meta.dirname, "..");
const DOCS = path.resolve(SDK, "../docs/client");
const PAGES = readdirSync(DOCS).filter((name) => name.endsWith(".md"));
/** All sources but those of the terminal client, which exports nothing. */
const SOURCES = globSync("**/*.ts", { cwd: path.join(SDK, "src"), exclude: ["cli/**"] });
const ENTRIES = entriesOf();
const ENTRY_SOURCES = Object.values(ENTRIES).flat();

/** Names that the pages and examples leave to the reader. */
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
/** The global logger of examples that do not create one. */
const EXAMPLE_LOGGER = `declare const logger: import("taffrail").Logger;`;

let dir = "";
// In the library's directory, so that the packages it is tested with are found.
beforeAll(() => {
  dir = mkdtempSync(path.join(SDK, "test/.docs-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

// TypeScript's own defaults for a new project are stricter than `strict`.
test("the code on the pages compiles", async () => {
  const files = new Map([
    ["ambient.d.ts", AMBIENT],
    ["nuxt/server/logger.ts", LOGGER],
  ]);
  for (const page of PAGES) {
    for (const [name, code] of blocksOf(page))
      files.set(path.join(page.replace(".md", ""), name), `${code}\nexport {};\n`);
  }
  expect(files.size).toBeGreaterThan(15);
  expect(await compile("pages", files)).toBe("");
});

test("the examples of docstrings compile", async () => {
  const files = new Map([["ambient.d.ts", AMBIENT + EXAMPLE_LOGGER]]);
  for (const source of SOURCES) {
    for (const [n, code] of examplesOf(source).entries())
      files.set(path.join(source.replace(".ts", ""), `${n}.ts`), `${code}\nexport {};\n`);
  }
  expect(files.size).toBeGreaterThan(20);
  expect(await compile("examples", files)).toBe("");
});

test.each(ENTRY_SOURCES)("every function and class that %s exports has an @example", (source) => {
  const code = readFileSync(source, "utf8");
  const exported = [...code.matchAll(/^export (?:default )?(?:async )?(?:function|class) (\w+)/gm)];
  const missing = exported.filter(({ index }) => !docBefore(code, index).includes("@example"));
  expect(missing.map(([, name]) => name)).toEqual([]);
});

test("every optional member of a public options type has a @default", () => {
  const missing: string[] = [];
  let count = 0;
  for (const source of SOURCES) {
    const code = readFileSync(path.join(SDK, "src", source), "utf8");
    for (const { 0: block, 1: name, index } of code.matchAll(
      /^(?:export )?(?:interface|type) (\w*Options)\b.*\{$[\s\S]*?^\}/gm,
    )) {
      for (const member of block.matchAll(/^ {2}(\w+)\?: /gm)) {
        count++;
        if (!docBefore(code, index + member.index).includes("@default")) missing.push(`${name}.${member[1]}`);
      }
    }
  }
  expect(count).toBeGreaterThan(70);
  expect(missing).toEqual([]);
});

/** Writes files, and compiles them against the sources. @returns what the compiler reports */
async function compile(name: string, files: ReadonlyMap<string, string>): Promise<string> {
  const project = path.join(dir, name);
  for (const [file, text] of files) {
    mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
    writeFileSync(path.join(project, file), text);
  }
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ ...config(project), files: [...files.keys()] }));
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsc, "-p", project]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return stdout + stderr;
}

/** The docstring that ends on the line before a position; empty if there is none. */
function docBefore(code: string, position: number): string {
  const before = code.slice(0, position).replace(/\s*\/\/ biome-ignore[^\n]*\n\s*$/, "\n");
  return /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(before)?.[0] ?? "";
}

/** The code of the `@example` blocks of a source file. */
function examplesOf(source: string): string[] {
  const code = readFileSync(path.join(SDK, "src", source), "utf8");
  return [...code.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\//g)].flatMap(([doc]) => {
    const lines = doc.slice(3, -2).replace(/^ *\* ?/gm, "");
    return [...lines.matchAll(/^@example(.*(?:\n(?!@\w).*)*)/gm)].map(([, example = ""]) => example);
  });
}

/** The blocks of TypeScript by the file that their first line names, else by their number. */
function blocksOf(page: string): [string, string][] {
  const blocks = [...readFileSync(path.join(DOCS, page), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)];
  return blocks.map(([, code = ""], n) => [/^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1] ?? `${n}.ts`, code]);
}

/** Sources by the name that an application imports. */
function entriesOf(): Record<string, string[]> {
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
  return Object.fromEntries(entries);
}

function config(project: string) {
  return {
    extends: "../../../tsconfig.json",
    compilerOptions: {
      isolatedDeclarations: false,
      declaration: false,
      paths: {
        ...ENTRIES,
        "#runtime": [path.join(SDK, "src/runtime/node.ts")],
        "#names": [path.join(SDK, "src/names.ts")],
        "@/*": [`${project}/next/*`],
      },
    },
    include: [],
  };
}
