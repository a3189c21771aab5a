/**
 * `npm run dev`: `wrangler dev`, which reloads on every change, with the settings, secrets and data of `npm start`. It
 * logs every request and is much slower, so use it for development, not for serving.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { buildAssets } from "./lib/bundle.ts";
import { takeDataDir } from "./lib/data-dir.ts";
import { exitWith } from "./lib/failure.ts";
import { addressOf, claimablePort } from "./lib/port.ts";
import { effectiveBindings, migrateDatabase } from "./lib/runtime.ts";
import { keptSecrets } from "./lib/secrets.ts";
import {
  checkWorkerSettings,
  refuseOpenOutbox,
  type StartSettings,
  startSettings,
  workerOverrides,
} from "./lib/settings.ts";
import { wranglerForeground } from "./lib/wrangler.ts";

process.exit(await dev(startSettings(process.env)).catch(exitWith));

async function dev({ HOST, PORT, DATA_DIR }: StartSettings): Promise<number> {
  const port = await claimablePort(HOST, PORT);
  refuseOpenOutbox(HOST, effectiveBindings(workerOverrides(process.env)));
  const lock = takeDataDir(DATA_DIR);
  const settings = { BASE_URL: addressOf(HOST, port), ...keptSecrets(DATA_DIR), ...workerOverrides(process.env) };
  checkWorkerSettings(effectiveBindings(settings));
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`);
  // Not .dev.vars in the repository, which tests and npm start would read, too.
  const varsFile = path.join(DATA_DIR, "dev.vars");
  writeFileSync(varsFile, lines.join(""), { mode: 0o600 });
  await buildAssets();
  await migrateDatabase(DATA_DIR);
  const args = [
    "dev",
    "--ip",
    HOST,
    "--port",
    String(port),
    "--persist-to",
    DATA_DIR,
    "--env-file",
    varsFile,
    ...process.argv.slice(2),
  ];
  const code = await wranglerForeground(args);
  lock.release();
  return code;
}
