import { LIMITER_SCHEMA } from "../limits/limiter.ts";
import { PENDING_MAIL_SCHEMA } from "../mail/pending-mails.ts";
import type { SchemaSteps } from "../platform/sql.ts";
import { ACTIVITY_SCHEMA } from "./activity.ts";
import { USER_QUOTA_SCHEMA } from "./user-quotas.ts";

/** Version 1 of the user object's tables; the newest are described column by column in `docs/storage-accounts.md`. */
const VERSION_1 = [
  `CREATE TABLE IF NOT EXISTS account (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL,
     email TEXT NOT NULL,
     name TEXT,
     -- Null for an account that never had a password.
     password_hash TEXT,
     email_verified INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
     -- Rises with every change after which nothing older may be trusted; a family of another epoch is dead.
     epoch INTEGER NOT NULL DEFAULT 0,
     workspace_id TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- 0 from provisioning until the directory is known to list the account.
     confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
     -- From this instant on an account that is not listed never will be.
     settle_at INTEGER NOT NULL
   ) STRICT`,
  // One row per session. `num` is the order of creation, by which the oldest is evicted.
  `CREATE TABLE IF NOT EXISTS families (
     num INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     key BLOB NOT NULL CHECK (length(key) = 32),
     counter INTEGER NOT NULL,
     epoch INTEGER NOT NULL,
     method TEXT NOT NULL,
     user_agent TEXT,
     ip TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- The sign-in or the last rotation.
     last_used_at INTEGER NOT NULL,
     -- SHA-256 of the Idempotency-Key of the last rotation; null when it had none.
     rotation_key_hash BLOB,
     -- Until when the first rotation must happen; null once it has, and for a sign-in that asks for none.
     rotate_by INTEGER,
     revoked_at INTEGER,
     revoked_reason TEXT,
     CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
   ) STRICT`,
  // At most one per purpose: a new one replaces the older. The address that it was mailed to is part of what it proves.
  `CREATE TABLE IF NOT EXISTS one_time_tokens (
     purpose TEXT PRIMARY KEY CHECK (purpose IN ('verify-email', 'magic-link', 'reset-password')),
     hash BLOB NOT NULL CHECK (length(hash) = 32),
     address TEXT NOT NULL,
     -- The mail that it travels in.
     mail_id TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  // See `links.ts`.
  `CREATE TABLE IF NOT EXISTS links (
     provider TEXT NOT NULL,
     subject TEXT NOT NULL,
     -- Names the attempt to link, here and in the directory.
     claim TEXT NOT NULL,
     -- Null for a link that was begun only.
     linked_at INTEGER,
     PRIMARY KEY (provider, subject)
   ) STRICT, WITHOUT ROWID`,
  // A purge that may be unfinished outside this object. It covers what was created until \`until\`.
  `CREATE TABLE IF NOT EXISTS unfinished_purge (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     until INTEGER NOT NULL
   ) STRICT`,
  // The account has been deleted, and data elsewhere may remain: see `deletion.ts`.
  `CREATE TABLE IF NOT EXISTS deletion (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     user_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL
   ) STRICT`,
  ...PENDING_MAIL_SCHEMA,
  ...LIMITER_SCHEMA,
] as const;

/** Answered requests for mails, stored apart from their tokens, which are used up or replaced. */
const VERSION_2 = [
  `CREATE TABLE answered_requests (
     -- The mail that the request was answered with.
     mail_id TEXT PRIMARY KEY,
     -- Nobody repeats the request after this.
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "INSERT INTO answered_requests (mail_id, expires_at) SELECT mail_id, expires_at FROM one_time_tokens",
  "ALTER TABLE one_time_tokens DROP COLUMN mail_id",
] as const;

/** Workspaces to notify of a session's end, because a tail was opened in it; see `families.ts`. */
const VERSION_3 = [
  `CREATE TABLE session_watches (
     session TEXT NOT NULL,
     workspace TEXT NOT NULL,
     PRIMARY KEY (session, workspace)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** The request that deleted the account, for log lines about the cleanup. */
const VERSION_5 = ["ALTER TABLE deletion ADD COLUMN request_id TEXT"] as const;

/** A change of a released table is a new version at the end, never an edit of an earlier one. */
export const USER_SCHEMA: SchemaSteps = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  USER_QUOTA_SCHEMA,
  VERSION_5,
  ACTIVITY_SCHEMA,
];
