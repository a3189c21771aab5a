import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import path from "node:path";

const VERSION = "1.4.5";
/** Outside the lockfile: 100 MB that only tests need, and not every machine can have. */
const DIR = path.resolve(import.meta.dirname, `../../../node_modules/.cache/bun-${VERSION}`);
/** Milliseconds npm has for all of it. */
const INSTALL_MS = 120_000;

/** The Bun that `BUN` names, or the one that `installBun` left; `undefined` if there is none. */
export function findBun(): string | undefined {
  const named = process.env.BUN;
  if (named !== undefined) return existsSync(named) ? named : undefined;
  return globSync("node_modules/@oven/*/bin/bun", { cwd: DIR })
    .map((file) => path.join(DIR, file))
    .find(runs);
}

/** Has npm install Bun, once for all runs. `BUN=` (empty) does without. */
export function installBun(): string | undefined {
  const found = findBun();
  if (found !== undefined || process.env.BUN !== undefined) return found;
  mkdirSync(DIR, { recursive: true });
  try {
    // The binary is in a package of its own for each platform; the script of `bun` would only move it.
    const args = ["install", "--prefix", DIR, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
    execFileSync("npm", [...args, "--fetch-retries=1", `bun@${VERSION}`], { stdio: "ignore", timeout: INSTALL_MS });
  } catch {
    // No registry, or no Bun for this platform: whoever asked says so.
  }
  return findBun();
}

function runs(file: string): boolean {
  try {
    return execFileSync(file, ["--version"], { encoding: "utf8" }).trim() === VERSION;
  } catch {
    return false;
  }
}
