import { Cascade, type LimitConfiguration, type LimitRule } from "../limits/cascade.ts";
import { SUMMARY_BUCKET_MS } from "../logs/summary.ts";
import { one } from "../platform/sql.ts";
import { AUDIT_STATE_BYTES, type AuditState } from "./audit.ts";

/** Bounds of a configuration, from the HTTP contract. */
export const LIMIT_BOUNDS = {
  limit: { min: 1, max: 1_000_000 },
  windowSeconds: { min: 1, max: 3600, default: 60 },
  /** Maximum of `limit * windowSeconds`, which bounds a counter's memory. */
  product: 60_000_000,
  rules: 100,
  /** Maximum characters of a rule's path; the longest path of a route with real ids has 70. */
  path: 200,
} as const;

type Row = Record<string, SqlStorageValue>;

/** From the workspace's own row. */
export function limitsFromRow(row: Row): LimitConfiguration {
  return {
    default:
      row.default_limit === null
        ? null
        : { limit: Number(row.default_limit), windowSeconds: Number(row.default_window_seconds) },
    // SAFETY: `writeLimits` is the only writer.
    rules: typeof row.limit_rules === "string" ? (JSON.parse(row.limit_rules) as LimitRule[]) : [],
  };
}

/** Replaces the configuration: one row, however many rules. */
export function writeLimits(sql: SqlStorage, { default: rest, rules }: LimitConfiguration): void {
  sql.exec(
    "UPDATE workspace SET default_limit = ?, default_window_seconds = ?, limit_rules = ?",
    rest?.limit ?? null,
    rest?.windowSeconds ?? null,
    rules.length === 0 ? null : JSON.stringify(rules),
  );
}

/** A configuration for the audit: complete if it is small, otherwise the number of its rules. */
export function limitsInAudit({ default: rest, rules }: LimitConfiguration): AuditState {
  const whole = { default: rest, rules };
  return JSON.stringify(whole).length <= AUDIT_STATE_BYTES / 2 ? whole : { default: rest, rules: rules.length };
}

export const NO_LIMITS: LimitConfiguration = { default: null, rules: [] };

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries with an earlier timestamp are rejected, epoch milliseconds. */
export function ingestCutoff(retentionDays: number, now: number): number {
  return now - retentionDays * DAY_MS;
}

/**
 * The retention cutoff: no read returns entries with an earlier timestamp, whether they are deleted or not. A full
 * minute, so that counts by minute are exact without reading entries. An entry is kept up to a minute too long, never
 * too short.
 */
export function retentionCutoff(retentionDays: number, now: number): number {
  return Math.floor(ingestCutoff(retentionDays, now) / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
}

/** The workspace's own row. */
export interface WorkspaceRow {
  id: string;
  name: string;
  /** `null` until read from the directory. */
  slug: string | null;
  personal: boolean;
  /** The user of a personal workspace. */
  personalOf: string | null;
  retentionDays: number;
  createdAt: number;
  /** See the schema; epoch milliseconds. */
  resolveAt: number | null;
  deletedAt: number | null;
  limits: Cascade;
}

export function readWorkspace(sql: SqlStorage): WorkspaceRow {
  const row = one(sql, "SELECT * FROM workspace");
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

/** The values that a change changes, for the audit. */
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
