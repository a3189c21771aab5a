import { Cascade } from "../limits/cascade.ts";
import { limitsFromRow } from "./limit-rules.ts";

/** The workspace's own row. */
export interface WorkspaceRow {
  id: string;
  name: string;
  /** Null until it has been learned from the directory. */
  slug: string | null;
  personal: boolean;
  /** Whose personal workspace it is. */
  personalOf: string | null;
  retentionDays: number;
  createdAt: number;
  /** See the schema; epoch milliseconds. */
  resolveAt: number | null;
  deletedAt: number | null;
  limits: Cascade;
}

export function readWorkspace(sql: SqlStorage): WorkspaceRow {
  const row = sql.exec("SELECT * FROM workspace").one();
  return {
    id: String(row.id),
    name: String(row.name),
    slug: typeof row.slug === "string" ? row.slug : null,
    personal: row.personal === 1,
    personalOf: typeof row.personal_of === "string" ? row.personal_of : null,
    retentionDays: Number(row.retention_days),
    createdAt: Number(row.created_at),
    resolveAt: typeof row.settle_at === "number" ? row.settle_at : null,
    deletedAt: typeof row.deleted_at === "number" ? row.deleted_at : null,
    limits: new Cascade(limitsFromRow(row)),
  };
}

export interface SettingsChange {
  name?: string | undefined;
  /** 1 to 365. */
  retentionDays?: number | undefined;
}

/** What a change changes, for the audit: the values that differ. */
export function changedSettings(
  current: SettingsChange,
  change: SettingsChange,
): { before: SettingsChange; after: SettingsChange } {
  const before: SettingsChange = {};
  const after: SettingsChange = {};
  if (change.name !== undefined && change.name !== current.name) {
    before.name = current.name;
    after.name = change.name;
  }
  if (change.retentionDays !== undefined && change.retentionDays !== current.retentionDays) {
    before.retentionDays = current.retentionDays;
    after.retentionDays = change.retentionDays;
  }
  return { before, after };
}

export function changeSettings(sql: SqlStorage, { name, retentionDays }: SettingsChange): void {
  sql.exec(
    "UPDATE workspace SET name = COALESCE(?, name), retention_days = COALESCE(?, retention_days)",
    name ?? null,
    retentionDays ?? null,
  );
}
