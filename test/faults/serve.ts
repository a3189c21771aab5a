/**
 * Serves a bundle as `npm start` serves the service, on separate data. The harness starts, kills and restarts it.
 * BUNDLE, DATA_DIR, PORT and, at the first start, IS_NEW come from the environment, as do settings of the worker.
 */

import { takeDataDir } from "../../scripts/lib/data-dir.ts";
import { WRANGLER_CONFIG } from "../../scripts/lib/paths.ts";
import { migrateDatabase, serve } from "../../scripts/lib/runtime.ts";
import { keptSecrets } from "../../scripts/lib/secrets.ts";
import { workerOverrides } from "../../scripts/lib/settings.ts";
import { READY } from "./server.ts";

const { BUNDLE = "", DATA_DIR = "", PORT = "", IS_NEW } = process.env;
const host = "127.0.0.1";
const lock = takeDataDir(DATA_DIR);
if (IS_NEW) await migrateDatabase(DATA_DIR);
const runtime = await serve({
  worker: { config: WRANGLER_CONFIG, bundle: BUNDLE },
  dataDir: DATA_DIR,
  host,
  port: Number(PORT),
  overrides: { ...keptSecrets(DATA_DIR), BASE_URL: `http://${host}:${PORT}`, ...workerOverrides(process.env) },
  onLine: (line) => console.log(line),
});
process.once("SIGTERM", async () => {
  await runtime.dispose();
  lock.release();
  process.exit(0);
});
console.log(READY);
