-- Segments are written to a separate database (`migrations-cold`). Segments in this one stay readable until retention
-- or deletion removes them. Their number only falls: a worker that has found none of a workspace here need not query
-- again. This trigger makes a writer of an older version fail and keep its batches. The failure is an error of SQL, not
-- of a constraint: the older version would quarantine the batches after the latter, and retries after the former.
CREATE TRIGGER segments_closed BEFORE INSERT ON segments
BEGIN
  SELECT json('segments are written to COLD_DB');
END;
