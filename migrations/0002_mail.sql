-- One-time tokens of addresses without an account. Those of an account are in its user object.
CREATE TABLE address_tokens (
  purpose TEXT NOT NULL,
  address TEXT NOT NULL,
  -- SHA-256 of the token, in hex.
  hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX address_tokens_by_expiry ON address_tokens (expires_at);

-- Mails of the mailer `outbox`; empty with every other mailer.
CREATE TABLE outbox (
  num INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  html TEXT NOT NULL,
  links TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
