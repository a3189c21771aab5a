import { DurableObject } from "cloudflare:workers";
import { type NewAccount, readAccount } from "../../accounts/account.ts";
import { answerTokenRequest, type TokenMailRequest } from "../../accounts/account-mails.ts";
import { type ActivityPage, listActivity } from "../../accounts/activity.ts";
import type { DeletionRequest, DeletionVerdict } from "../../accounts/deletion.ts";
import type { NewFamily, SessionInfo } from "../../accounts/families.ts";
import type { NewLink, Recovered, Recovery, SignInMethods } from "../../accounts/links.ts";
import type { LinkAllowed, LinkAuthority, LinkBegun, LinkCompleted, Unlinked } from "../../accounts/oauth/linking.ts";
import type { ProviderName } from "../../accounts/oauth/provider.ts";
import type {
  PasswordChange,
  PasswordVerdict,
  Proof,
  ProvenFamily,
  ProvenSession,
  Reset,
} from "../../accounts/proofs.ts";
import type { OpenedRefreshToken, RefreshAttempt, Rotation } from "../../accounts/refresh.ts";
import type { Authentication, Credentials, Profile, Reauthentication, SessionResult } from "../../accounts/sessions.ts";
import {
  admitInvitation,
  beginOwnership,
  endOwnershipAttempt,
  forgetInvitation,
  type InvitationAdmitted,
  type OwnershipAttempt,
} from "../../accounts/user-quotas.ts";
import type { Env } from "../../env.ts";
import type { Violation } from "../../limits/violations.ts";
import type { Mail } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { type PurgeUnfinished, UserCore } from "./core.ts";
import { UserCredentials } from "./credentials.ts";
import { UserSessions } from "./sessions.ts";

/**
 * Holds one account: password hash, links, sessions as refresh families, one-time tokens, pending mails to its owner, and
 * the counter of requests that no workspace counts. Each user has a separate object, so every decision about a session is
 * one synchronous turn. An unprovisioned object answers like an account that does not exist, and writes nothing.
 */
