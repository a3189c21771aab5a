import type { Limit, LimitConfiguration } from "./limit-rules.ts";

/** The workspace's own row. */
export interface WorkspaceRow {
  id: string;
  name: string;
  personal: boolean;
  retentionDays: number;
  createdAt: number;
  limits: LimitConfiguration;
}

export function readWorkspace(sql: SqlStorage): WorkspaceRow {
  const row = sql.exec("SELECT * FROM workspace").one();
  return {
    id: String(row.id),
    name: String(row.name),
    personal: row.personal === 1,
    retentionDays: Number(row.retention_days),
    createdAt: Number(row.created_at),
    limits: {
      default:
        row.default_limit === null
          ? null
          : { limit: Number(row.default_limit), windowSeconds: Number(row.default_window_seconds) },
    },
  };
}

export function writeDefaultLimit(sql: SqlStorage, limit: Limit | null): void {
  sql.exec(
    "UPDATE workspace SET default_limit = ?, default_window_seconds = ?",
    limit?.limit ?? null,
    limit?.windowSeconds ?? null,
  );
}
