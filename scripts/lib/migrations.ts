import { createHash, createHmac } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartFailure } from "./failure.ts";
import { answerOf } from "./wrangler-answers.ts";

/** The part of D1 that migrations require. */
export interface MigrationTarget {
  applied(): Promise<readonly string[]>;
  /** Runs the statements and records the name, all or nothing. */
  apply(name: string, statements: readonly string[]): Promise<void>;
}

/** The table of `wrangler d1 migrations apply`, so that either can continue the other's migrations. */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Namespace of the simulator's objects that hold D1 databases, and directory of their files. */
const D1_NAMESPACE = "miniflare-D1DatabaseObject";

/**
 * Whether a database of the simulator has all migrations of a directory. Reads the database's file, because the simulator
 * takes a second to start. `false` if the file is missing or not understood: then the simulator has the answer.
 * @param stateDir directory of the simulator's data
 */
export function hasMigrations(stateDir: string, databaseId: string, directory: string): boolean {
  const file = path.join(stateDir, "d1", D1_NAMESPACE, `${objectIdOf(databaseId)}.sqlite`);
  if (!existsSync(file)) return false;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const done = new Set(
        database
          .prepare("SELECT name FROM d1_migrations")
          .all()
          .map(({ name }) => name),
      );
      return readdirSync(directory).every((name) => !name.endsWith(".sql") || done.has(name));
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

/** Returns the id that the runtime derives from the name of an object; the simulator names it by its database. */
function objectIdOf(databaseId: string): string {
  const key = createHash("sha256").update(D1_NAMESPACE).digest();
  const half = (data: string | Buffer) => createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const name = half(databaseId);
  return Buffer.concat([name, half(name)]).toString("hex");
}

/**
 * Applies the missing `*.sql` files of a directory in the order of their names.
 * @returns the names of those applied now
 * @throws StartFailure naming the failed migration; earlier ones stay applied
 */
export async function migrate(target: MigrationTarget, directory: string): Promise<string[]> {
  const done = new Set(await target.applied());
  const files = (await readdir(directory)).filter((name) => name.endsWith(".sql") && !done.has(name)).sort();
  for (const name of files) {
    const sql = await readFile(path.join(directory, name), "utf8");
    const statements = answerOf([sql], ({ unstable_splitSqlQuery }) => unstable_splitSqlQuery(sql));
    try {
      await target.apply(name, statements);
    } catch (error) {
      throw new StartFailure(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`);
    }
  }
  return files;
}
