import type { NewAccount } from "../accounts/account.ts";
import type { TokenMailRequest } from "../accounts/account-mails.ts";
import type { ActivityPage } from "../accounts/activity.ts";
import type { DeletionRequest, DeletionVerdict } from "../accounts/deletion.ts";
import type { NewFamily, SessionInfo } from "../accounts/families.ts";
import type { NewLink, Recovered, Recovery, SignInMethods } from "../accounts/links.ts";
import type { LinkAllowed, LinkAuthority, LinkBegun, LinkCompleted, Unlinked } from "../accounts/oauth/linking.ts";
import type { ProviderName } from "../accounts/oauth/provider.ts";
import type { PasswordChange, PasswordVerdict, Proof, ProvenFamily, ProvenSession, Reset } from "../accounts/proofs.ts";
import type { OpenedRefreshToken, RefreshAttempt, Rotation } from "../accounts/refresh.ts";
import type { Authentication, Credentials, Profile, Reauthentication, SessionResult } from "../accounts/sessions.ts";
import type { InvitationAdmitted, OwnershipAttempt } from "../accounts/user-quotas.ts";
import type { Violation } from "../limits/violations.ts";
import type { Mail } from "../mail/mail.ts";
import type { Origin } from "../platform/origin.ts";

// Plain data only. These shapes, with those that they name, cross versions during a deploy: add optional members and new
// methods only. An object accepts the calls of the version before, and a router its answers.

/** The proof is valid, but its purge is not finished everywhere. Refuse the sign-in until it is. */
export interface PurgeUnfinished {
  ok: false;
  code: "PURGE_UNFINISHED";
}

/**
 * What routers and workspace objects ask of a user object. An unprovisioned object answers like an account that does not
 * exist.
 */
