import { newId } from "../ids.ts";
import type { Notice } from "../mail/mail.ts";
import { addPendingMail } from "../mail/pending-mails.ts";
import type { Origin } from "../platform/origin.ts";
import { type Account, confirmAccount, readAccount } from "./account.ts";
import { hashOneTimeToken, mintOneTimeToken, TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";
import { issueToken } from "./tokens.ts";

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

/** A mail with a token that somebody asked for. */
export interface TokenMailRequest {
  purpose: TokenPurpose;
  /** `mail_...`; a request that is repeated because its answer was lost keeps it. */
  mailId: string;
  /** 32 random bytes that the token is derived from. */
  seed: Uint8Array;
  /** Of the request for it; absent where an older version asks. */
  requestId?: string;
}

/** Issues a token for the account's address and promises its mail, in the caller's transaction. */
export function mailToken(
  sql: SqlStorage,
  account: Pick<Account, "id" | "email">,
  { purpose, mailId, seed, requestId }: TokenMailRequest,
  pepper: string,
  now: number,
): void {
  const hash = hashOneTimeToken(mintOneTimeToken(account.id, seed, pepper));
  const address = account.email;
  if (!issueToken(sql, { purpose, hash, address, mailId }, now)) return;
  const expiresAt = now + TOKEN_LIFETIME_MS[purpose];
  addPendingMail(sql, { id: mailId, to: address, content: { kind: purpose, seed }, expiresAt, requestId }, now);
}

/** The same for an account that was found by its address: being listed there confirms it. */
export function answerTokenRequest(sql: SqlStorage, request: TokenMailRequest, pepper: string, now: number): void {
  const account = readAccount(sql);
  if (!account) return;
  confirmAccount(sql);
  if (request.purpose === "verify-email" && account.emailVerified) return;
  mailToken(sql, account, request, pepper, now);
}
