/** `npm test`: all tests, or those named by the arguments, which are passed to vitest. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildAll } from "./lib/bundle.ts";
import { exitWith } from "./lib/failure.ts";
import { ROOT } from "./lib/paths.ts";
import { WRANGLER_ENV } from "./lib/wrangler.ts";

// Tests in the runtime require the static files, and tests that start servers would each build the bundle.
const args = process.argv.slice(2);
const isUnitAlone = args[0] === "--project" && args[1] === "unit" && !args.includes("--project", 2);
if (!isUnitAlone) await buildAll().catch(exitWith);

// Test workers are killed without cleanup; what they leave is deleted with this directory.
const temporary = mkdtempSync(path.join(tmpdir(), "taffrail-tests-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 }));

// A server that starts with migrated databases starts a second earlier.
const migrated = path.join(temporary, "migrated");
if (!isUnitAlone) {
  const { migrateDatabase } = await import("./lib/runtime.ts");
  await migrateDatabase(migrated).catch(exitWith);
}

const vitest = path.join(ROOT, "node_modules", "vitest", "vitest.mjs");
const child = spawn(process.execPath, [vitest, "run", ...args], {
  cwd: ROOT,
  env: {
    ...process.env,
    ...WRANGLER_ENV,
    TMPDIR: temporary,
    ...(isUnitAlone ? {} : { MIGRATED_DATA: migrated }),
    // Hundreds of processes load the same modules: the first one compiles them for the others of this run.
    NODE_COMPILE_CACHE: path.join(temporary, "compiled"),
  },
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("exit", (code) => process.exit(code ?? 1));
