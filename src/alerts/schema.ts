/** Alert rules, what they have counted and what they have decided, in a workspace object. */
export const ALERT_SCHEMA = [
  `-- \`received_at\` of the newest batch at the time a batch was last deleted, so that it never falls.
   ALTER TABLE workspace ADD COLUMN last_received_at INTEGER NOT NULL DEFAULT 0`,
  `CREATE TABLE alert_rules (
     -- Row: an alert rule.
     num INTEGER PRIMARY KEY AUTOINCREMENT,
     -- \`alert_...\`
     id TEXT NOT NULL UNIQUE,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     -- Unique in the project.
     name TEXT NOT NULL,
     -- Rises by 1 with each change.
     version INTEGER NOT NULL,
     -- A user id.
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     -- When it was deleted. The row stays until its firing groups have been resolved. Null: not deleted.
     deleted_at INTEGER
   ) STRICT`,
  "CREATE UNIQUE INDEX alert_rules_by_name ON alert_rules (project, name) WHERE deleted_at IS NULL",
  `CREATE TABLE alert_versions (
     -- Row: a version of a rule.
     -- \`num\` of the rule.
     rule INTEGER NOT NULL,
     version INTEGER NOT NULL,
     -- The rule as JSON.
     content TEXT NOT NULL,
     -- A user id.
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (rule, version)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_runs (
     -- Row: the time in which a rule counts the same entries and decides by the same condition, until its groups are resolved.
     num INTEGER PRIMARY KEY AUTOINCREMENT,
     -- \`num\` of the rule.
     rule INTEGER NOT NULL,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     -- The version of the rule that it reports, with its texts.
     version INTEGER NOT NULL,
     -- It counts entries after this \`seq\`.
     start_seq INTEGER NOT NULL,
     -- It decides for times after this one.
     start_at INTEGER NOT NULL,
     -- The last \`seq\` that it counts; null while the rule runs.
     end_seq INTEGER,
     -- The last time for which it decides; null while the rule runs.
     end_at INTEGER,
     -- Groups that it has, that are pending, and that are firing.
     groups INTEGER NOT NULL DEFAULT 0,
     pending INTEGER NOT NULL DEFAULT 0,
     firing INTEGER NOT NULL DEFAULT 0,
     -- Entries that were not counted, because their group had no room.
     overflow INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  "CREATE INDEX alert_runs_of_project ON alert_runs (project)",
  `CREATE TABLE alert_positions (
     -- Row: the position of a project's rules.
     -- \`num\` of the project.
     project INTEGER PRIMARY KEY,
     -- All entries up to this \`seq\` have been counted.
     seq INTEGER NOT NULL,
     -- All entries received until this time have been counted; \`receivedAt\` of later ones is later.
     through INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE alert_groups (
     -- Row: the state of up to 64 groups, as earlier versions stored it.
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     -- Place of the first group, divided by 64.
     part INTEGER NOT NULL,
     -- JSON array of groups with \`num\` of their run; null in a free place.
     groups TEXT NOT NULL,
     PRIMARY KEY (project, part)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_gaps (
     -- Row: consecutive entries that were gone, or could not be read, before the rules of the project counted them.
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     -- Between this \`seq\` and \`last_seq\`, both inclusive.
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     -- Number of entries that are missing.
     count INTEGER NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (project, first_seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_decisions (
     -- Row: a decision, for 30 days, at most 100,000.
     num INTEGER PRIMARY KEY,
     -- The notification's id: hash of run, group, time and kind.
     id TEXT NOT NULL UNIQUE,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     -- \`num\` of the rule.
     rule INTEGER NOT NULL,
     version INTEGER NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('firing', 'resolved')),
     -- JSON object: the value of each grouping field; null without grouping.
     group_values TEXT,
     -- The end of the window.
     at INTEGER NOT NULL,
     -- When it was decided.
     decided_at INTEGER NOT NULL,
     -- Null: a rise from nothing.
     value REAL,
     -- The entries that decided; null without any.
     first_seq INTEGER,
     last_seq INTEGER,
     -- 0: no notification, because of a mute.
     is_reported INTEGER NOT NULL,
     -- 1: reports after a mute what fired in it.
     is_late INTEGER NOT NULL,
     -- 1: the rule was changed or deleted.
     is_ended INTEGER NOT NULL
   ) STRICT`,
  "CREATE INDEX alert_decisions_of_rule ON alert_decisions (project, rule, num)",
] as const;

/** Groups in buckets, and what further kinds of rules need. */
export const ALERT_BUCKETS_SCHEMA = [
  `CREATE TABLE alert_buckets (
     -- Row: groups of a run, those whose keys have the same bits of a hash. Buckets of a run are numbered from 0.
     -- \`num\` of the project, and of the run.
     project INTEGER NOT NULL,
     run INTEGER NOT NULL,
     bucket INTEGER NOT NULL,
     -- Packed groups.
     groups BLOB NOT NULL,
     -- Groups, those that are pending, and those that are firing.
     live INTEGER NOT NULL,
     pending INTEGER NOT NULL,
     firing INTEGER NOT NULL,
     -- Values that its groups keep.
     cells INTEGER NOT NULL,
     -- The earliest step for which a decision is due; null: further entries make the next one.
     due INTEGER,
     PRIMARY KEY (project, run, bucket)
   ) STRICT, WITHOUT ROWID`,
  `-- Of the hash by which groups are in buckets, 32 random bits; 0: not chosen yet.
   ALTER TABLE alert_runs ADD COLUMN seed INTEGER NOT NULL DEFAULT 0`,
  `-- Entries that were received after a window with their time was decided.
   ALTER TABLE alert_runs ADD COLUMN late INTEGER NOT NULL DEFAULT 0`,
  `-- 0: the value is an estimate.
   ALTER TABLE alert_decisions ADD COLUMN is_exact INTEGER NOT NULL DEFAULT 1`,
] as const;

export const ALERT_MUTES_SCHEMA = [
  `-- The bucket from which on groups that fire are to be checked for reports that are due earlier by changed mutes; null: none.
   ALTER TABLE alert_runs ADD COLUMN mutes_from INTEGER`,
] as const;

export const ALERT_COUNTED_SCHEMA = [
  `-- The run has counted all entries up to this \`seq\`, while others of the project may not have; null: as many as they.
   ALTER TABLE alert_runs ADD COLUMN counted_seq INTEGER`,
] as const;

export const ALERT_TYPED_GROUPS_SCHEMA = [
  `-- JSON object: the same values with their types; null: no grouping, or not recorded by an earlier version.
   ALTER TABLE alert_decisions ADD COLUMN typed_group TEXT`,
] as const;
