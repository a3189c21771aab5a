/** What moving entries to the cold tier needs on disk; described in `docs/storage.md`. */
export const FLUSH_SCHEMA = [
  // Up to this `seq` a project's entries have left this object, but for batches that were set aside.
  `ALTER TABLE projects ADD COLUMN flushed_seq INTEGER NOT NULL DEFAULT 0`,
  // What of a project waits in \`batches\`, without those set aside: kept in the row that ingest writes anyway, so that
  // nobody has to count. Bytes as stored.
  `ALTER TABLE projects ADD COLUMN waiting_batches INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE projects ADD COLUMN waiting_entries INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE projects ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0`,
  `UPDATE projects SET (waiting_batches, waiting_entries, waiting_bytes) =
     (SELECT COUNT(*), COALESCE(SUM(count), 0), COALESCE(SUM(body_bytes), 0) FROM batches WHERE project = num)`,
  // The range that is on its way to the cold tier. Whatever becomes of the first try, the next one takes exactly this.
  `CREATE TABLE flush_intents (
     project INTEGER PRIMARY KEY,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     first_commit INTEGER NOT NULL,
     last_commit INTEGER NOT NULL,
     made_at INTEGER NOT NULL
   ) STRICT`,
  // Batches that the cold tier cannot take. Their rows stay in \`batches\` until the retention or their project ends.
  `CREATE TABLE set_aside (
     commit_no INTEGER PRIMARY KEY,
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     count INTEGER NOT NULL,
     body_bytes INTEGER NOT NULL,
     reason TEXT NOT NULL,
     at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE flush_state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     -- When entries last arrived in the cold tier.
     last_at INTEGER,
     -- Why the newest try failed; null after one that did not.
     last_error TEXT
   ) STRICT`,
  // The id under which a deleted project has entries in the cold tier; null where it has none (any more).
  `ALTER TABLE doomed_projects ADD COLUMN id TEXT`,
  `ALTER TABLE doomed_projects ADD COLUMN doomed_at INTEGER NOT NULL DEFAULT 0`,
  // When the cold tier is next to be swept of it.
  `ALTER TABLE doomed_projects ADD COLUMN sweep_at INTEGER NOT NULL DEFAULT 0`,
  // 1: nothing of it is left in this object.
  `ALTER TABLE doomed_projects ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0`,
] as const;
