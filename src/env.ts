import type { ViolationMessage } from "./limits/violations.ts";
import type { MailMessage } from "./mail/mail.ts";
import type { AddressObject } from "./objects/address/address.ts";
import type { UserObject } from "./objects/user/user.ts";
import type { WorkspaceObject } from "./objects/workspace/workspace.ts";

/** Bindings and settings as the runtime hands them over; `settingsOf` turns the strings into checked values. */
export interface Env extends Record<string, unknown> {
  WORKSPACES: DurableObjectNamespace<WorkspaceObject>;
  USERS: DurableObjectNamespace<UserObject>;
  ADDRESSES: DurableObjectNamespace<AddressObject>;
  /** The directory: accounts, workspaces, memberships, mails, violations; and segments that earlier versions stored. */
  DB: D1Database;
  /** The cold tier of logs. */
  COLD_DB: D1Database;
  ASSETS: Fetcher;
  MAIL_QUEUE: Queue<MailMessage>;
  VIOLATION_QUEUE: Queue<ViolationMessage>;
  /** What the mailer `cloudflare` sends with. */
  EMAIL: SendEmail;
}
