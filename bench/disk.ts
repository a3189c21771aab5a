import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Bytes on disk of the files below a directory. */
export function directoryBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += statSync(file).blocks * 512;
  }
  return bytes;
}

/**
 * Bytes of the D1 databases below a data directory, including their share of write-ahead logs. A log is overwritten
 * again and again, so its size has no meaning.
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
