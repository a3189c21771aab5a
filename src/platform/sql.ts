/** The statements of each version of an object's tables, oldest first. Only comments of released statements are edited. */
export type SchemaSteps = readonly (readonly string[])[];

export const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_version (
  -- Row: exactly one.
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- How many steps of the object's schema have been applied.
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
  if (!hasTable(sql, "schema_version")) return 0;
  return one<{ version: number }>(sql, "SELECT version FROM schema_version").version;
}

type Row = Record<string, SqlStorageValue>;
type Parameter = SqlStorageValue | Uint8Array;

/** Executes a statement that returns one row. Throws if it returns none or several. */
export function one<R extends Row>(sql: SqlStorage, query: string, ...parameters: Parameter[]): R {
  return sql.exec<R>(query, ...parameters).one();
}

/** Executes a statement to its end and returns its first row; `null` if it returns none. */
export function maybe<R extends Row>(sql: SqlStorage, query: string, ...parameters: Parameter[]): R | null {
  return sql.exec<R>(query, ...parameters).toArray()[0] ?? null;
}

/** Executes a statement to its end and returns whether it returned a row. */
export function exists(sql: SqlStorage, query: string, ...parameters: Parameter[]): boolean {
  return maybe(sql, query, ...parameters) !== null;
}

/** Whether a table exists. */
export function hasTable(sql: SqlStorage, name: string): boolean {
  return exists(sql, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name);
}

/** Executes a statement to its end and returns its rows, each converted by `fromRow`. */
export function mapRows<R extends Row, T>(
  sql: SqlStorage,
  fromRow: (row: R) => T,
  query: string,
  ...parameters: Parameter[]
): T[] {
  return sql
    .exec<R>(query, ...parameters)
    .toArray()
    .map((row) => fromRow(row));
}
