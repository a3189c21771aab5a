import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import path from "node:path";

const VERSION = "1.4.5";
/** Installed outside of the lockfile: Bun has 100 MB, is only for tests, and is not available on every machine. */
const DIR = path.resolve(import.meta.dirname, `../../../node_modules/.cache/bun-${VERSION}`);
/** Timeout of the installation in milliseconds. */
const INSTALL_MS = 120_000;

/** Returns the Bun that the variable `BUN` names, or that `installBun` has installed; otherwise `undefined`. */
export function findBun(): string | undefined {
  const named = process.env.BUN;
  if (named !== undefined) return existsSync(named) ? named : undefined;
  return globSync("node_modules/@oven/*/bin/bun", { cwd: DIR })
    .map((file) => path.join(DIR, file))
    .find(runs);
}

/** Installs Bun with npm, once for all runs. An empty variable `BUN` disables it. */
export function installBun(): string | undefined {
  const found = findBun();
  if (found !== undefined || process.env.BUN !== undefined) return found;
  mkdirSync(DIR, { recursive: true });
  try {
    // Each platform has a package with the binary, which the script of `bun` would only move.
    const args = ["install", "--prefix", DIR, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
    execFileSync("npm", [...args, "--fetch-retries=1", `bun@${VERSION}`], { stdio: "ignore", timeout: INSTALL_MS });
  } catch {
    // The registry is unreachable, or there is no Bun for this platform. The caller reports that.
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
