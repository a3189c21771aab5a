import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const SRC = path.join(import.meta.dirname, "../../src");
const MAX_LINES = 300;
const MAX_FILES = 250;

/** Folders of `src/` by layer, the uppermost first. A module takes values from its own layer and from those below. */
const LAYERS = [
  ["worker.ts"],
  ["routes"],
  ["objects"],
  ["accounts", "keys", "limits", "logs", "mail", "sandbox", "tail", "workspace"],
  ["rpc"],
  ["http"],
  ["platform", "env.ts", "ids.ts", "settings.ts"],
];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

function layerOf(file: string): number {
  const [first = ""] = file.split(path.sep);
  return LAYERS.findIndex((folders) => folders.includes(first));
}

/** Files that a module takes values from: imports of types alone are gone at run time. */
function valueImports(file: string): string[] {
  const text = readFileSync(path.join(SRC, file), "utf8");
  const statements = text.matchAll(/^(?:import|export) (?!type )([^;]*?)from "(\.[^"]+)";/gms);
  return [...statements]
    .filter(([, names = ""]) => !isOfTypes(names))
    .map(([, , specifier = ""]) => path.join(path.dirname(file), specifier))
    .filter((imported) => !imported.startsWith(".."));
}

function isOfTypes(names: string): boolean {
  const listed = /^\{(.*)\}\s*$/s.exec(names.trim())?.[1];
  return !!listed && listed.split(",").every((name) => /^\s*(type\s|$)/.test(name));
}

test("every folder of src belongs to a layer", () => {
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
});

test("values come from the same layer or from one below", () => {
  const upward = files.flatMap((file) =>
    valueImports(file)
      .filter((imported) => layerOf(imported) < layerOf(file))
      .map((imported) => `${file} takes a value from ${imported}`),
  );
  expect(upward).toEqual([]);
});

test("src stays small: few files, none of them long", () => {
  expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  const long = files.filter((file) => readFileSync(path.join(SRC, file), "utf8").split("\n").length - 1 > MAX_LINES);
  expect(long).toEqual([]);
});
