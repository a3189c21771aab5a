-- The account's epoch when a link was requested with a fresh sign-in or the password. It must be the same when the link
-- is completed. Null for sign-in flows, and for links that began before this column existed, which are refused.
ALTER TABLE oauth_flows ADD COLUMN checked_epoch INTEGER;
ALTER TABLE oauth_link_codes ADD COLUMN checked_epoch INTEGER;
