import path from "node:path";

/** The repository's root; every path of the scripts starts here, wherever they are run from. */
export const ROOT = path.resolve(import.meta.dirname, "../..");

export const WRANGLER_CONFIG = path.join(ROOT, "wrangler.toml");
/** Migrations of each D1 database, by its binding; as `migrations_dir` in wrangler.toml. */
export const MIGRATIONS_DIRS = {
  DB: path.join(ROOT, "migrations"),
  COLD_DB: path.join(ROOT, "migrations-cold"),
} as const;
export const ASSETS_DIR = path.join(ROOT, "dist", "assets");
/** The worker as one file, bundled just as for production. */
export const BUNDLE = path.join(ROOT, "dist", "worker", "worker.js");

/** Where the runtime's own sockets are below DATA_DIR. */
export function runDirOf(dataDir: string): string {
  return path.join(dataDir, "run");
}

/** Where the runtime keeps D1 and the objects below DATA_DIR; `wrangler dev --persist-to DATA_DIR` uses the same. */
export function stateDir(dataDir: string): string {
  return path.join(dataDir, "v3");
}
