/**
 * Installs what is measured: the clients at their exact versions, and a snapshot of this library as its users get it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

const HERE = import.meta.dirname;
const SDK = path.resolve(HERE, "../../sdk");
const MODULES = path.join(HERE, "node_modules");

export function install(): void {
  if (Object.entries(dependencies()).some(([name, version]) => installed(name) !== version)) {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: HERE, stdio: "inherit" });
  }
  execFileSync(process.execPath, [path.resolve(SDK, "../node_modules/tsdown/dist/run.mjs")], {
    cwd: SDK,
    stdio: "ignore",
  });
  // A copy, because a build during the run must not change what is measured.
  const copy = path.join(MODULES, "taffrail");
  rmSync(copy, { recursive: true, force: true });
  cpSync(path.join(SDK, "dist"), path.join(copy, "dist"), { recursive: true });
  cpSync(path.join(SDK, "package.json"), path.join(copy, "package.json"));
}

/** The versions of all packages, by name. */
export function versions(): Record<string, string> {
  return { taffrail: installed("taffrail") ?? "?", ...dependencies() };
}

function dependencies(): Record<string, string> {
  return JSON.parse(readFileSync(path.join(HERE, "package.json"), "utf8")).dependencies;
}

function installed(name: string): string | undefined {
  const file = path.join(MODULES, name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined;
}
