-- The account's epoch when a link was asked for with a fresh sign-in or the password; it must be the same when the link
-- is made. Null for flows that end in a sign-in, and for links that were begun before this column was there: these are
-- refused.
ALTER TABLE oauth_flows ADD COLUMN checked_epoch INTEGER;
ALTER TABLE oauth_link_codes ADD COLUMN checked_epoch INTEGER;
