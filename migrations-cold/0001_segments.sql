-- The cold tier of logs: a row is up to 10,000 entries of one project (src/logs/cold). Named by what it covers, so a flush
-- that runs again meets its own rows. It keeps its rowid: in a table without one every comparison on the way to a row
-- loads the whole row it compares with, blobs included (100 rows: 119 ms instead of 0.4).
CREATE TABLE segments (
  id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  -- 0 holds most entries of the range; 1 and up those far from them in time.
  part INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  -- Epoch milliseconds.
  min_ts INTEGER NOT NULL,
  max_ts INTEGER NOT NULL,
  min_commit INTEGER NOT NULL,
  max_commit INTEGER NOT NULL,
  level_mask INTEGER NOT NULL,
  category_mask INTEGER NOT NULL,
  -- Bytes of the lines uncompressed, and of the blobs below.
  raw_bytes INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  filter_kinds INTEGER NOT NULL,
  frame_kinds INTEGER NOT NULL,
  slot_bytes INTEGER NOT NULL,
  -- From small to large: what stands behind a large column is reached through all of its pages.
  frames BLOB NOT NULL,
  levels BLOB NOT NULL,
  summary BLOB NOT NULL,
  directory BLOB NOT NULL,
  filter BLOB NOT NULL,
  frame_filter BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX segments_by_seq ON segments (workspace_id, project_id, first_seq, part);

-- Newest first, and oldest first, down to the last tie. Both times stand in each, so that a range far from where a walk
-- begins is reached without a look at the rows between. Retention goes by the first.
CREATE INDEX segments_newest ON segments (workspace_id, max_ts, min_ts, project_id, first_seq, part);
CREATE INDEX segments_oldest ON segments (workspace_id, min_ts, max_ts, project_id, first_seq, part);
