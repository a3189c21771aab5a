import { exists } from "../../platform/sql.ts";

/** Whether entries of this workspace are in segment files. */
export const FILES_SCHEMA = [
  `-- 1 once entries may be in segment files, which versions before cannot read.
   ALTER TABLE workspace ADD COLUMN has_files INTEGER NOT NULL DEFAULT 0`,
] as const;

/** Records that entries may be in segment files. Call before a router can find them there. */
export function recordFiles(sql: SqlStorage): void {
  sql.exec("UPDATE workspace SET has_files = 1 WHERE has_files = 0");
}

export function hasFiles(sql: SqlStorage): boolean {
  return exists(sql, "SELECT 1 FROM workspace WHERE has_files = 1");
}
