import type { LimitConfiguration, LimitRule } from "../limits/cascade.ts";
import { AUDIT_STATE_BYTES, type AuditState } from "./audit.ts";

/** Bounds of a configuration, from the HTTP contract. */
export const LIMIT_BOUNDS = {
  limit: { min: 1, max: 1_000_000 },
  windowSeconds: { min: 1, max: 3600, default: 60 },
  /** `limit * windowSeconds` at most: what keeps a counter's memory bounded. */
  product: 60_000_000,
  rules: 100,
  /** Characters of a rule's path; the longest path of a route with real ids has 70. */
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

/** A configuration as the audit shows it: whole where it is small, else how many rules it has. */
export function limitsInAudit({ default: rest, rules }: LimitConfiguration): AuditState {
  const whole = { default: rest, rules };
  return JSON.stringify(whole).length <= AUDIT_STATE_BYTES / 2 ? whole : { default: rest, rules: rules.length };
}

export const NO_LIMITS: LimitConfiguration = { default: null, rules: [] };
