/** Destinations, notifications and their deliveries, in a workspace object. */
export const NOTIFICATION_SCHEMA = [
  `CREATE TABLE destinations (
     -- Row: a place to which notifications are delivered.
     -- \`dest_...\`
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL CHECK (kind IN ('webhook', 'email', 'slack', 'pagerduty', 'alertmanager')),
     name TEXT NOT NULL UNIQUE,
     -- JSON: \`url\`, or the \`email\` and \`userId\` of a member. Viewers may read it.
     settings TEXT NOT NULL,
     -- Signing secret of a webhook, URL of Slack, routing key of PagerDuty, \`Authorization\` of Alertmanager; null
     -- without one. Never in a response except the one that creates it.
     secret TEXT,
     -- The signing secret before the last rotation.
     previous_secret TEXT,
     -- The end of the overlap after a rotation.
     previous_until INTEGER,
     -- Why deliveries wait: \`paused\` by a member, \`gone\`: the receiver answered 410, \`left\`: the recipient is no
     -- longer a member. Null if the destination is enabled.
     disabled TEXT CHECK (disabled IN ('paused', 'gone', 'left')),
     -- When the next canary is due; null without canaries.
     canary_at INTEGER,
     -- When a test was last requested.
     tested_at INTEGER NOT NULL DEFAULT 0,
     -- Rises by 1 with each change.
     version INTEGER NOT NULL,
     -- A user id.
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     last_delivered_at INTEGER,
     last_failed_at INTEGER,
     -- JSON: the receiver's last answer.
     last_answer TEXT
   ) STRICT`,
  `CREATE TABLE notifications (
     -- Row: a notification, for 30 days.
     -- The order of decisions.
     num INTEGER PRIMARY KEY,
     -- Deterministic: the same decision is stored once.
     id TEXT NOT NULL UNIQUE,
     -- \`num\` of the project; null for a canary.
     project INTEGER,
     kind TEXT NOT NULL CHECK (kind IN ('firing', 'resolved', 'test', 'canary')),
     -- Rule and hash of the group.
     series TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     -- The notification as JSON.
     content TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE deliveries (
     -- Row: one notification to one destination.
     -- \`dlv_...\`
     id TEXT PRIMARY KEY,
     -- \`num\` of the notification.
     notification INTEGER NOT NULL,
     -- \`dest_...\`
     destination TEXT NOT NULL,
     series TEXT NOT NULL,
     -- \`repeating\`: delivered, and sent again until the alert resolves, as Alertmanager requires. \`dead\`: given up.
     state TEXT NOT NULL CHECK (state IN ('pending', 'repeating', 'delivered', 'dead')),
     -- When the next attempt is due, or an attempt without an outcome is repeated; null while an earlier delivery of
     -- the series is pending, and once the delivery is settled.
     next_at INTEGER,
     -- When attempts end.
     expires_at INTEGER NOT NULL,
     -- Of the current round.
     attempts INTEGER NOT NULL DEFAULT 0,
     -- Rises by 1 with each request to deliver again.
     round INTEGER NOT NULL DEFAULT 1,
     -- When the last attempt ended.
     attempted_at INTEGER,
     -- JSON: the receiver's last answer.
     answer TEXT
   ) STRICT`,
  "CREATE INDEX deliveries_of_notification ON deliveries (notification)",
  "CREATE INDEX deliveries_due ON deliveries (destination, next_at) WHERE next_at IS NOT NULL",
  "CREATE INDEX deliveries_in_series ON deliveries (destination, series, notification)",
] as const;

/** Addresses that are confirmed by a link, and a limit of mails. */
export const MAIL_DESTINATIONS_SCHEMA = [
  `-- SHA-256 of the token of the link that was mailed to an address without a member; null for other destinations. \`secret\` is
   -- the base64 of the token's seed.
   ALTER TABLE destinations ADD COLUMN token_hash BLOB CHECK (token_hash IS NULL OR length(token_hash) = 32)`,
  `-- Until when such an address can be confirmed; null once it is.
   ALTER TABLE destinations ADD COLUMN confirm_until INTEGER`,
  `-- JSON array: when mails of the last hour were sent.
   ALTER TABLE destinations ADD COLUMN mail_times TEXT NOT NULL DEFAULT '[]'`,
  `-- Notifications that exceeded the limit of mails since the last mail.
   ALTER TABLE destinations ADD COLUMN mails_left_out INTEGER NOT NULL DEFAULT 0`,
  "CREATE INDEX destinations_by_token ON destinations (token_hash) WHERE token_hash IS NOT NULL",
] as const;
