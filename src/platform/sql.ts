/** The statements of each version of an object's tables, oldest first. Released statements are never edited. */
export type SchemaSteps = readonly (readonly string[])[];

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_version (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- How many of the steps have been taken.
  version INTEGER NOT NULL
) STRICT`;

/**
 * Migrates an object's tables to the newest version: executes the missing steps in order. Call inside a transaction,
 * when the object is provisioned and each time it starts. An object that is up to date writes nothing.
 */
export function migrate(sql: SqlStorage, steps: SchemaSteps): void {
  const version = versionOf(sql);
  if (version >= steps.length) return;
  sql.exec(VERSION_TABLE);
  for (const step of steps.slice(version)) for (const statement of step) sql.exec(statement);
  sql.exec("INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?)", steps.length);
}

function versionOf(sql: SqlStorage): number {
  const table = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").toArray();
  return table.length === 0 ? 0 : Number(sql.exec("SELECT version FROM schema_version").one().version);
}
