-- Segments whose bytes are files in a bucket (src/platform/bucket.ts). A record's header shows that a value is null, 0 or
-- 1, so a search tests `format` and `replaced_at` without reading the pages of the blobs before them.

-- 0: blocks of lines. 1: a Parquet file, in `file` or, if that is null, in `body`.
ALTER TABLE segments ADD COLUMN format INTEGER NOT NULL DEFAULT 0;

-- Key of the segment's file in the bucket; null: the bytes are in `body`.
ALTER TABLE segments ADD COLUMN file TEXT;

-- When a compaction replaced the row; null: it is current. A replaced row is deleted 15 minutes later.
ALTER TABLE segments ADD COLUMN replaced_at INTEGER;

-- Key of the file in the bucket that has the segment's Bloom filter; null: the filter is in `filter`. Only where
-- `filter_kinds` is 0.
ALTER TABLE segments ADD COLUMN filter_file TEXT;

-- Position of the segment's filter in `filter_file`, from 0; null without one.
ALTER TABLE segments ADD COLUMN filter_slot INTEGER;

CREATE TABLE orphans (
  -- Row: a file in the bucket that no row names any more, until it is deleted: 7 days later, or immediately if its
  -- entries have expired or belong to a deleted project or workspace.
  -- Key of the file.
  file TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  -- When no row named it any more; 0: it may be deleted immediately.
  noted_at INTEGER NOT NULL
) STRICT;

CREATE INDEX orphans_due ON orphans (workspace_id, noted_at);
