import { MAIL_DESTINATIONS_SCHEMA, NOTIFICATION_SCHEMA } from "../alerts/notifications/schema.ts";
import {
  ALERT_BUCKETS_SCHEMA,
  ALERT_COUNTED_SCHEMA,
  ALERT_MUTES_SCHEMA,
  ALERT_SCHEMA,
  ALERT_TYPED_GROUPS_SCHEMA,
} from "../alerts/schema.ts";
import { GRANT_SCHEMA } from "../grants/store.ts";
import { LIMITER_SCHEMA } from "../limits/limiter.ts";
import { VIOLATION_SCHEMA } from "../limits/violation-outbox.ts";
import { PENDING_MAIL_SCHEMA } from "../mail/pending-mails.ts";
import type { SchemaSteps } from "../platform/sql.ts";
import { TICKET_SCHEMA } from "../tail/authority.ts";
import { AUDIT_SCHEMA } from "./audit.ts";
import { INDEX_CHANGES_SCHEMA } from "./directory-changes.ts";
import { COLD_DATABASES_SCHEMA } from "./flush/cold-databases.ts";
import { COMPACTION_SCHEMA } from "./flush/compactions.ts";
import { FLUSH_SCHEMA, FLUSHED_RANGES_SCHEMA } from "./flush/flushed-ranges.ts";
import { FILES_SCHEMA } from "./flush/segment-files.ts";
import { INVITATION_SCHEMA } from "./invitations.ts";
import { LEDGER_SCHEMA } from "./ledger.ts";
import { INDEX_CHUNK_SCHEMA } from "./recent/index-chunks.ts";
import { STAGING_SCHEMA } from "./recent/staged-batches.ts";
import { RECORD_IDS_SCHEMA } from "./record-ids.ts";
import { SAVED_ITEMS_SCHEMA } from "./saved-items.ts";
import { STREAM_SCHEMA } from "./streams.ts";

