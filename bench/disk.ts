import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Bytes on disk of the files below a directory. A file that is deleted meanwhile has none. */
export function directoryBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}

/** Bytes of the cold tier below a data directory: files in the bucket, and the catalog. */
export function coldBytes(directory: string): number {
  return directoryBytes(path.join(directory, "v3", "r2")) + catalogBytes(directory);
}

/**
 * Bytes of the catalog of segments below a data directory: pages in use, with indexes. Pages that deleted rows have left
 * are not counted, because the next rows use them. Write-ahead logs neither: they are overwritten again and again.
 */
export function catalogBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path.join(directory, "v3", "d1"), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(path.join(entry.parentPath, entry.name), { readOnly: true });
    const isCatalog = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'orphans'").get() !== undefined;
    const { used } =
      database
        .prepare(
          `SELECT (page_count - freelist_count) * page_size AS used
           FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
        )
        .get() ?? {};
    if (isCatalog) bytes += Number(used);
    database.close();
  }
  return bytes;
}
