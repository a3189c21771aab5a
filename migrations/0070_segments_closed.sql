-- Segments are written to a database of their own (`migrations-cold`). Those that are here stay readable and leave by
-- retention and deletion. From now on their number only falls: a worker that has found none of a workspace here never has
-- to look again. A writer of an older version, which would store a segment here, fails by this trigger and keeps its
-- batches. The failure is an error of SQL, not one of a constraint: that version takes the latter for a fault of the
-- batches and sets them aside, while it repeats the former until the new version does it.
CREATE TRIGGER segments_closed BEFORE INSERT ON segments
BEGIN
  SELECT json('segments are written to COLD_DB');
END;
