import { execFileSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import path from "node:path";
import { installBun } from "../../scripts/lib/bun.ts";

const SDK = path.resolve(import.meta.dirname, "../..");

/** Builds the published files once before the tests, for processes on Node and Bun. */
export default function setup(): void {
  if (installBun() === undefined)
    console.log("Bun is not here, and npm has none for this machine: its tests are skipped");
  if (isBuilt()) return;
  execFileSync(process.execPath, [path.resolve(SDK, "../node_modules/tsdown/dist/run.mjs"), "--logLevel", "warn"], {
    cwd: SDK,
    stdio: "inherit",
  });
}

/** Whether the published files are newer than all they are made from, as after the gates. */
function isBuilt(): boolean {
  const timesOf = (patterns: string[]) =>
    globSync(patterns, { cwd: SDK }).map((name) => statSync(path.join(SDK, name)).mtimeMs);
  const made = timesOf(["dist/**/*"]);
  // Folders, too: their times change if a file is deleted.
  const sources = timesOf([
    "src",
    "src/**/*",
    "package.json",
    "tsconfig.json",
    "tsdown.config.ts",
    "../package-lock.json",
    "../tsconfig.base.json",
  ]);
  return made.length > 0 && Math.min(...made) > Math.max(...sources);
}
