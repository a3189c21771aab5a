import { migrate } from "../platform/sql.ts";
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

export interface SettlePorts {
  /** Whether the directory lists this user. */
  isListed(userId: string): Promise<boolean>;
  destroyWorkspace(workspaceId: string): Promise<void>;
  /** Deletes the user object's own storage. */
  destroySelf(): Promise<void>;
  now(): number;
}

/** `null`: there was nothing to settle. `waiting`: not listed, but it may still come to be. */
export type RegistrationOutcome = "confirmed" | "discarded" | "waiting" | null;

/**
 * Decides what became of a registration that never said so: a crash may have ended it anywhere.
 * Listed: the account is as good as any. Not listed and past `resolveAt`: it never will be, so it goes, its workspace
 * first, for this object is what remembers the workspace.
 */
export async function resolveRegistration(sql: SqlStorage, ports: SettlePorts): Promise<RegistrationOutcome> {
  const account = readAccount(sql);
  if (!account || account.confirmed) return null;
  // Read before the directory is asked: only an answer from after `resolveAt` proves that nothing will follow.
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