export interface UserRpc {
  /**
   * Creates the account, unconfirmed, with its first link if any and the alarm that resolves the registration. Safe to repeat.
   * @param mails whether a confirmation mail goes to the address
   */
  provision(account: NewAccount, link?: NewLink | null, mails?: boolean, origin?: Origin): Promise<void>;
  /** Deletes a registration whose address another account has claimed. Keeps an account that the directory lists. */
  discard(): Promise<void>;
  /** Returns what a sign-in is checked against; `null` if there is no account. */
  credentials(): Promise<Credentials | null>;
  /** Opens a session for a sign-in that was verified against `family.epoch`. Safe to repeat with the same id. */
  createSession(family: NewFamily, origin?: Origin): Promise<SessionResult>;
  /** Returns whether the session is valid. With `cost` 1, also counts one request of its user. */
  authenticate(sessionId: string, cost: 0 | 1, origin?: Origin): Promise<Authentication>;
  /**
   * Subscribes a workspace to the end of the session. Safe to repeat.
   * @returns the time at which the session expires; `null` if it has ended
   */
  subscribeToSessionEnd(sessionId: string, workspaceId: string): Promise<number | null>;
  me(sessionId: string): Promise<Profile | null>;
  /** Changes the name that other users see, or with `null` removes it. Returns `null` if the session has ended. Safe to repeat. */
  rename(sessionId: string, name: string | null, origin: Origin): Promise<Profile | null>;
  /** Exchanges a refresh token for its successor, or returns the reason for a refusal. */
  refresh(presented: RefreshAttempt, origin?: Origin): Promise<Rotation>;
  /** Mails the owner that the access of an agent has ended because a token was presented again; at most once an hour. Safe to repeat. */
  agentEnded(origin: Origin): Promise<void>;
  /** Ends the session of a genuine refresh token, current or superseded. */
  logout(token: OpenedRefreshToken, origin?: Origin): Promise<void>;
  /** Lists all sessions on behalf of one; `null` if that one has ended, as in the three methods below. */
  sessions(sessionId: string): Promise<SessionInfo[] | null>;
  /** Returns `false` if the session `endedId` does not exist. */
  endSession(sessionId: string, endedId: string, origin?: Origin): Promise<boolean | null>;
  /** Ends all sessions but this one and returns their number. */
  endOtherSessions(sessionId: string, origin?: Origin): Promise<number | null>;
  /**
   * Lists sign-ins and changes, newest first; `null` if the session has ended.
   * @param before the `next` of the previous page, or `null`
   */
  activity(sessionId: string, before: number | null, limit: number): Promise<ActivityPage | null>;
  /** Returns what a signed-in user's password is checked against, and whether the session is fresh. */
  credentialsIn(sessionId: string): Promise<(Credentials & { email: string; isFresh: boolean }) | null>;
  /** Has a separate name because callers of the method before it do not handle `unproven`. */
  setPassword(change: PasswordChange, origin?: Origin): Promise<PasswordVerdict>;
  /** Mails a token on request of an unauthenticated client. Safe to repeat with the same mail id. */
  requestTokenMail(request: TokenMailRequest): Promise<void>;
  verifyEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished>;
  /**
   * Verifies the address of a session's account, which the token of an invitation mailed to it has just proven. Purges
   * nothing, because the same person holds token and session. Returns `null` if the session has ended.
   */
  confirmAddress(sessionId: string, origin?: Origin): Promise<true | null>;
  /** Returns the name that other users see; `null` if the account has no name or does not exist. */
  displayName(): Promise<string | null>;
  rejectEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished>;
  resetPassword(tokenHash: Uint8Array, passwordHash: string, origin?: Origin): Promise<Reset | PurgeUnfinished>;
  signInByMail(tokenHash: Uint8Array, family: ProvenFamily, origin?: Origin): Promise<ProvenSession | PurgeUnfinished>;
  /** Opens a session for a user who has proven the address with a token of the directory. */
  signInProven(family: ProvenFamily, origin?: Origin): Promise<ProvenSession | PurgeUnfinished>;
  /** Returns the epoch for a session by this identity; `null` if the account does not have it and this claim is over. */
  linkedEpoch(link: NewLink): Promise<number | null>;
  /** Returns whether a session may begin to link a provider. */
  allowLinking(shown: Reauthentication): Promise<LinkAllowed>;
  /** The first step of a link. `unfinishedPurge`: a purge could not be finished yet; refuse the request. Safe to repeat. */
  beginLink(link: NewLink, authority: LinkAuthority, origin?: Origin): Promise<LinkBegun>;
  /** The last step of a link, after the directory has stored the claim. Safe to repeat. */
  completeLink(link: NewLink, origin?: Origin): Promise<LinkCompleted>;
  /** Has a separate name, like `setPassword`. */
  unlinkProvider(shown: Reauthentication, provider: ProviderName, origin?: Origin): Promise<Unlinked>;
  methods(sessionId: string): Promise<SignInMethods | null>;
  /** Counts an invitation before the user makes it; `null` if the session has ended. */
  admitInvitation(sessionId: string, invitationId: string): Promise<InvitationAdmitted | null>;
  forgetInvitation(invitationId: string): Promise<void>;
  /** Records that the user is about to own a workspace and returns the workspaces of earlier attempts. */
  beginOwnership(attempt: OwnershipAttempt): Promise<string[]>;
  endOwnershipAttempt(id: string): Promise<void>;
  /** Returns what was added to the account recently; `null` if the session has ended. */
  recovery(sessionId: string): Promise<Recovery | null>;
  /** Ends all other sessions and removes recent links. */
  recover(shown: Reauthentication, origin?: Origin): Promise<Recovered>;
  /** Finishes a purge outside this object. Returns `false` if a workspace did not answer. */
  finishPurge(origin?: Origin): Promise<boolean>;
  /** Deletes the account with its data in this object, in workspaces and in the directory. */
  deleteAccount(request: DeletionRequest, origin?: Origin): Promise<DeletionVerdict>;
  /** Claims a mail for one attempt of the queue's consumer; `null` if there is nothing to send. */
  claimMail(mailId: string): Promise<Mail | null>;
  mailSent(mailId: string): Promise<void>;
  releaseMail(mailId: string): Promise<void>;
  /** Called by the consumer of the violations queue after it has written `violations` to D1. */
  violationsStored(violations: readonly Violation[]): Promise<void>;
}
