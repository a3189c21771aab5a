-- One-time tokens of addresses without an account. Those of an account are in its user object.
CREATE TABLE address_tokens (
  -- Row: a magic-link token of an e-mail address without an account.
  -- Written by: the address object; used up by a delete; a write deletes rows a day after they have expired.
  purpose TEXT NOT NULL,
  address TEXT NOT NULL,
  -- Hex SHA-256 of the token.
  hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX address_tokens_by_expiry ON address_tokens (expires_at);

-- Mails of the mailer `outbox`; empty with every other mailer.
CREATE TABLE outbox (
  -- Row: a mail kept by `MAILER=outbox`, the newest 500.
  -- Written by: the queue's consumer; never on a deployment, because the links are valid.
  num INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  html TEXT NOT NULL,
  -- JSON.
  links TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
