import { newId } from "../ids.ts";
import type { Notice } from "../mail/mail.ts";
import { addPendingMail } from "../mail/promised.ts";
import type { Origin } from "../platform/origin.ts";
import { readAccount } from "./account.ts";

/** A notice is tried for this many milliseconds. */
const NOTICE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Promises the owner a mail about what has just happened; at most one an hour of each kind. An address that was never
 * proven may be a stranger's, who must hear nothing of what somebody else does with an account in their name.
 */
export function notifyOwner(sql: SqlStorage, notice: Notice, { requestId }: Origin, now: number): void {
  const account = readAccount(sql);
  if (!account?.emailVerified) return;
  const content = { kind: "notice", ...notice } as const;
  const expiresAt = now + NOTICE_LIFETIME_MS;
  addPendingMail(sql, { id: newId("mail"), to: account.email, content, expiresAt, requestId }, now);
}