export class UserObject extends DurableObject<Env> {
  readonly #core: UserCore;
  readonly #sessions: UserSessions;
  readonly #credentials: UserCredentials;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#core = new UserCore(ctx, env);
    this.#sessions = new UserSessions(this.#core);
    this.#credentials = new UserCredentials(this.#core);
  }

  /**
   * Creates the account, unconfirmed, with its first link if any and the alarm that resolves the registration. Safe to repeat.
   * @param mails whether a confirmation mail goes to the address
   */
  async provision(
    account: NewAccount,
    link: NewLink | null = null,
    mails: boolean = !account.emailVerified,
    origin?: Origin,
  ): Promise<void> {
    if (!readAccount(this.#core.sql)) this.#credentials.provision(account, link, mails, originOrNew(origin));
  }

  /** Deletes a registration whose address another account has claimed. Keeps an account that the directory lists. */
  async discard(): Promise<void> {
    const account = readAccount(this.#core.sql);
    if (account && !account.confirmed) await this.#core.destroy();
  }

  /** Returns what a sign-in is checked against; `null` if there is no account. */
  async credentials(): Promise<Credentials | null> {
    return this.#credentials.read();
  }

  /** Opens a session for a sign-in that was verified against `family.epoch`. Safe to repeat with the same id. */
  async createSession(family: NewFamily, origin?: Origin): Promise<SessionResult> {
    return this.#sessions.open(family, originOrNew(origin));
  }

  /** Returns whether the session is valid. With `cost` 1, also counts one request of its user. */
  async authenticate(sessionId: string, cost: 0 | 1, origin?: Origin): Promise<Authentication> {
    return this.#sessions.authenticate(sessionId, cost, origin);
  }

  /**
   * Subscribes a workspace to the end of the session. Safe to repeat.
   * @returns the time at which the session expires; `null` if it has ended
   */
  async subscribeToSessionEnd(sessionId: string, workspaceId: string): Promise<number | null> {
    return this.#sessions.subscribeToEnd(sessionId, workspaceId);
  }

  /** @deprecated The earlier name of `subscribeToSessionEnd`: workspace objects of the version before call it during a deploy. */
  watchSession(sessionId: string, workspaceId: string): Promise<number | null> {
    return this.subscribeToSessionEnd(sessionId, workspaceId);
  }

  async me(sessionId: string): Promise<Profile | null> {
    return this.#sessions.profile(sessionId);
  }

  /** Exchanges a refresh token for its successor, or returns the reason for a refusal. */
  async refresh(presented: RefreshAttempt, origin?: Origin): Promise<Rotation> {
    return this.#sessions.refresh(presented, originOrNew(origin));
  }

  /** Ends the session of a genuine refresh token, current or superseded. */
  async logout(token: OpenedRefreshToken, origin?: Origin): Promise<void> {
    this.#sessions.endByToken(token, originOrNew(origin));
  }

  /** Lists all sessions on behalf of one; `null` if that one has ended, as in the three methods below. */
  async sessions(sessionId: string): Promise<SessionInfo[] | null> {
    return this.#sessions.list(sessionId);
  }

  /** Returns `false` if the session `endedId` does not exist. */
  async endSession(sessionId: string, endedId: string, origin?: Origin): Promise<boolean | null> {
    return this.#sessions.end(sessionId, endedId, originOrNew(origin));
  }

  /** Ends all sessions but this one and returns their number. */
  async endOtherSessions(sessionId: string, origin?: Origin): Promise<number | null> {
    return this.#sessions.endOthers(sessionId, originOrNew(origin));
  }

  /**
   * Lists sign-ins and changes, newest first; `null` if the session has ended.
   * @param before the `next` of the previous page, or `null`
   */
  async activity(sessionId: string, before: number | null, limit: number): Promise<ActivityPage | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      listActivity(sql, before, limit, now),
    );
  }

  /** Returns what a signed-in user's password is checked against, and whether the session is fresh. */
  async credentialsIn(sessionId: string): Promise<(Credentials & { email: string; isFresh: boolean }) | null> {
    return this.#sessions.credentials(sessionId);
  }

  /** Has a name of its own because callers of the method before it do not handle `unproven`. */
  async setPassword(change: PasswordChange, origin?: Origin): Promise<PasswordVerdict> {
    return this.#credentials.setPassword(change, originOrNew(origin));
  }

  /** Mails a token on request of an unauthenticated client. Safe to repeat with the same mail id. */
  async requestTokenMail(request: TokenMailRequest): Promise<void> {
    const { requestId } = request;
    const origin = requestId === undefined ? newAlarmOrigin() : { requestId, address: null };
    this.#core.change(origin, (sql, now) => answerTokenRequest(sql, request, this.#core.settings.REFRESH_PEPPER, now));
  }

  async verifyEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#credentials.verifyEmail(tokenHash, originOrNew(origin));
  }

  /**
   * Verifies the address of a session's account, which the token of an invitation mailed to it has just proven. Purges
   * nothing, because the same person holds token and session. Returns `null` if the session has ended.
   */
  async confirmAddress(sessionId: string, origin?: Origin): Promise<true | null> {
    return this.#credentials.confirmAddress(sessionId, originOrNew(origin));
  }

  /** Returns the name that other users see; `null` if the account has no name or does not exist. */
  async displayName(): Promise<string | null> {
    return readAccount(this.#core.sql)?.name ?? null;
  }

  async rejectEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#credentials.rejectEmail(tokenHash, originOrNew(origin));
  }

  async resetPassword(tokenHash: Uint8Array, passwordHash: string, origin?: Origin): Promise<Reset | PurgeUnfinished> {
    return this.#credentials.resetPassword(tokenHash, passwordHash, originOrNew(origin));
  }

  async signInByMail(
    tokenHash: Uint8Array,
    family: ProvenFamily,
    origin?: Origin,
  ): Promise<ProvenSession | PurgeUnfinished> {
    return this.#credentials.signInByMail(tokenHash, family, originOrNew(origin));
  }

  /** Opens a session for a user who has proven the address with a token of the directory. */
  async signInProven(family: ProvenFamily, origin?: Origin): Promise<ProvenSession | PurgeUnfinished> {
    return this.#credentials.signInProven(family, originOrNew(origin));
  }

  /** Returns the epoch for a session by this identity; `null` if the account does not have it and this claim is over. */
  async linkedEpoch(link: NewLink): Promise<number | null> {
    return this.#credentials.linkedEpoch(link);
  }

  /** Returns whether a session may begin to link a provider. */
  async allowLinking(shown: Reauthentication): Promise<LinkAllowed> {
    return this.#credentials.allowLinking(shown);
  }

  /** The first step of a link. `unfinishedPurge`: a purge could not be finished yet; refuse the request. Safe to repeat. */
  async beginLink(link: NewLink, authority: LinkAuthority, origin?: Origin): Promise<LinkBegun> {
    return this.#credentials.beginLink(link, authority, originOrNew(origin));
  }

  /** The last step of a link, after the directory has stored the claim. Safe to repeat. */
  async completeLink(link: NewLink, origin?: Origin): Promise<LinkCompleted> {
    return this.#credentials.completeLink(link, originOrNew(origin));
  }

  /** Has a name of its own, like `setPassword`. */
  async unlinkProvider(shown: Reauthentication, provider: ProviderName, origin?: Origin): Promise<Unlinked> {
    return this.#credentials.unlink(shown, provider, originOrNew(origin));
  }

  async methods(sessionId: string): Promise<SignInMethods | null> {
    return this.#credentials.methods(sessionId);
  }

  /** Counts an invitation before the user makes it; `null` if the session has ended. */
  async admitInvitation(sessionId: string, invitationId: string): Promise<InvitationAdmitted | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      admitInvitation(sql, invitationId, now),
    );
  }

  async forgetInvitation(invitationId: string): Promise<void> {
    if (this.#core.provisioned) forgetInvitation(this.#core.sql, invitationId);
  }

  /** Records that the user is about to own a workspace and returns the workspaces of earlier attempts. */
  async beginOwnership(attempt: OwnershipAttempt): Promise<string[]> {
    return this.#core.provisioned
      ? this.#core.change(newAlarmOrigin(), (sql, now) => beginOwnership(sql, attempt, now))
      : [];
  }

  async endOwnershipAttempt(id: string): Promise<void> {
    if (this.#core.provisioned) endOwnershipAttempt(this.#core.sql, id);
  }

  /** Returns what was added to the account recently; `null` if the session has ended. */
  async recovery(sessionId: string): Promise<Recovery | null> {
    return this.#credentials.recovery(sessionId);
  }

  /** Ends all other sessions and removes recent links. */
  async recover(shown: Reauthentication, origin?: Origin): Promise<Recovered> {
    return this.#credentials.recover(shown, originOrNew(origin));
  }

  /** Finishes a purge outside this object. Returns `false` if a workspace did not answer. */
  async finishPurge(origin?: Origin): Promise<boolean> {
    return this.#core.finishPurge(originOrNew(origin));
  }

  /** Deletes the account with its data in this object, in workspaces and in the directory. */
  async deleteAccount(request: DeletionRequest, origin?: Origin): Promise<DeletionVerdict> {
    return this.#core.deleteAccount(request, originOrNew(origin));
  }

  /** Claims a mail for one attempt of the queue's consumer; `null` if there is nothing to send. */
  async claimMail(mailId: string): Promise<Mail | null> {
    return this.#core.provisioned ? claimMail(this.#core.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.#core.provisioned) mailSent(this.#core.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.#core.provisioned) releaseMail(this.#core.sql, mailId);
  }

  /** Called by the consumer of the violations queue after it has written `violations` to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    this.#core.violationsStored(violations);
  }

  override async alarm(): Promise<void> {
    await this.#core.alarm();
  }
}
