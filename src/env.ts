/** Bindings and settings as the runtime hands them over; `settingsOf` turns the strings into checked values. */
export interface Env extends Record<string, unknown> {
  /** Objects, by their names; `rpc/call.ts` calls them by the contracts of their classes. */
  WORKSPACES: DurableObjectNamespace;
  USERS: DurableObjectNamespace;
  ADDRESSES: DurableObjectNamespace;
  COMPACTORS: DurableObjectNamespace;
  /** Absent, like the next one, in a deployment whose configuration is older than its code. */
  MATCHERS?: DurableObjectNamespace;
  SCANNERS?: DurableObjectNamespace;
  /** The directory: accounts, workspaces, memberships, mails, violations; and segments that earlier versions stored. */
  DB: D1Database;
  /** The cold tier of logs. */
  COLD_DB: D1Database;
  /** Files of the cold tier. Without it, all of the cold tier is in D1. */
  BUCKET?: R2Bucket;
  ASSETS: Fetcher;
  /** Takes a `MailMessage`. */
  MAIL_QUEUE: Queue;
  /** Takes a `ViolationMessage`. */
  VIOLATION_QUEUE: Queue;
  /** The way to addresses that users have chosen; see `platform/outbound.ts`. Bound by `npm start` only. */
  OUTBOUND?: Fetcher;
  /** The binding through which the mailer `cloudflare` sends. */
  EMAIL: SendEmail;
}