/** Version 1 of the workspace object's tables. `docs/storage.md` is generated from the comments. */
const VERSION_1 = [
  `CREATE TABLE IF NOT EXISTS workspace (
     -- Row: exactly one.
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     -- Null until it has been read from the directory.
     slug TEXT,
     -- 0 or 1.
     personal INTEGER NOT NULL CHECK (personal IN (0, 1)),
     -- The user whose personal workspace it is.
     personal_of TEXT,
     -- 1 to 365.
     retention_days INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     -- The configured default limit; null without one.
     default_limit INTEGER,
     -- Null without a default limit.
     default_window_seconds INTEGER,
     -- The configured rules as JSON; null without any.
     limit_rules TEXT,
     -- The newest commit number at the time a batch was last deleted, so that a number never repeats.
     last_commit INTEGER NOT NULL DEFAULT 0,
     -- When a workspace that the directory does not list deletes itself; null once it is listed.
     settle_at INTEGER,
     -- When the workspace was deleted. Only cleanup remains.
     deleted_at INTEGER,
     -- Rises with every directory change.
     index_version INTEGER NOT NULL DEFAULT 0,
     -- The UTC day, since the epoch, of the newest deletion of a project.
     deleted_day INTEGER NOT NULL DEFAULT 0,
     -- Entries that projects deleted on that day had received on it.
     deleted_ingested INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS members (
     -- Row: a member.
     user_id TEXT PRIMARY KEY,
     -- owner, admin, member or viewer.
     role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
     added_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS projects (
     -- Row: a project.
     -- Short id in other tables, never reused.
     num INTEGER PRIMARY KEY AUTOINCREMENT,
     -- \`proj_...\`
     id TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- \`seq\` of the newest entry.
     last_seq INTEGER NOT NULL DEFAULT 0,
     -- The UTC day, since the epoch, on which that entry arrived.
     day INTEGER NOT NULL DEFAULT 0,
     -- \`last_seq\` when that day began.
     day_seq INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS doomed_projects (
     -- Row: a deleted project that still has data.
     -- \`num\` of the project.
     project INTEGER PRIMARY KEY
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS keys (
     -- Row: an API key.
     -- Hex SHA-256 of the whole key.
     hash TEXT PRIMARY KEY,
     -- \`key_...\`
     id TEXT NOT NULL UNIQUE,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     name TEXT NOT NULL,
     -- The first 18 characters.
     prefix TEXT NOT NULL,
     -- Bit 0 \`logs:write\`, bit 1 \`logs:read\`, bit 2 \`alerts:read\`, bit 3 \`alerts:write\`.
     scopes INTEGER NOT NULL,
     -- A user id.
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- The key's own expiry.
     expires_at INTEGER,
     -- The end of the overlap after a rotation.
     retires_at INTEGER,
     revoked_at INTEGER,
     -- At most a minute old.
     last_used_at INTEGER,
     -- The key that a rotation created.
     replaced_by TEXT
   ) STRICT, WITHOUT ROWID`,
  // No second index, because rows written are most of the bill; see `index-chunks.ts`. The metadata columns precede the
  // blobs, so that a scan of them does not read bodies.
  `CREATE TABLE IF NOT EXISTS batches (
     -- Row: accepted entries: of one request, 1,000 of a larger one, or of several small requests.
     -- Commit number, the order of arrival.
     commit_no INTEGER PRIMARY KEY,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     count INTEGER NOT NULL,
     -- The earliest timestamp.
     min_ts INTEGER NOT NULL,
     -- The latest timestamp.
     max_ts INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     -- A bit per level that occurs.
     level_mask INTEGER NOT NULL,
     -- A bit per category that occurs.
     category_mask INTEGER NOT NULL,
     -- 0 NDJSON, 1 zstd blocks.
     encoding INTEGER NOT NULL,
     -- Uncompressed bytes.
     size INTEGER NOT NULL,
     -- Stored bytes.
     body_bytes INTEGER NOT NULL,
     -- Rows that hold the body, this one included.
     parts INTEGER NOT NULL,
     -- Packed counts and the id filter; see below.
     summary BLOB NOT NULL,
     -- The first 1,000,000 bytes.
     body BLOB NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS batch_parts (
     -- Row: a part of a body that does not fit into its batch's row.
     commit_no INTEGER NOT NULL,
     -- 1 and up; part 0 is in the batch's row.
     part INTEGER NOT NULL,
     body BLOB NOT NULL,
     PRIMARY KEY (commit_no, part)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS receipts (
     -- Row: an \`Idempotency-Key\` of the last 24 hours.
     project INTEGER NOT NULL,
     -- SHA-256 of the key.
     key_hash BLOB NOT NULL,
     -- SHA-256 of media type and decompressed body.
     body_hash BLOB NOT NULL,
     first_seq INTEGER NOT NULL,
     -- Number of accepted entries.
     accepted INTEGER NOT NULL,
     rejected_count INTEGER NOT NULL,
     -- The listed rejections as JSON; null without any.
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

const VERSION_4 = [
  `-- The request or alarm run that deleted the workspace, for events.
 ALTER TABLE workspace ADD COLUMN deleted_by_request TEXT`,
] as const;

const KEY_SETTINGS = [
  `-- The key's settings as JSON; null for the defaults.
 ALTER TABLE keys ADD COLUMN settings TEXT`,
  `-- Rises with every change of the settings.
 ALTER TABLE keys ADD COLUMN settings_version INTEGER NOT NULL DEFAULT 0`,
] as const;

/** A change of a released table is a new version at the end, never an edit of an earlier one, except of comments. */
export const WORKSPACE_SCHEMA: SchemaSteps = [
  VERSION_1,
  FLUSH_SCHEMA,
  TICKET_SCHEMA,
  VERSION_4,
  INDEX_CHUNK_SCHEMA,
  AUDIT_SCHEMA,
  FLUSHED_RANGES_SCHEMA,
  STAGING_SCHEMA,
  COMPACTION_SCHEMA,
  COLD_DATABASES_SCHEMA,
  FILES_SCHEMA,
  [...KEY_SETTINGS, ...LEDGER_SCHEMA],
  STREAM_SCHEMA,
  SAVED_ITEMS_SCHEMA,
  RECORD_IDS_SCHEMA,
  NOTIFICATION_SCHEMA,
  ALERT_SCHEMA,
  ALERT_BUCKETS_SCHEMA,
  MAIL_DESTINATIONS_SCHEMA,
  GRANT_SCHEMA,
  ALERT_MUTES_SCHEMA,
  ALERT_COUNTED_SCHEMA,
  ALERT_TYPED_GROUPS_SCHEMA,
];
