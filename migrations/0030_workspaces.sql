-- Rises with every directory change of a workspace, so that a delayed batch of changes writes nothing after a newer
-- one.
ALTER TABLE workspaces ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;

-- For deleting a workspace with its memberships. A membership is inserted before the workspace adds the member, and
-- deleted after the workspace has removed the member, so that no member is ever missing here.
CREATE INDEX memberships_by_workspace ON memberships (workspace_id);
