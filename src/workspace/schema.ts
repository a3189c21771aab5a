import { LIMITER_SCHEMA } from "../limits/limiter.ts";
import { VIOLATION_SCHEMA } from "../limits/violation-outbox.ts";
import { PENDING_MAIL_SCHEMA } from "../mail/pending-mails.ts";
import type { SchemaSteps } from "../platform/sql.ts";
import { TICKET_SCHEMA } from "../tail/authority.ts";
import { AUDIT_SCHEMA } from "./audit.ts";
import { INDEX_CHANGES_SCHEMA } from "./directory-changes.ts";
import { FLUSH_SCHEMA, FLUSHED_RANGES_SCHEMA } from "./flush/flushed-ranges.ts";
import { INVITATION_SCHEMA } from "./invitations.ts";
import { INDEX_CHUNK_SCHEMA } from "./recent/index-chunks.ts";

/** Version 1 of the workspace object's tables, described column by column in `docs/storage.md`. */
const VERSION_1 = [
  `CREATE TABLE IF NOT EXISTS workspace (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     -- Null until the directory is known to list the workspace.
     slug TEXT,
     personal INTEGER NOT NULL CHECK (personal IN (0, 1)),
     -- Whose personal workspace it is.
     personal_of TEXT,
     retention_days INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     default_limit INTEGER,
     default_window_seconds INTEGER,
     limit_rules TEXT,
     last_commit INTEGER NOT NULL DEFAULT 0,
     -- From this instant on a workspace that is not listed never will be; null where there is nothing to find out.
     settle_at INTEGER,
     -- The workspace has been deleted, and is nothing but a rest to be wiped.
     deleted_at INTEGER,
     index_version INTEGER NOT NULL DEFAULT 0,
     -- What projects took in on the day (since the epoch, UTC) on which they were deleted.
     deleted_day INTEGER NOT NULL DEFAULT 0,
     deleted_ingested INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS members (
     user_id TEXT PRIMARY KEY,
     role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
     added_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS projects (
     num INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_seq INTEGER NOT NULL DEFAULT 0,
     -- The day (since the epoch, UTC) of the newest entry's arrival, and \`last_seq\` when it began.
     day INTEGER NOT NULL DEFAULT 0,
     day_seq INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  // Deleted projects whose batches the alarm has not finished deleting.
  `CREATE TABLE IF NOT EXISTS doomed_projects (project INTEGER PRIMARY KEY) STRICT`,
  `CREATE TABLE IF NOT EXISTS keys (
     hash TEXT PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     project INTEGER NOT NULL,
     name TEXT NOT NULL,
     prefix TEXT NOT NULL,
     scopes INTEGER NOT NULL,
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     retires_at INTEGER,
     revoked_at INTEGER,
     last_used_at INTEGER,
     replaced_by TEXT
   ) STRICT, WITHOUT ROWID`,
  // No second index: rows written are the bill; see `batch-blocks.ts`. `commit_no` orders by arrival; the summary columns stand before the
  // blobs, so a scan of them does not read bodies.
  `CREATE TABLE IF NOT EXISTS batches (
     commit_no INTEGER PRIMARY KEY,
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     count INTEGER NOT NULL,
     min_ts INTEGER NOT NULL,
     max_ts INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     level_mask INTEGER NOT NULL,
     category_mask INTEGER NOT NULL,
     encoding INTEGER NOT NULL,
     size INTEGER NOT NULL,
     body_bytes INTEGER NOT NULL,
     parts INTEGER NOT NULL,
     summary BLOB NOT NULL,
     body BLOB NOT NULL
   ) STRICT`,
  // What of a body does not fit into its batch's row: parts 1.. in order, the batch's own body being part 0.
  `CREATE TABLE IF NOT EXISTS batch_parts (
     commit_no INTEGER NOT NULL,
     part INTEGER NOT NULL,
     body BLOB NOT NULL,
     PRIMARY KEY (commit_no, part)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS receipts (
     project INTEGER NOT NULL,
     key_hash BLOB NOT NULL,
     body_hash BLOB NOT NULL,
     first_seq INTEGER NOT NULL,
     accepted INTEGER NOT NULL,
     rejected_count INTEGER NOT NULL,
     rejected TEXT,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (project, key_hash)
   ) STRICT, WITHOUT ROWID`,
  ...INVITATION_SCHEMA,
  ...INDEX_CHANGES_SCHEMA,
  ...PENDING_MAIL_SCHEMA,
  ...LIMITER_SCHEMA,
  ...VIOLATION_SCHEMA,
] as const;

/** The request or alarm run that deleted the workspace, for the lines of what follows. */
const VERSION_4 = ["ALTER TABLE workspace ADD COLUMN deleted_by_request TEXT"] as const;

/** A change of a table that has been released is a new version at the end, never an edit of an earlier one. */
export const WORKSPACE_SCHEMA: SchemaSteps = [
  VERSION_1,
  FLUSH_SCHEMA,
  TICKET_SCHEMA,
  VERSION_4,
  INDEX_CHUNK_SCHEMA,
  AUDIT_SCHEMA,
  FLUSHED_RANGES_SCHEMA,
];
