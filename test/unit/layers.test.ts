import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const SRC = path.join(import.meta.dirname, "../../src");
const MAX_LINES = 300;
const MAX_FILES = 735;

/**
 * Folders and files of `src/` by layer, the uppermost first. A module imports values and types from its own layer and
 * from those below.
 */
const LAYERS = [
  ["worker.ts"],
  ["routes"],
  ["objects"],
  ["rpc"],
  ["accounts", "alerts", "doors", "grants", "keys", "limits", "logs", "mail", "mcp", "sandbox", "tail", "workspace"],
  ["http"],
  ["platform", "env.ts", "ids.ts", "settings.ts"],
  // Shapes that every layer passes on, and the query language, which clients use as well.
  ["rpc/result.ts", "limits/state.ts", "keys/scopes.ts", "query-language", "logql"],
];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

function layerOf(file: string): number {
  const [first = ""] = file.split(path.sep);
  const named = LAYERS.findIndex((members) => members.includes(file));
  return named >= 0 ? named : LAYERS.findIndex((members) => members.includes(first));
}

/** Files that a module imports values or types from. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(SRC, file), "utf8");
  const statements = text.matchAll(/^(?:import|export) [^;]*?from "(\.[^"]+)";|import\("(\.[^"]+)"\)/gms);
  return [...statements]
    .map(([, specifier, inline = ""]) => path.join(path.dirname(file), specifier ?? inline))
    .filter((imported) => !imported.startsWith(".."));
}

test("every folder of src belongs to a layer", () => {
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
});

test("values and types come from the same layer or from one below", () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => layerOf(imported) < layerOf(file))
      .map((imported) => `${file} imports from ${imported}`),
  );
  expect(upward).toEqual([]);
});

test("routes import objects only through the contracts in rpc", () => {
  const across = files
    .filter((file) => file.startsWith("routes/"))
    .flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.startsWith("objects/"))
        .map((imported) => `${file} imports from ${imported}`),
    );
  expect(across).toEqual([]);
});

test("src stays small: few files, none of them long", () => {
  expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  const long = files.filter((file) => readFileSync(path.join(SRC, file), "utf8").split("\n").length - 1 > MAX_LINES);
  expect(long).toEqual([]);
});
