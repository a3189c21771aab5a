import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Bytes that the files below a directory take on disk; only those whose path below it is `named` so. */
export function directoryBytes(directory: string, named = /(?:)/): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && named.test(path.relative(directory, file))) bytes += statSync(file).blocks * 512;
  }
  return bytes;
}
