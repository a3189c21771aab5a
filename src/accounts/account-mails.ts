import { newId } from "../ids.ts";
import type { Notice } from "../mail/mail.ts";
import { addPendingMail } from "../mail/pending-mails.ts";
import type { Origin } from "../platform/origin.ts";
import { type Account, confirmAccount, readAccount } from "./account.ts";
import { hashOneTimeToken, mintOneTimeToken, TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";
import { issueToken } from "./tokens.ts";

/** Milliseconds for which the delivery of a notice is attempted. */
const NOTICE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Stores a pending mail that notifies the owner of a change; at most one an hour of each kind. Sends nothing to an
 * unverified address: its owner may be another person, who must not learn what happens to this account.
 */
export function notifyOwner(sql: SqlStorage, notice: Notice, { requestId }: Origin, now: number): void {
  const account = readAccount(sql);
  if (!account?.emailVerified) return;
  const content = { kind: "notice", ...notice } as const;
  const expiresAt = now + NOTICE_LIFETIME_MS;
  addPendingMail(sql, { id: newId("mail"), to: account.email, content, expiresAt, requestId }, now);
}

/** A requested mail with a token. */
export interface TokenMailRequest {
  purpose: TokenPurpose;
  /** `mail_...`; a retried request keeps its id. */
  mailId: string;
  /** 32 random bytes from which the token is derived. */
  seed: Uint8Array;
  /** Id of the request for the mail; absent if an older version sends it. */
  requestId?: string;
}

/** Issues a token for the account's address and stores its pending mail, in the caller's transaction. */
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

/** Like `mailToken`, for an account that was found by its address: that the directory lists the address confirms it. */
export function answerTokenRequest(sql: SqlStorage, request: TokenMailRequest, pepper: string, now: number): void {
  const account = readAccount(sql);
  if (!account) return;
  confirmAccount(sql);
  if (request.purpose === "verify-email" && account.emailVerified) return;
  mailToken(sql, account, request, pepper, now);
}
