-- Rises with every change of a workspace that the directory follows: a batch that was held up on its way writes nothing
-- once a newer one has been there.
ALTER TABLE workspaces ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;

-- A deleted workspace takes its memberships with it. The index lists nobody who is not a member for long, and misses
-- nobody who is: an entry is written before the workspace takes a member in, and deleted after it has let one go.
CREATE INDEX memberships_by_workspace ON memberships (workspace_id);
