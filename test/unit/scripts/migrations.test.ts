import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hasMigrations, MIGRATIONS_TABLE } from "../../../scripts/lib/migrations.ts";

let folder: string;
let migrations: string;
const DATABASE = "taffrail-local";
/** The file that the simulator makes for the database. */
const FILE = "dfbc3f5941287fc9a0fa1fd3b3c56ca39b7c21cd2ecf971bb77a607311768b6f.sqlite";

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "taffrail-"));
  migrations = path.join(folder, "migrations");
  mkdirSync(migrations);
  for (const name of ["0001_first.sql", "0002_second.sql", "README.md"]) writeFileSync(path.join(migrations, name), "");
});
afterEach(() => rmSync(folder, { recursive: true }));

function database(...names: string[]): void {
  const directory = path.join(folder, "d1/miniflare-D1DatabaseObject");
  mkdirSync(directory, { recursive: true });
  const made = new DatabaseSync(path.join(directory, FILE));
  made.exec(MIGRATIONS_TABLE);
  for (const name of names) made.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
  made.close();
}

it("finds all migrations in the file of a database, also if a later version has made more", () => {
  database("0001_first.sql", "0002_second.sql", "0003_later.sql");
  expect(hasMigrations(folder, DATABASE, migrations)).toBe(true);
  expect(hasMigrations(folder, "another-database", migrations)).toBe(false);
});

it("knows nothing of a database that lacks one, is not there, or is no database", () => {
  expect(hasMigrations(folder, DATABASE, migrations)).toBe(false);
  database("0001_first.sql");
  expect(hasMigrations(folder, DATABASE, migrations)).toBe(false);
  writeFileSync(path.join(folder, "d1/miniflare-D1DatabaseObject", FILE), "damaged");
  expect(hasMigrations(folder, DATABASE, migrations)).toBe(false);
});
