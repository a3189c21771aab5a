import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Bytes that the files below a directory take on disk. */
export function directoryBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += statSync(file).blocks * 512;
  }
  return bytes;
}

/**
 * Bytes of the databases of D1 below a data directory, whatever of them still lies in a write-ahead log: the log is written
 * over again and again, and its size says nothing.
 */
export function d1Bytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !file.endsWith(".sqlite") || !/d1/i.test(path.relative(directory, file))) continue;
    const database = new DatabaseSync(file, { readOnly: true });
    const { size } =
      database.prepare("SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size").get() ?? {};
    bytes += Number(size);
    database.close();
  }
  return bytes;
}
