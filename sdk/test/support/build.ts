import { execFileSync } from "node:child_process";
import path from "node:path";

const SDK = path.resolve(import.meta.dirname, "../..");

/** Real processes run what is published: built once before the tests. */
export default function setup(): void {
  execFileSync(process.execPath, [path.resolve(SDK, "../node_modules/tsdown/dist/run.mjs"), "--logLevel", "warn"], {
    cwd: SDK,
    stdio: "inherit",
  });
}
