-- The columns of `migrations-cold/0002_files.sql`, so that the same statements read both databases. Segments of this one
-- are blocks of lines, never files, and are never replaced.
ALTER TABLE segments ADD COLUMN format INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN file TEXT;
ALTER TABLE segments ADD COLUMN replaced_at INTEGER;
ALTER TABLE segments ADD COLUMN filter_file TEXT;
ALTER TABLE segments ADD COLUMN filter_slot INTEGER;
