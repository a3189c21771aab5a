import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { StartFailure } from "./failure.ts";
import { WRANGLER_CONFIG } from "./paths.ts";
import { wrangler } from "./wrangler.ts";

/** What stands in wrangler.toml until there is a database. */
const NO_DATABASE_ID = "00000000-0000-0000-0000-000000000000";
const DATABASE_NAME = "taffrail";

const databaseList = z.array(z.object({ uuid: z.string(), name: z.string() }));
const secretList = z.array(z.object({ name: z.string() }));

/** Whether wrangler.toml already names a database. */
export function hasDatabaseId(): boolean {
  return !readFileSync(WRANGLER_CONFIG, "utf8").includes(NO_DATABASE_ID);
}

/** Finds the account's database of this service or creates it, and writes its id into wrangler.toml. */
export async function ensureDatabase(): Promise<void> {
  if (hasDatabaseId()) return;
  let id = await databaseId();
  if (id === null) {
    await ran(["d1", "create", DATABASE_NAME]);
    id = await databaseId();
  }
  if (id === null) throw new StartFailure(`The database ${DATABASE_NAME} was created but is not listed. Try again.`);
  writeFileSync(WRANGLER_CONFIG, readFileSync(WRANGLER_CONFIG, "utf8").replace(NO_DATABASE_ID, id));
}

async function databaseId(): Promise<string | null> {
  const databases = databaseList.parse(JSON.parse(await ran(["d1", "list", "--json"])));
  return databases.find((database) => database.name === DATABASE_NAME)?.uuid ?? null;
}

/** Creates the queues that wrangler.toml names and the account has not: a deployment is refused without them. */
export async function ensureQueues(): Promise<void> {
  const names = readFileSync(WRANGLER_CONFIG, "utf8").matchAll(/^(?:queue|dead_letter_queue) = "([^"]+)"$/gm);
  for (const name of new Set([...names].map(([, name = ""]) => name))) {
    const { code } = await wrangler(["queues", "info", name]);
    if (code !== 0) await ran(["queues", "create", name]);
  }
}

/** Names of the worker's secrets; none where the worker does not exist yet. */
export async function secretNames(): Promise<string[]> {
  const { code, stdout } = await wrangler(["secret", "list", "--format", "json"]);
  return code === 0 ? secretList.parse(JSON.parse(stdout)).map((secret) => secret.name) : [];
}

async function ran(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await wrangler(args);
  if (code !== 0) throw new StartFailure(`wrangler ${args.join(" ")} failed.\n${stdout}${stderr}`);
  return stdout;
}
