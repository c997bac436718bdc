-- Instants are milliseconds since 1970, UTC. A column `body` is the whole record as JSON; the columns beside it are
-- copies of what queries look for.

-- An account as polls know it. `body` is its state, null once it was removed from the configuration (its history stays).
-- `tail` holds its newest polls (src/core/poll-codec.ts) and is rewritten at each; a full one moves to `segment`.
CREATE TABLE account (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  body TEXT,
  tail BLOB,
  tail_polls INTEGER NOT NULL DEFAULT 0,
  tail_latest_at INTEGER
) STRICT;

-- Older polls, never changed again. Rows are as large as a quarter of a page, so that pages fill.
CREATE TABLE segment (
  seq INTEGER PRIMARY KEY,
  account_no INTEGER NOT NULL REFERENCES account (no),
  earliest_at INTEGER NOT NULL,
  latest_at INTEGER NOT NULL,
  polls INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE INDEX segment_by_time ON segment (account_no, latest_at, earliest_at);

CREATE TABLE backoff (
  group_key TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alert (
  account TEXT NOT NULL,
  rule TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (account, rule)
) STRICT, WITHOUT ROWID;

-- `ended_at` is null while it is open; an event ends when it begins. `settled` is 1 once it is over and every channel
-- that was told of it was told of its end.
CREATE TABLE incident (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL,
  rule TEXT NOT NULL,
  fired_at INTEGER NOT NULL,
  ended_at INTEGER,
  settled INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX incident_by_time ON incident (fired_at);
CREATE INDEX incident_by_account ON incident (account, fired_at);
CREATE INDEX incident_open ON incident (fired_at) WHERE ended_at IS NULL;
CREATE INDEX incident_unsettled ON incident (fired_at) WHERE settled = 0;

CREATE TABLE message (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX message_by_time ON message (created_at);
CREATE INDEX message_pending ON message (created_at) WHERE state = 'pending';

CREATE TABLE silence (
  id TEXT PRIMARY KEY,
  ends_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the command line asks of the daemon. AUTOINCREMENT: the daemon remembers the last number it has seen.
CREATE TABLE operator_order (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  body TEXT NOT NULL
) STRICT;
