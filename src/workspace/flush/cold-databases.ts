import { maybe } from "../../platform/sql.ts";

/** The databases in which the workspace has segments, in the order in which they were filled. */
export const COLD_DATABASES_SCHEMA = [
  `CREATE TABLE cold_databases (
     -- Row: a database of segments to which ranges are written since the one before it is full. The first is
     -- \`COLD_DB\`, which has no row.
     num INTEGER PRIMARY KEY,
     -- Of its binding.
     name TEXT NOT NULL UNIQUE,
     -- Since when.
     since INTEGER NOT NULL
   ) STRICT`,
] as const;

const FIRST = "COLD_DB";

/** Returns the name of the database to which ranges are written. It changes only while no flush is in progress. */
export function currentDatabase(sql: SqlStorage): string {
  const row = maybe<{ name: string }>(sql, "SELECT name FROM cold_databases ORDER BY num DESC LIMIT 1");
  return row?.name ?? FIRST;
}

/** Returns the names of all databases to which ranges were written, in order. */
export function writtenDatabases(sql: SqlStorage): string[] {
  const rows = sql.exec<{ name: string }>("SELECT name FROM cold_databases ORDER BY num").toArray();
  return [FIRST, ...rows.map(({ name }) => name)];
}

/**
 * Continues in the next database if the present one is full. Call in the transaction that completes a flush, so that every
 * attempt at a range writes to the same database.
 * @param bound names of the bound databases, in order
 * @param size of the present one, in bytes
 * @returns the name of the next one, `null` if the present one stays
 */
export function leaveFullDatabase(
  sql: SqlStorage,
  bound: readonly string[],
  { bytes, maxBytes }: { bytes: number; maxBytes: number },
  now: number,
): string | null {
  if (bytes < maxBytes) return null;
  const next = bound[bound.indexOf(currentDatabase(sql)) + 1];
  if (next === undefined) return null;
  sql.exec("INSERT INTO cold_databases (name, since) VALUES (?, ?)", next, now);
  return next;
}
