-- The tables of ../0001-first.sql and ../0002-spending.sql, with the same bytes and records in them, and what several daemons
-- need. Instants are milliseconds since 1970, UTC. A column `body` is the whole record as JSON; the columns beside it are copies
-- of what queries look for. `slot` says whose account something is; there is one slot.

-- Who may write what belongs to a slot. The epoch grows with every owner, so that the writes of an older one are refused.
CREATE TABLE slot (
  no integer PRIMARY KEY,
  incarnation text COLLATE "C",
  epoch bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO slot (no, incarnation, epoch) VALUES (0, NULL, 0);

-- A running process. A new one at each start and after each loss of its lease; `batch` numbers what it has written.
CREATE TABLE member (
  incarnation text COLLATE "C" PRIMARY KEY,
  node text NOT NULL,
  advertise text,
  config_hash text NOT NULL,
  program text NOT NULL,
  expires_at timestamptz NOT NULL,
  batch bigint NOT NULL
) WITH (fillfactor = 50);

-- An account as polls know it. `body` is its state, null once it was removed from the configuration (its history stays).
-- `tail` holds its newest polls (src/store/runs/poll-codec.ts) and is rewritten at each; a full one moves to `segment`. More
-- than half of each page is left free, so that the new version of a row finds room beside the old one and no index has to change
-- (measured by bench/fleet.ts); nothing of a row is compressed or moved out, which would cost more than it saves.
CREATE TABLE account (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slot integer NOT NULL,
  id text COLLATE "C" NOT NULL UNIQUE,
  tail_polls bigint NOT NULL DEFAULT 0,
  tail_latest_at bigint,
  body text,
  tail bytea
) WITH (fillfactor = 40, toast_tuple_target = 8160);

-- Older polls, never changed again.
CREATE TABLE segment (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_no bigint NOT NULL REFERENCES account (no),
  earliest_at bigint NOT NULL,
  latest_at bigint NOT NULL,
  polls bigint NOT NULL,
  data bytea NOT NULL
) WITH (toast_tuple_target = 8160);
CREATE INDEX segment_by_time ON segment (account_no, latest_at, earliest_at);

-- What is known of the spending of an account (src/spending/spending-bytes.ts), rewritten when an hour of it ended.
CREATE TABLE spending (
  account_no bigint PRIMARY KEY REFERENCES account (no),
  state bytea NOT NULL
) WITH (fillfactor = 80);
ALTER TABLE spending ALTER COLUMN state SET STORAGE EXTERNAL;

CREATE TABLE backoff (
  group_key text COLLATE "C" PRIMARY KEY,
  slot integer NOT NULL,
  until bigint NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE alert (
  account text COLLATE "C" NOT NULL,
  rule text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (account, rule)
) WITH (fillfactor = 70, toast_tuple_target = 8160);

-- `ended_at` is null while it is open; an event ends when it begins. `settled` is 1 once it is over and every channel that was
-- told of it was told of its end.
CREATE TABLE incident (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  slot integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  rule text COLLATE "C" NOT NULL,
  fired_at bigint NOT NULL,
  ended_at bigint,
  settled bigint NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX incident_by_time ON incident (fired_at);
CREATE INDEX incident_by_account ON incident (account, fired_at);
CREATE INDEX incident_open ON incident (fired_at) WHERE ended_at IS NULL;
CREATE INDEX incident_unsettled ON incident (fired_at) WHERE settled = 0;

CREATE TABLE message (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  slot integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX message_by_time ON message (created_at);
CREATE INDEX message_pending ON message (created_at) WHERE state = 'pending';

CREATE TABLE silence (
  id text COLLATE "C" PRIMARY KEY,
  slot integer NOT NULL,
  ends_at bigint NOT NULL,
  body text NOT NULL
);

CREATE TABLE note (
  name text COLLATE "C" PRIMARY KEY,
  slot integer NOT NULL,
  value text NOT NULL
) WITH (fillfactor = 50);

-- What people ask of the owner, through the command line or a daemon that stands by.
CREATE TABLE operator_order (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slot integer NOT NULL,
  body text NOT NULL
);
