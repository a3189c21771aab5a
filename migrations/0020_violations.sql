-- Requests that a limit refused, one row per object, identifier, rule and minute. Kept for 30 days. The minute leads the
-- primary key, so that what is too old lies at its beginning; `id` is a hash of the other three, so a message that comes
-- twice meets its own row.
CREATE TABLE violations (
  -- Since the epoch.
  minute INTEGER NOT NULL,
  id TEXT NOT NULL,
  -- Null where no workspace counted: requests of a user that belong to none, and of client addresses.
  workspace_id TEXT,
  identifier TEXT NOT NULL,
  rule TEXT NOT NULL,
  rate_limit INTEGER NOT NULL,
  window_seconds INTEGER NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (minute, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX violations_by_workspace ON violations (workspace_id, first_at, id) WHERE workspace_id IS NOT NULL;
