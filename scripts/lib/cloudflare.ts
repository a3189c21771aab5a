import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { StartFailure } from "./failure.ts";
import { WRANGLER_CONFIG } from "./paths.ts";
import { wrangler } from "./wrangler.ts";

/** A database of wrangler.toml without an id: its name, and the surrounding text. */
const WITHOUT_ID = /^(database_name = "([^"]+)"\n(?:#.*\n)*database_id = ")00000000-0000-0000-0000-000000000000"$/gm;

const databaseList = z.array(z.object({ uuid: z.string(), name: z.string() }));
const secretList = z.array(z.object({ name: z.string() }));

/** Names of the databases without an id in wrangler.toml. */
export function missingDatabases(config = readFileSync(WRANGLER_CONFIG, "utf8")): string[] {
  return [...config.matchAll(WITHOUT_ID)].map(([, , name = ""]) => name);
}

const LAST_COLD_TABLE =
  /^\[\[d1_databases\]\]\nbinding = "COLD_DB(?:_(\d))?"\n(?:(?!\n|\[).*\n)*(?![\s\S]*^binding = "COLD_DB)/m;
/** `coldDatabasesOf` in the worker looks for names up to this one. */
const MAX_COLD_DATABASES = 9;

/** Bindings of the D1 databases in a configuration, in order. */
export function databaseBindings(config = readFileSync(WRANGLER_CONFIG, "utf8")): string[] {
  return [...config.matchAll(/^\[\[d1_databases\]\]\nbinding = "(\w+)"$/gm)].map(([, name = ""]) => name);
}

/**
 * Returns a configuration with one more database of segments, still without an id, and its binding.
 * @throws StartFailure if there are nine
 */
export function withColdDatabase(config: string): { config: string; binding: string } {
  const number = Number(LAST_COLD_TABLE.exec(config)?.[1] ?? 1) + 1;
  if (number > MAX_COLD_DATABASES) throw new StartFailure(`There are ${MAX_COLD_DATABASES} databases of segments.`);
  const binding = `COLD_DB_${number}`;
  const added = `
# Ranges go here once the database before it is full.
[[d1_databases]]
binding = "${binding}"
database_name = "taffrail-cold-${number}"
database_id = "00000000-0000-0000-0000-000000000000"
preview_database_id = "taffrail-cold-${number}-local"
migrations_dir = "migrations-cold"
`;
  return { config: config.replace(LAST_COLD_TABLE, (table) => table + added), binding };
}

/** Finds or creates the account's databases of this service, and writes their ids to wrangler.toml. */
export async function ensureDatabases(): Promise<void> {
  for (const name of missingDatabases()) {
    const id = await ensureDatabase(name);
    writeFileSync(WRANGLER_CONFIG, withDatabaseId(readFileSync(WRANGLER_CONFIG, "utf8"), name, id));
  }
}

/** Adds the id of a database that has none in the configuration; all others stay. */
export function withDatabaseId(config: string, name: string, id: string): string {
  return config.replace(WITHOUT_ID, (whole, head: string, found: string) => (found === name ? `${head}${id}"` : whole));
}

async function ensureDatabase(name: string): Promise<string> {
  const known = await databaseId(name);
  if (known !== null) return known;
  await ran(["d1", "create", name]);
  const made = await databaseId(name);
  if (made === null) throw new StartFailure(`The database ${name} was created but is not listed. Try again.`);
  return made;
}

async function databaseId(name: string): Promise<string | null> {
  const databases = databaseList.parse(JSON.parse(await ran(["d1", "list", "--json"])));
  return databases.find((database) => database.name === name)?.uuid ?? null;
}

/** Creates the queues of wrangler.toml that the account lacks, because a deployment is refused without them. */
export async function ensureQueues(): Promise<void> {
  const names = readFileSync(WRANGLER_CONFIG, "utf8").matchAll(/^(?:queue|dead_letter_queue) = "([^"]+)"$/gm);
  for (const name of new Set([...names].map(([, name = ""]) => name))) {
    const { code } = await wrangler(["queues", "info", name]);
    if (code !== 0) await ran(["queues", "create", name]);
  }
}

/** The bucket of the cold tier in wrangler.toml, with its comments. */
const BUCKET_TABLE = /(?:^#.*\n)*^\[\[r2_buckets\]\]\n(?:(?!\n|\[).*\n)*\n?/m;

/** Name of the bucket in wrangler.toml. */
export function bucketName(): string {
  const name = /^bucket_name = "([^"]+)"$/m.exec(readFileSync(WRANGLER_CONFIG, "utf8"))?.[1];
  if (name === undefined) throw new StartFailure("wrangler.toml names no bucket.");
  return name;
}

/** Creates the bucket of the cold tier if the account lacks it. */
export async function ensureBucket(): Promise<void> {
  const { code } = await wrangler(["r2", "bucket", "info", bucketName()]);
  if (code !== 0) await ran(["r2", "bucket", "create", bucketName()]);
}

/** Returns a configuration without a bucket, for accounts that have no R2. */
export function withoutBucket(config: string): string {
  return config.replace(BUCKET_TABLE, "");
}

/** Names of the worker's secrets, or none if the worker does not exist yet. */
export async function secretNames(): Promise<string[]> {
  const { code, stdout } = await wrangler(["secret", "list", "--format", "json"]);
  return code === 0 ? secretList.parse(JSON.parse(stdout)).map((secret) => secret.name) : [];
}

async function ran(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await wrangler(args);
  if (code !== 0) throw new StartFailure(`wrangler ${args.join(" ")} failed.\n${stdout}${stderr}`);
  return stdout;
}
