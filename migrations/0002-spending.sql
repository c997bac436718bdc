-- What is known of the spending of an account (src/spending/spending-bytes.ts), rewritten when an hour of it ended. It can be
-- made anew from the polls: an account without a row gets one that way.
CREATE TABLE spending (
  account_no INTEGER PRIMARY KEY REFERENCES account (no),
  state BLOB NOT NULL
) STRICT;
