-- The cold tier of logs: a row has up to 10,000 entries of one project (src/logs/cold). Its key is the range, so that a
-- repeated flush finds its own rows. The table has a rowid, because without one every comparison in a search loads the
-- whole row, blobs included (100 rows: 119 ms instead of 0.4).
CREATE TABLE segments (
  id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  -- 0 has most entries of the range; 1 and higher have those far from them in time.
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
  -- Bytes of the uncompressed lines, and of the blobs below.
  raw_bytes INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  filter_kinds INTEGER NOT NULL,
  frame_kinds INTEGER NOT NULL,
  slot_bytes INTEGER NOT NULL,
  -- From small to large, because a column after a large one is reached through all pages of the large one.
  frames BLOB NOT NULL,
  levels BLOB NOT NULL,
  summary BLOB NOT NULL,
  directory BLOB NOT NULL,
  filter BLOB NOT NULL,
  frame_filter BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX segments_by_seq ON segments (workspace_id, project_id, first_seq, part);

-- Newest first and oldest first, with all tie-breakers. Each has both times, so that a scan reaches a distant time
-- range without reading the rows in between. Retention uses the first index.
CREATE INDEX segments_newest ON segments (workspace_id, max_ts, min_ts, project_id, first_seq, part);
CREATE INDEX segments_oldest ON segments (workspace_id, min_ts, max_ts, project_id, first_seq, part);
