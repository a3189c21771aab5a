-- Requests that a limit refused, one row per object, identifier, rule and minute. Kept for 30 days. The primary key
-- begins with the minute, so that expired rows are at its beginning. `id` is a hash of the other three, so that a
-- repeated message finds its own row.
CREATE TABLE violations (
  -- Row: refused requests of one identifier, rule and minute, kept for 30 days.
  -- Since the epoch.
  minute INTEGER NOT NULL,
  -- Hash of object, identifier, rule and minute, so that a repeated message meets its own row.
  id TEXT NOT NULL,
  -- Null for requests that no workspace counted: those of a user outside of workspaces, and of client IPs.
  workspace_id TEXT,
  identifier TEXT NOT NULL,
  rule TEXT NOT NULL,
  -- Limit of the last refusal.
  rate_limit INTEGER NOT NULL,
  -- Window of the last refusal.
  window_seconds INTEGER NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (minute, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX violations_by_workspace ON violations (workspace_id, first_at, id) WHERE workspace_id IS NOT NULL;
