import { execFileSync } from "node:child_process";
import path from "node:path";
import { installBun } from "../../scripts/lib/bun.ts";

const SDK = path.resolve(import.meta.dirname, "../..");

/** Builds the published files once before the tests, for processes on Node and Bun. */
export default function setup(): void {
  if (installBun() === undefined)
    console.log("Bun is not here, and npm has none for this machine: its tests are skipped");
  execFileSync(process.execPath, [path.resolve(SDK, "../node_modules/tsdown/dist/run.mjs"), "--logLevel", "warn"], {
    cwd: SDK,
    stdio: "inherit",
  });
}
