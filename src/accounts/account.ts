import { migrate } from "../sql/migrate.ts";
import { USER_SCHEMA } from "./schema.ts";

/**
 * How long a registration may take from provisioning to the directory, in milliseconds. The directory refuses the entry
 * after that (see `claimAddress`), so an account that is not listed by `resolveAt` can be deleted for good.
 */
export const CLAIM_WITHIN_MS = 60_000;

/** From provisioning to the look at what became of it; the distance to `CLAIM_WITHIN_MS` is room for clock skew. */
const RESOLVE_AFTER_MS = 300_000;

/** Epoch of a new account. */
export const FIRST_EPOCH = 0;

export interface NewAccount {
  /** `usr_...`; the object's own name. */
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

/** Whether this object is an account at all: an id that nobody has reaches an object without tables. */
export function isProvisioned(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'account'").toArray().length > 0;
}

/**
 * Writes the account, unconfirmed. Repeated, it changes nothing.
 * @returns when to look whether the registration went through
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

/** The account, or null in an object that is none; reads only. */
export function readAccount(sql: SqlStorage): Account | null {
  if (!isProvisioned(sql)) return null;
  const row = sql
    .exec<AccountRow>(
      `SELECT id, email, name, password_hash, email_verified, epoch, workspace_id, confirmed, settle_at FROM account`,
    )
    .toArray()[0];
  return row ? fromRow(row) : null;
}

/** Notes that the directory lists the account. */
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
