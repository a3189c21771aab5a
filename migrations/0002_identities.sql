-- The index that finds a user by an identity at a provider. The user object's `links` is the truth; UNIQUE here decides
-- whose an identity is. A row whose user object knows no such link counts for nothing and may be taken over.
CREATE TABLE identities (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL,
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_by_user ON identities (user_id);
