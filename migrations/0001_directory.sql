-- The directory: who has an e-mail address and which workspaces exist. Objects are the truth for everything else about
-- them; UNIQUE here decides who gets an address or a slug.
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- Whose personal workspace this is; null for a shared one.
  personal_of TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

-- An index of the members tables in the workspace objects, for listing a user's workspaces. Rebuildable.
CREATE TABLE memberships (
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  PRIMARY KEY (user_id, workspace_id)
) STRICT, WITHOUT ROWID;
