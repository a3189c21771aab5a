import { migrate, type SchemaSteps } from "../../src/platform/sql.ts";
import { dump } from "./accounts/support.ts";

/** Restores an object's tables to the version before a migration, with the rows of the `kept` tables. */
export function takeBack(
  sql: SqlStorage,
  steps: SchemaSteps,
  before: SchemaSteps[number],
  kept: readonly string[],
): void {
  const rows = kept.map((table) => ({ table, rows: sql.exec(`SELECT * FROM ${table}`).toArray() }));
  for (const table of Object.keys(dump(sql))) sql.exec(`DROP TABLE ${table}`);
  migrate(sql, steps.slice(0, steps.indexOf(before)));
  for (const { table, rows: saved } of rows) {
    const columns = new Set(
      sql
        .exec<{ name: string }>(`PRAGMA table_info(${table})`)
        .toArray()
        .map(({ name }) => name),
    );
    for (const row of saved) {
      const known = Object.entries(row).filter(([name]) => columns.has(name));
      const names = known.map(([name]) => name).join();
      sql.exec(
        `INSERT INTO ${table} (${names}) VALUES (${known.map(() => "?").join()})`,
        ...known.map(([, value]) => value),
      );
    }
  }
}
