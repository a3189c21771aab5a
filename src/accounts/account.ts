import { hasTable, maybe, migrate } from "../platform/sql.ts";
import { USER_SCHEMA } from "./schema.ts";

/**
 * Milliseconds from provisioning to the entry in the directory that a registration may take. The directory refuses
 * later entries (see `claimAddress`), so an account that is not listed by `resolveAt` can be deleted for good.
 */
export const CLAIM_WITHIN_MS = 60_000;

/** Milliseconds from provisioning to `resolveAt`. The distance to `CLAIM_WITHIN_MS` allows for clock skew. */
const RESOLVE_AFTER_MS = 300_000;

/** Epoch of a new account. */
export const FIRST_EPOCH = 0;

export interface NewAccount {
  /** `usr_...`; the name of the object. */
  id: string;
  email: string;
  name: string | null;
  passwordHash: string | null;
  emailVerified: boolean;
  workspaceId: string;
}

export interface Account extends NewAccount {
  epoch: number;
  confirmed: boolean;
  /** Epoch milliseconds. */
  resolveAt: number;
}

/** Whether this object holds an account. An unknown id reaches an object without tables. */
export function isProvisioned(sql: SqlStorage): boolean {
  return hasTable(sql, "account");
}

/**
 * Writes the account, unconfirmed. Safe to repeat.
 * @returns the time at which the registration is resolved
 */
export function provisionAccount(sql: SqlStorage, account: NewAccount, now: number): number {
  const resolveAt = now + RESOLVE_AFTER_MS;
  migrate(sql, USER_SCHEMA);
  sql.exec(
    `INSERT OR IGNORE INTO account
       (one, id, email, name, password_hash, email_verified, epoch, workspace_id, created_at, confirmed, settle_at)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
    account.id,
    account.email,
    account.name,
    account.passwordHash,
    account.emailVerified ? 1 : 0,
    FIRST_EPOCH,
    account.workspaceId,
    now,
    resolveAt,
  );
  return resolveAt;
}

/** Reads the account; `null` if this object holds none. */
export function readAccount(sql: SqlStorage): Account | null {
  if (!isProvisioned(sql)) return null;
  const row = maybe<AccountRow>(
    sql,
    "SELECT id, email, name, password_hash, email_verified, epoch, workspace_id, confirmed, settle_at FROM account",
  );
  return row ? fromRow(row) : null;
}

/** @param name `null` for none */
export function renameAccount(sql: SqlStorage, name: string | null): void {
  sql.exec("UPDATE account SET name = ?", name);
}

/** Records that the directory lists the account. */
export function confirmAccount(sql: SqlStorage): void {
  sql.exec("UPDATE account SET confirmed = 1 WHERE confirmed = 0");
}

type AccountRow = {
  id: string;
  email: string;
  name: string | null;
  password_hash: string | null;
  email_verified: number;
  epoch: number;
  workspace_id: string;
  confirmed: number;
  settle_at: number;
};

function fromRow(row: AccountRow): Account {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    passwordHash: row.password_hash,
    emailVerified: row.email_verified === 1,
    epoch: row.epoch,
    workspaceId: row.workspace_id,
    confirmed: row.confirmed === 1,
    resolveAt: row.settle_at,
  };
}

export interface SettlePorts {
  /** Whether the directory lists this user. */
  isListed(userId: string): Promise<boolean>;
  destroyWorkspace(workspaceId: string): Promise<void>;
  /** Deletes the user object's own storage. */
  destroySelf(): Promise<void>;
  now(): number;
}

/** `null`: there was nothing to resolve. `waiting`: not listed yet, and `resolveAt` has not passed. */
export type RegistrationOutcome = "confirmed" | "discarded" | "waiting" | null;

/**
 * Resolves a registration that reported no outcome, because a crash may have ended it at any step. A listed account is
 * confirmed. An account that is not listed after `resolveAt` never will be, so it is deleted. Its workspace is deleted
 * first, because only this object stores the workspace's id.
 */
export async function resolveRegistration(sql: SqlStorage, ports: SettlePorts): Promise<RegistrationOutcome> {
  const account = readAccount(sql);
  if (!account || account.confirmed) return null;
  // Read before the directory is asked: only an answer from after `resolveAt` proves that no entry will follow.
  const final = ports.now() >= account.resolveAt;
  if (await ports.isListed(account.id)) {
    confirmAccount(sql);
    return "confirmed";
  }
  if (!final) return "waiting";
  await ports.destroyWorkspace(account.workspaceId);
  await ports.destroySelf();
  return "discarded";
}
