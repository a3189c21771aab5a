-- Maps identities of providers to users. The `links` of the user object are authoritative. The primary key decides
-- which user gets an identity. `claim` is the id of one attempt to link: a row whose claim is not in the user object is
-- invalid, and the request that finds it deletes exactly that claim.
CREATE TABLE oauth_identities (
  -- Row: an identity at a provider, claimed by a user; valid only if that user's object has the link.
  provider TEXT NOT NULL,
  -- The provider's id of the account.
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL,
  -- The attempt to link it.
  claim TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_identities_by_user ON oauth_identities (user_id);

-- Flows in progress: valid for ten minutes, used once.
CREATE TABLE oauth_flows (
  -- Row: a provider sign-in in progress, 10 minutes.
  -- SHA-256 of the `state` parameter.
  state_hash TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  -- tokens, code or link.
  mode TEXT NOT NULL CHECK (mode IN ('tokens', 'code', 'link')),
  -- SHA-256 of the cookie that binds the flow to its browser.
  browser_hash TEXT NOT NULL,
  verifier TEXT NOT NULL,
  nonce TEXT NOT NULL,
  -- The frontend's PKCE challenge, for the exchange of its code.
  code_challenge TEXT CHECK ((code_challenge IS NULL) = (mode <> 'code')),
  -- Of a link.
  user_id TEXT CHECK ((user_id IS NULL) = (mode <> 'link')),
  -- The session that asked for a link.
  session_id TEXT CHECK ((session_id IS NULL) = (mode <> 'link')),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_flows_by_expiry ON oauth_flows (expires_at);

-- Codes that a frontend exchanges for the tokens of a sign-in: valid for a minute, used once.
CREATE TABLE oauth_exchanges (
  -- Row: a code for the tokens of a sign-in, 60 s.
  -- SHA-256 of the code.
  code_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  -- The account's epoch at the sign-in. If it has risen since, the exchange is refused.
  epoch INTEGER NOT NULL,
  provider TEXT NOT NULL,
  -- 0 or 1.
  is_new_user INTEGER NOT NULL CHECK (is_new_user IN (0, 1)),
  code_challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_exchanges_by_expiry ON oauth_exchanges (expires_at);

-- Links that returned to another browser: the user confirms them within a minute, once.
CREATE TABLE oauth_link_codes (
  -- Row: a link that its user must confirm, 60 s.
  -- SHA-256 of the code.
  code_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_link_codes_by_expiry ON oauth_link_codes (expires_at);
