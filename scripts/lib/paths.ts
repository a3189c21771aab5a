import path from "node:path";

/** The repository's root. Every path of the scripts begins here, whatever the working directory. */
export const ROOT = path.resolve(import.meta.dirname, "../..");

export const WRANGLER_CONFIG = path.join(ROOT, "wrangler.toml");
/** Made by a deploy without a bucket, and deleted after it. */
export const BUCKETLESS_CONFIG = path.join(ROOT, "wrangler.bucketless.toml");
/** Returns the migrations of a D1 database by its binding, like `migrations_dir` in wrangler.toml. */
export function migrationsDirOf(binding: string): string {
  return path.join(ROOT, binding === "DB" ? "migrations" : "migrations-cold");
}
export const ASSETS_DIR = path.join(ROOT, "dist", "assets");
/** The worker as one file, bundled as for production. */
export const BUNDLE = path.join(ROOT, "dist", "worker", "worker.js");

/** Directory of the runtime's sockets below DATA_DIR. */
export function runDirOf(dataDir: string): string {
  return path.join(dataDir, "run");
}

/** Directory of D1 and the objects below DATA_DIR; `wrangler dev --persist-to DATA_DIR` uses the same. */
export function stateDir(dataDir: string): string {
  return path.join(dataDir, "v3");
}
