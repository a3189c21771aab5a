-- The newest directory change of the object that has arrived. An older one that arrives later writes nothing.
ALTER TABLE workspaces ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;

-- For deleting a workspace with its memberships. A membership is inserted before the workspace adds the member, and
-- deleted after the workspace has removed the member, so that no member is ever missing here.
CREATE INDEX memberships_by_workspace ON memberships (workspace_id);
