import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
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
