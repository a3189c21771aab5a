import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Bytes that the files below a directory take on disk. */
export function directoryBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(path.join(entry.parentPath, entry.name)).blocks * 512;
  }
  return bytes;
}
