import { LIMITER_SCHEMA } from "../limits/limiter.ts";
import { PENDING_MAIL_SCHEMA } from "../mail/pending-mails.ts";
import { MAIL_REQUEST_CAUSE, MAIL_REQUEST_SCHEMA } from "../mail/requests.ts";
import type { SchemaSteps } from "../platform/sql.ts";
import { ACTIVITY_SCHEMA } from "./activity.ts";
import { LOGIN_THROTTLE_SCHEMA } from "./login-throttle.ts";
import { USER_QUOTA_SCHEMA } from "./user-quotas.ts";

/** Version 1 of the user object's tables. `docs/storage-accounts.md` is generated from the comments. */
const VERSION_1 = [
  `CREATE TABLE IF NOT EXISTS account (
     -- Row: exactly one.
     -- Written by: registration; proofs and password changes; the purge.
     one INTEGER PRIMARY KEY CHECK (one = 1),
     -- \`usr_...\`
     id TEXT NOT NULL,
     email TEXT NOT NULL,
     name TEXT,
     -- \`pbkdf2:100000:<salt>:<hash>\`; null without a password.
     password_hash TEXT,
     -- 0 or 1.
     email_verified INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
     -- Rises with every change that invalidates older sessions and tokens.
     epoch INTEGER NOT NULL DEFAULT 0,
     -- The personal workspace.
     workspace_id TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- 0 until the directory lists the account.
     confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
     -- From then on an unlisted account will never be listed.
     settle_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS families (
     -- Row: a session.
     -- Written by: sign-ins, rotations, ends of sessions; at most 50 rows, ended ones are replaced first.
     -- Order of creation, by which the oldest is replaced.
     num INTEGER PRIMARY KEY,
     -- \`fam_...\`
     id TEXT NOT NULL UNIQUE,
     -- 32 random bytes that its tokens are derived with.
     key BLOB NOT NULL CHECK (length(key) = 32),
     -- Of the current token.
     counter INTEGER NOT NULL,
     -- Of the account at the sign-in.
     epoch INTEGER NOT NULL,
     -- password, magic_link, provider_a or provider_b.
     method TEXT NOT NULL,
     -- Of the last use.
     user_agent TEXT,
     -- Client IP of the last use.
     ip TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- The sign-in or the last rotation.
     last_used_at INTEGER NOT NULL,
     -- SHA-256 of the last rotation's \`Idempotency-Key\`.
     rotation_key_hash BLOB,
     -- Deadline of the first rotation.
     rotate_by INTEGER,
     revoked_at INTEGER,
     -- logout, reuse, revoked, password or purge; null like \`revoked_at\`.
     revoked_reason TEXT,
     CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS one_time_tokens (
     -- Row: a mailed token, at most one of a purpose.
     -- Written by: requests for mails; used up by a delete.
     -- verify-email, magic-link or reset-password.
     purpose TEXT PRIMARY KEY CHECK (purpose IN ('verify-email', 'magic-link', 'reset-password')),
     -- SHA-256 of the token.
     hash BLOB NOT NULL CHECK (length(hash) = 32),
     -- The e-mail address it was mailed to.
     address TEXT NOT NULL,
     -- The mail that contains the token.
     mail_id TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS links (
     -- Row: an identity at a provider.
     -- Written by: linking.
     provider TEXT NOT NULL,
     subject TEXT NOT NULL,
     -- The attempt to link, here and in the directory.
     claim TEXT NOT NULL,
     -- Null while linking is in progress.
     linked_at INTEGER,
     PRIMARY KEY (provider, subject)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS unfinished_purge (
     -- Row: a purge whose keys may not all be revoked yet.
     -- Written by: the purge; deleted once all workspaces have responded.
     one INTEGER PRIMARY KEY CHECK (one = 1),
     -- Keys created by then are revoked.
     until INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS deletion (
     -- Row: a deleted account that may still have data elsewhere; \`account\` is empty then.
     -- Written by: the deletion of the account; deleted with all tables.
     one INTEGER PRIMARY KEY CHECK (one = 1),
     user_id TEXT NOT NULL,
     -- The personal workspace.
     workspace_id TEXT NOT NULL
   ) STRICT`,
  ...PENDING_MAIL_SCHEMA,
  ...LIMITER_SCHEMA,
] as const;

/** Processed requests for mails, stored apart from their tokens, which are used up or replaced. */
const VERSION_2 = [
  `CREATE TABLE answered_requests (
     -- Row: a processed mail request, so that its repetition neither restores a used token nor replaces a
     -- newer one.
     -- Written by: requests for mails; the next request deletes expired ones.
     -- The mail that answered the request.
     mail_id TEXT PRIMARY KEY,
     -- An hour later.
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "INSERT INTO answered_requests (mail_id, expires_at) SELECT mail_id, expires_at FROM one_time_tokens",
  "ALTER TABLE one_time_tokens DROP COLUMN mail_id",
] as const;

/** Workspaces to notify of a session's end, because a tail was opened in it; see `families.ts`. */
const VERSION_3 = [
  `CREATE TABLE session_watches (
     -- Row: a session subscription: a workspace to notify of the end of a session, because a tail was opened
     -- with it.
     -- Written by: opening a tail; deleted once the workspace has confirmed.
     session TEXT NOT NULL,
     workspace TEXT NOT NULL,
     PRIMARY KEY (session, workspace)
   ) STRICT, WITHOUT ROWID`,
] as const;

const VERSION_5 = [
  `-- The request that deleted the account, for events.
 ALTER TABLE deletion ADD COLUMN request_id TEXT`,
] as const;

/** A change of a released table is a new version at the end, never an edit of an earlier one, except of comments. */
export const USER_SCHEMA: SchemaSteps = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  USER_QUOTA_SCHEMA,
  VERSION_5,
  ACTIVITY_SCHEMA,
];

/** Tables of an e-mail address in its address object. The object of a client IP never has them. */
export const EMAIL_SCHEMA: SchemaSteps = [
  [...LOGIN_THROTTLE_SCHEMA, ...MAIL_REQUEST_SCHEMA, ...PENDING_MAIL_SCHEMA],
  MAIL_REQUEST_CAUSE,
];
