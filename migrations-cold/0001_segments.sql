-- The cold tier of logs: a row has up to 10,000 entries of one project (src/logs/cold). Its key is the range, so that a
-- repeated flush finds its own rows. The table has a rowid, because without one every comparison in a search loads the
-- whole row, blobs included (100 rows: 119 ms instead of 0.4).
CREATE TABLE segments (
  -- Row: up to 10,000 entries of one project, moved here from its workspace object.
  -- The rowid.
  id INTEGER PRIMARY KEY,
  -- With project, `first_seq` and `part` its name: the same range gives the same rows.
  workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  -- 0 holds most entries of the range, 1 to 3 those far from them in time. Merged segments have 16 times a second
  -- more: that from which on readers see them, counted from 2026 (decision 32).
  part INTEGER NOT NULL,
  -- End of the range, inclusive.
  last_seq INTEGER NOT NULL,
  -- Entries in this row.
  count INTEGER NOT NULL,
  -- The earliest timestamp.
  min_ts INTEGER NOT NULL,
  -- The latest timestamp.
  max_ts INTEGER NOT NULL,
  -- The first commit number.
  min_commit INTEGER NOT NULL,
  -- The last commit number.
  max_commit INTEGER NOT NULL,
  -- A bit per level that occurs.
  level_mask INTEGER NOT NULL,
  -- A bit per category that occurs.
  category_mask INTEGER NOT NULL,
  -- Uncompressed bytes of the lines.
  raw_bytes INTEGER NOT NULL,
  -- Bytes of all blobs.
  stored_bytes INTEGER NOT NULL,
  -- Kinds of token in `filter`: 64 ids, 128 paths and strings of `data`, 256 other scalars, all without case, 8 three
  -- letters, 16 four letters, 512 no tokens: the letters are also those of names of members. Of earlier versions: 1, 2
  -- and 4 for the first three, as they are.
  filter_kinds INTEGER NOT NULL,
  -- Kinds of token in `frame_filter`, as above; 32: four slots per token instead of three.
  frame_kinds INTEGER NOT NULL,
  -- Bytes of a slot of `frame_filter`: a bit for each block; 0 if there is one block.
  slot_bytes INTEGER NOT NULL,
  -- LEB128 per block: lines, raw bytes, stored bytes, first time after `min_ts`, span, level mask. The blobs are
  -- in order of size, because a column after a large one is reached through all pages of the large one.
  frames BLOB NOT NULL,
  -- LEB128 per minute: difference to the minute before, mask of levels, a count for each level.
  levels BLOB NOT NULL,
  -- As in a batch.
  summary BLOB NOT NULL,
  -- The batch table: flags (1: gaps in `seq`, 2: compressed), then LEB128 columns: number of runs, first `seq`,
  -- commit and receipt; counts; differences of commits; of receipts (zigzag); gaps before each run, if there are
  -- any.
  directory BLOB NOT NULL,
  -- The segment's Bloom filter (decision 10).
  filter BLOB NOT NULL,
  -- The Bloom filters of the blocks (decision 10).
  frame_filter BLOB NOT NULL,
  -- Blocks in sequence. A block: up to 128 KiB of whole lines (more for a longer single line), as zstd frames
  -- with checksums, each after its length (4 bytes, little endian).
  body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX segments_by_seq ON segments (workspace_id, project_id, first_seq, part);

-- Newest first and oldest first, with all tie-breakers. Each has both times, so that a scan reaches a distant time
-- range without reading the rows in between. Retention uses the first index.
CREATE INDEX segments_newest ON segments (workspace_id, max_ts, min_ts, project_id, first_seq, part);
CREATE INDEX segments_oldest ON segments (workspace_id, min_ts, max_ts, project_id, first_seq, part);
