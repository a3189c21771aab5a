import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll } from "vitest";

/** DuckDB and a folder for the files that it reads, for the tests of one file. */
export interface DuckDb {
  /** Path of the folder. */
  folder: string;
  run(sql: string): ReturnType<DuckDBConnection["runAndReadAll"]>;
}

export function useDuckDb(): DuckDb {
  const folder = mkdtempSync(path.join(tmpdir(), "taffrail-duckdb-"));
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(":memory:", { threads: "1" });
    connection = await instance.connect();
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
    rmSync(folder, { recursive: true });
  });
  return { folder, run: (sql) => connection.runAndReadAll(sql) };
}
