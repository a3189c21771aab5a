-- The account's epoch when the link was allowed, which must be the same when the link is made. Null for other modes, and
-- for links of versions before this column, which are refused.
ALTER TABLE oauth_flows ADD COLUMN checked_epoch INTEGER;
-- As in `oauth_flows`.
ALTER TABLE oauth_link_codes ADD COLUMN checked_epoch INTEGER;
