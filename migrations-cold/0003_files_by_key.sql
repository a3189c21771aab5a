-- Whether a row names a file, before the file is deleted. Rows without a file are in neither index.
CREATE INDEX segments_by_file ON segments (file) WHERE file IS NOT NULL;
CREATE INDEX segments_by_filter_file ON segments (filter_file) WHERE filter_file IS NOT NULL;

-- Replaced rows, by the time of their deletion.
CREATE INDEX segments_replaced ON segments (workspace_id, replaced_at) WHERE replaced_at IS NOT NULL;
