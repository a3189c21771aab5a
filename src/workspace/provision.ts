import { RETENTION_DAYS } from "../logs/entry.ts";
import { WORKSPACE_SCHEMA } from "./schema.ts";

export interface NewWorkspace {
  /** `ws_...`; the object's own name. */
  id: string;
  name: string;
  personal: boolean;
  ownerId: string;
}

/** Whether this object is a workspace at all: a forged locator reaches an object that has no tables. */
export function isProvisioned(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'workspace'").toArray().length > 0;
}

export function provision(sql: SqlStorage, workspace: NewWorkspace, now: number): void {
  for (const statement of WORKSPACE_SCHEMA) sql.exec(statement);
  sql.exec(
    `INSERT OR IGNORE INTO workspace (one, id, name, personal, retention_days, created_at) VALUES (1, ?, ?, ?, ?, ?)`,
    workspace.id,
    workspace.name,
    workspace.personal ? 1 : 0,
    RETENTION_DAYS.default,
    now,
  );
  sql.exec("INSERT OR IGNORE INTO members (user_id, role, added_at) VALUES (?, 'owner', ?)", workspace.ownerId, now);
}
