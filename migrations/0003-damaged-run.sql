-- Runs and tails of polls that did not match their checksum or could not be decoded: kept as they were, and never read as polls.
-- `account` is the id, so that nothing else has to stay for it.
CREATE TABLE damaged_run (
  no INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  earliest_at INTEGER,
  latest_at INTEGER,
  polls INTEGER NOT NULL,
  data BLOB NOT NULL,
  found_at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
