-- The directory maps e-mail addresses and slugs to users and workspaces. Their objects are authoritative for everything
-- else. UNIQUE decides which of several attempts gets an address or a slug.
CREATE TABLE users (
  -- Row: a registered e-mail address.
  -- `usr_...`
  id TEXT PRIMARY KEY,
  -- In lower case.
  email TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
  -- Row: a workspace.
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- The user whose personal workspace it is; null for a shared one.
  personal_of TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

-- Copy of the members tables of the workspace objects, to list the workspaces of a user. It can be rebuilt.
CREATE TABLE memberships (
  -- Row: an entry of the index of the objects' members; lists every member, and for a moment also a removed
  -- member.
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  PRIMARY KEY (user_id, workspace_id)
) STRICT, WITHOUT ROWID;
