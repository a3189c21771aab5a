/**
 * `npm run deploy [-- --dry-run]`: creates what is missing on Cloudflare (D1 databases, the bucket, queues, secrets),
 * migrates and deploys. `--add-cold-db` adds one more database of segments to wrangler.toml first. Requires `wrangler login` or CLOUDFLARE_API_TOKEN. Settings come from `[vars]` in wrangler.toml; the
 * environment overrides them. Tests cover only `--dry-run`, because the rest requires an account.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildAssets } from "./lib/bundle.ts";
import {
  bucketName,
  databaseBindings,
  ensureBucket,
  ensureDatabases,
  ensureQueues,
  missingDatabases,
  secretNames,
  withColdDatabase,
  withoutBucket,
} from "./lib/cloudflare.ts";
import { exitWith } from "./lib/failure.ts";
import { BUCKETLESS_CONFIG, WRANGLER_CONFIG } from "./lib/paths.ts";
import { effectiveBindings } from "./lib/runtime.ts";
import { newSecrets } from "./lib/secrets.ts";
import { checkDeploySettings, workerOverrides } from "./lib/settings.ts";
import { wranglerForeground } from "./lib/wrangler.ts";

/** Settings that are uploaded as secrets, never as plain variables. */
const SECRET_NAMES = /SECRET|PEPPER|API_KEY|_TOKEN$/;

/** Defaults of a deployment for settings that neither the environment nor `[vars]` has. */
const DEPLOYED: Readonly<Record<string, string>> = { PASSWORD_BLOCKLIST: "on" };

const dryRun = process.argv.includes("--dry-run");
process.exit(
  await deploy()
    .catch(exitWith)
    .finally(() => rmSync(BUCKETLESS_CONFIG, { force: true })),
);

async function deploy(): Promise<number> {
  const given = Object.entries({ ...unsaid(DEPLOYED), ...workerOverrides(process.env) });
  const vars = given.filter(([name]) => !SECRET_NAMES.test(name));
  const secrets = given.filter(([name]) => SECRET_NAMES.test(name));
  const bindings = effectiveBindings({ ...newSecrets(), ...Object.fromEntries(given) });
  checkDeploySettings(bindings);
  await buildAssets();
  const hasBucket = bindings.COLD_BUCKET !== "off";
  const varArgs = vars.flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const present = readFileSync(WRANGLER_CONFIG, "utf8");
  const config = process.argv.includes("--add-cold-db") ? withColdDatabase(present).config : present;
  if (dryRun) {
    const missing = missingDatabases(config);
    const databases = databaseBindings(config).join(", ");
    const bucket = hasBucket ? `create or find the bucket ${bucketName()}` : "use no bucket";
    console.log(
      ["Settings besides those in wrangler.toml:", ...vars.map(([name, value]) => `  ${name}=${value}`)].join("\n"),
    );
    console.log(
      `Would ${missing.length === 0 ? "use the D1 databases" : `create or find ${missing.join(" and ")} in D1`}, ${bucket}, add missing queues and secrets, migrate ${databases}, and deploy:`,
    );
    return wranglerForeground([...deployArgs(hasBucket), ...varArgs, "--dry-run"]);
  }
  if (config !== present) writeFileSync(WRANGLER_CONFIG, config);
  await ensureDatabases();
  if (hasBucket) await ensureBucket();
  await ensureQueues();
  // Before the new version, which relies on both. An older version stops writing segments to `DB`.
  for (const binding of databaseBindings()) {
    const migrated = await wranglerForeground(["d1", "migrations", "apply", binding, "--remote"]);
    if (migrated !== 0) return migrated;
  }
  const stored = await secretNames();
  const missing = Object.entries(newSecrets()).filter(([name]) => !stored.includes(name));
  return withSecretsFile({ ...Object.fromEntries(missing), ...Object.fromEntries(secrets) }, (file) =>
    wranglerForeground([...deployArgs(hasBucket), ...varArgs, "--secrets-file", file]),
  );
}

/** Writes the configuration of a deployment without a bucket beside wrangler.toml, because it has relative paths. */
function deployArgs(hasBucket: boolean): string[] {
  if (hasBucket) return ["deploy"];
  writeFileSync(BUCKETLESS_CONFIG, withoutBucket(readFileSync(WRANGLER_CONFIG, "utf8")));
  return ["deploy", "--config", BUCKETLESS_CONFIG];
}

/** Defaults for which `[vars]` has no value. */
function unsaid(defaults: Readonly<Record<string, string>>): Record<string, string> {
  const said = effectiveBindings({});
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => (said[name] ?? "") === ""));
}

/** Secrets are passed in a temporary file that only its owner can read, never on a command line. */
async function withSecretsFile(
  secrets: Record<string, string>,
  use: (file: string) => Promise<number>,
): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-deploy-"));
  try {
    const file = path.join(directory, "secrets.json");
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 });
    return await use(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
