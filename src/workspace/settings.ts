import { Cascade } from "../limits/cascade.ts";
import { limitsFromRow } from "./limit-rules.ts";

/** The workspace's own row. */
export interface WorkspaceRow {
  id: string;
  name: string;
  personal: boolean;
  retentionDays: number;
  createdAt: number;
  limits: Cascade;
}

export function readWorkspace(sql: SqlStorage): WorkspaceRow {
  const row = sql.exec("SELECT * FROM workspace").one();
  return {
    id: String(row.id),
    name: String(row.name),
    personal: row.personal === 1,
    retentionDays: Number(row.retention_days),
    createdAt: Number(row.created_at),
    limits: new Cascade(limitsFromRow(row)),
  };
}
