-- oldest program: 0.2
-- What daemons say of themselves to one another beyond 0001-first.sql, and what could not be read. New tables alone: a program of 0.2
-- goes on without knowing of them, and no lock of an existing table is waited for.

-- What a member says of itself, as JSON (src/ports/cluster.ts), rewritten at each renewal.
CREATE TABLE member_status (
  incarnation text COLLATE "C" PRIMARY KEY,
  status text NOT NULL
) WITH (fillfactor = 50);

-- What configurations consist of: names of accounts, rules and channels, each with a digest. `owned_at`: when a daemon with it last took
-- the accounts.
CREATE TABLE configuration (
  hash text COLLATE "C" PRIMARY KEY,
  parts text NOT NULL,
  seen_at timestamptz NOT NULL,
  owned_at timestamptz
);

-- Records that could not be read, moved here so that the rest is loaded.
CREATE TABLE damaged_record (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source text NOT NULL,
  key text NOT NULL,
  body text NOT NULL,
  reason text NOT NULL,
  found_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Runs of polls that do not match their checksum.
CREATE TABLE damaged_run (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account text COLLATE "C" NOT NULL,
  earliest_at bigint,
  latest_at bigint,
  polls bigint NOT NULL,
  data bytea NOT NULL,
  reason text NOT NULL,
  found_at bigint NOT NULL
);
