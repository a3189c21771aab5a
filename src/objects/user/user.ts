import { DurableObject } from "cloudflare:workers";
import { type NewAccount, provisionAccount, readAccount } from "../../accounts/account.ts";
import { answerTokenRequest, mailToken, type TokenMailRequest } from "../../accounts/account-mails.ts";
import { type ActivityPage, listActivity } from "../../accounts/activity.ts";
import type { DeletionRequest, DeletionVerdict } from "../../accounts/deletion.ts";
import {
  endFamilies,
  endFamily,
  isAlive,
  listSessions,
  type NewFamily,
  type SessionInfo,
  subscribeToSessionEnd,
} from "../../accounts/families.ts";
import {
  insertLink,
  type NewLink,
  type Recovered,
  type Recovery,
  readRecovery,
  recover,
  type SignInMethods,
} from "../../accounts/links.ts";
import {
  allowLinking,
  epochOfLinked,
  finishLinking,
  type LinkAllowed,
  type LinkAuthority,
  type LinkBegun,
  type LinkCompleted,
  methodsOfSession,
  startLinking,
  type Unlinked,
  unlinkBySession,
} from "../../accounts/oauth/linking.ts";
import type { ProviderName } from "../../accounts/oauth/provider.ts";
import { newSeed } from "../../accounts/one-time-token.ts";
import {
  changePassword,
  type PasswordChange,
  type PasswordVerdict,
  type Proof,
  type ProvenFamily,
  type ProvenSession,
  type Reset,
  rejectEmail,
  resetPassword,
  type SessionKeys,
  signInByMail,
  signInProven,
  verifyEmail,
} from "../../accounts/proofs.ts";
import { endByToken, type OpenedRefreshToken, type RefreshAttempt, type Rotation } from "../../accounts/refresh.ts";
import {
  type Authentication,
  authenticate,
  type Credentials,
  isFresh,
  openSession,
  type Profile,
  profileOfSession,
  type Reauthentication,
  readCredentials,
  type SessionResult,
} from "../../accounts/sessions.ts";
import {
  admitInvitation,
  beginOwnership,
  endOwnershipAttempt,
  forgetInvitation,
  type InvitationAdmitted,
  type OwnershipAttempt,
} from "../../accounts/user-quotas.ts";
import type { Env } from "../../env.ts";
import { newId } from "../../ids.ts";
import type { Violation } from "../../limits/violations.ts";
import type { Mail } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { type PurgeUnfinished, UserCore } from "./core.ts";
import { refresh } from "./sessions.ts";

/**
 * One account: password hash, links, sessions as refresh families, one-time tokens, the mails promised to its owner, and
 * the counter of requests that no workspace counts. One object per user makes every decision about a session one
 * synchronous turn. An object that was never provisioned answers like an account that does not exist, and writes nothing.
 */
export class UserObject extends DurableObject<Env> {
  readonly #core: UserCore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#core = new UserCore(ctx, env);
  }

  /**
   * Makes the account exist, unconfirmed, with its first link if any and the alarm that settles it. Safe to repeat.
   * @param mails whether the address is mailed for its confirmation
   */
  async provision(
    account: NewAccount,
    link: NewLink | null = null,
    mails: boolean = !account.emailVerified,
    origin?: Origin,
  ): Promise<void> {
    if (readAccount(this.#core.sql)) return;
    const cause = originOrNew(origin);
    const { requestId } = cause;
    const request = { purpose: "verify-email", mailId: newId("mail"), seed: newSeed(), requestId } as const;
    this.#core.change(cause, (sql, now, note) => {
      provisionAccount(sql, account, now);
      note({ action: "account.create" });
      if (link) insertLink(sql, link, now);
      if (mails) mailToken(sql, account, request, this.#pepper, now);
    });
  }

  /** Takes back a registration that lost its address. An account that the directory lists is never taken back. */
  async discard(): Promise<void> {
    const account = readAccount(this.#core.sql);
    if (account && !account.confirmed) await this.#core.destroy();
  }

  /** What a sign-in is checked against; null where there is no account. */
  async credentials(): Promise<Credentials | null> {
    return readCredentials(this.#core.sql);
  }

  /** Opens a session for a sign-in that was verified against `family.epoch`. Safe to repeat with the same id. */
  async createSession(family: NewFamily, origin?: Origin): Promise<SessionResult> {
    const keys = this.#newKeys();
    return this.#core.change(originOrNew(origin), (sql, now, note) =>
      openSession(sql, family, keys.family, keys.pepper, note, now),
    );
  }

  /** Whether the session lives; with `cost` 1 also counts one request of its user. */
  async authenticate(sessionId: string, cost: 0 | 1, origin?: Origin): Promise<Authentication> {
    const now = Date.now();
    const count = cost === 0 ? null : (userId: string) => this.#core.count(userId, origin?.requestId, now);
    return authenticate(this.#core.sql, sessionId, now, count);
  }

  /** A workspace wants to know when the session ends. @returns when it does by itself; null where it has. Safe to repeat. */
  async subscribeToSessionEnd(sessionId: string, workspaceId: string): Promise<number | null> {
    if (!this.#core.provisioned) return null;
    return this.#core.change(newAlarmOrigin(), (sql, now) =>
      subscribeToSessionEnd(sql, { sessionId, workspaceId }, now),
    );
  }

  /** @deprecated The earlier name of `subscribeToSessionEnd`: workspace objects of the version before call it during a deploy. */
  watchSession(sessionId: string, workspaceId: string): Promise<number | null> {
    return this.subscribeToSessionEnd(sessionId, workspaceId);
  }

  async me(sessionId: string): Promise<Profile | null> {
    return profileOfSession(this.#core.sql, sessionId, Date.now());
  }

  /** Gives a refresh token's successor, or says why not. */
  async refresh(presented: RefreshAttempt, origin?: Origin): Promise<Rotation> {
    return refresh(this.#core, presented, originOrNew(origin));
  }

  /** Ends the session of any genuine token of it. */
  async logout(token: OpenedRefreshToken, origin?: Origin): Promise<void> {
    this.#core.change(originOrNew(origin), (sql, now, note) => {
      const hasEnded = endByToken(sql, token, this.#pepper, now);
      if (hasEnded) note({ action: "session.end", session: token.familyId });
    });
  }

  /** All sessions, asked for in one of them; null where that is dead, as in the three methods below. */
  async sessions(sessionId: string): Promise<SessionInfo[] | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, { epoch }, now) =>
      listSessions(sql, epoch, now),
    );
  }

  /** False where there is no such session. */
  async endSession(sessionId: string, endedId: string, origin?: Origin): Promise<boolean | null> {
    return this.#core.changeInSession(sessionId, originOrNew(origin), (sql, { epoch }, now, note) => {
      const hasEnded = isAlive(sql, endedId, epoch, now) && endFamily(sql, endedId, "revoked", now);
      if (hasEnded) note({ action: "session.end", session: endedId });
      return hasEnded;
    });
  }

  /** Ends all but this one, and says how many. */
  async endOtherSessions(sessionId: string, origin?: Origin): Promise<number | null> {
    return this.#core.changeInSession(sessionId, originOrNew(origin), (sql, _account, now, note) => {
      const ended = endFamilies(sql, "revoked", sessionId, now);
      if (ended > 0) note({ action: "session.end-others", session: sessionId, details: { ended } });
      return ended;
    });
  }

  /** Sign-ins and changes, newest first; null where the session is dead. `before`: the `next` of the page before, or null. */
  async activity(sessionId: string, before: number | null, limit: number): Promise<ActivityPage | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      listActivity(sql, before, limit, now),
    );
  }

  /** What a signed-in user's password is checked against, and whether the session's sign-in is fresh. */
  async credentialsIn(sessionId: string): Promise<(Credentials & { email: string; isFresh: boolean }) | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, { email, passwordHash, epoch }, now) => {
      return { email, passwordHash, epoch, isFresh: isFresh(sql, sessionId, now) };
    });
  }

  /** Has another name than the method of the version before, whose callers know nothing of `unproven`. */
  async setPassword(change: PasswordChange, origin?: Origin): Promise<PasswordVerdict> {
    const cause = originOrNew(origin);
    return this.#core.change(cause, (sql, now, note) => {
      const action = readAccount(sql)?.passwordHash === null ? "password.set" : "password.change";
      const verdict = changePassword(sql, change, cause, now);
      if (verdict === "changed") note({ action, session: change.sessionId });
      return verdict;
    });
  }

  /** Somebody asked for a mail with a token. Safe to repeat with the same mail id. */
  async requestTokenMail(request: TokenMailRequest): Promise<void> {
    const { requestId } = request;
    const origin = requestId === undefined ? newAlarmOrigin() : { requestId, address: null };
    this.#core.change(origin, (sql, now) => answerTokenRequest(sql, request, this.#pepper, now));
  }

  async verifyEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#core.changeAndPurge(originOrNew(origin), (sql, now, note) => {
      const proof = verifyEmail(sql, tokenHash, now);
      if (proof.ok) note({ action: "email.verify" });
      return proof;
    });
  }

  /**
   * Confirms the address of a living session's account, which has just been proven: by the token of an invitation that was
   * mailed there. Nothing is purged: token and session are in the same hands. Null where the session is dead.
   */
  async confirmAddress(sessionId: string, origin?: Origin): Promise<true | null> {
    return this.#core.changeInSession(sessionId, originOrNew(origin), (sql, { emailVerified }, _now, note) => {
      if (!emailVerified) note({ action: "email.verify", session: sessionId });
      sql.exec("UPDATE account SET email_verified = 1");
      return true;
    });
  }

  /** The account as others may see it: its name. Null where it gave none, and where there is no account. */
  async displayName(): Promise<string | null> {
    return readAccount(this.#core.sql)?.name ?? null;
  }

  async rejectEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#core.changeAndPurge(originOrNew(origin), (sql, now, note) => {
      const proof = rejectEmail(sql, tokenHash, now);
      if (proof.ok) note({ action: "email.reject" });
      return proof;
    });
  }

  async resetPassword(tokenHash: Uint8Array, passwordHash: string, origin?: Origin): Promise<Reset | PurgeUnfinished> {
    const cause = originOrNew(origin);
    return this.#core.changeAndPurge(cause, (sql, now, note) => {
      const reset = resetPassword(sql, tokenHash, passwordHash, cause, now);
      if (reset.ok) note({ action: "password.reset" });
      return reset;
    });
  }

  async signInByMail(
    tokenHash: Uint8Array,
    family: ProvenFamily,
    origin?: Origin,
  ): Promise<ProvenSession | PurgeUnfinished> {
    const keys = this.#newKeys();
    return this.#core.changeAndPurge(originOrNew(origin), (sql, now, note) =>
      signInByMail(sql, tokenHash, family, keys, note, now),
    );
  }

  /** Signs in whoever has proven elsewhere, by a token of the directory, to own the address. */
  async signInProven(family: ProvenFamily, origin?: Origin): Promise<ProvenSession | PurgeUnfinished> {
    const keys = this.#newKeys();
    return this.#core.changeAndPurge(originOrNew(origin), (sql, now, note) =>
      signInProven(sql, family, keys, note, now),
    );
  }

  /** The epoch for a session of whoever has this identity; null where the account has not, and never will by that claim. */
  async linkedEpoch(link: NewLink): Promise<number | null> {
    return epochOfLinked(this.#core.sql, link);
  }

  /** Whether a session may set out to link a provider. */
  async allowLinking(shown: Reauthentication): Promise<LinkAllowed> {
    return allowLinking(this.#core.sql, shown, Date.now());
  }

  /** The first step of a link. Where it answers `unfinishedPurge`, `finishPurge` must follow. Safe to repeat. */
  async beginLink(link: NewLink, authority: LinkAuthority, origin?: Origin): Promise<LinkBegun> {
    return this.#core.change(originOrNew(origin), (sql, now) => startLinking(sql, link, authority, now));
  }

  /** The last step of a link, once the directory has the claim. Safe to repeat. */
  async completeLink(link: NewLink, origin?: Origin): Promise<LinkCompleted> {
    const cause = originOrNew(origin);
    return this.#core.change(cause, (sql, now, note) => finishLinking(sql, link, cause, note, now));
  }

  /** Another name than before, as `setPassword` has. */
  async unlinkProvider(shown: Reauthentication, provider: ProviderName, origin?: Origin): Promise<Unlinked> {
    return this.#core.change(originOrNew(origin), (sql, now, note) => {
      const unlinked = unlinkBySession(sql, shown, provider, now);
      if (unlinked.ok) note({ action: "provider.unlink", session: shown.sessionId, details: { provider } });
      return unlinked;
    });
  }

  async methods(sessionId: string): Promise<SignInMethods | null> {
    return methodsOfSession(this.#core.sql, sessionId, Date.now());
  }

  /** Counts an invitation that the user is about to make; null where the session is dead. */
  async admitInvitation(sessionId: string, invitationId: string): Promise<InvitationAdmitted | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      admitInvitation(sql, invitationId, now),
    );
  }

  async forgetInvitation(invitationId: string): Promise<void> {
    if (this.#core.provisioned) forgetInvitation(this.#core.sql, invitationId);
  }

  /** The user is about to own a workspace; gives those of earlier attempts. `endOwnershipAttempt` has to follow. */
  async beginOwnership(attempt: OwnershipAttempt): Promise<string[]> {
    return this.#core.provisioned
      ? this.#core.change(newAlarmOrigin(), (sql, now) => beginOwnership(sql, attempt, now))
      : [];
  }

  async endOwnershipAttempt(id: string): Promise<void> {
    if (this.#core.provisioned) endOwnershipAttempt(this.#core.sql, id);
  }

  /** What was added to the account of late; null where the session is dead. */
  async recovery(sessionId: string): Promise<Recovery | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, account, now) =>
      readRecovery(sql, sessionId, account, now),
    );
  }

  /** Ends all other sessions and what was linked of late. */
  async recover(shown: Reauthentication, origin?: Origin): Promise<Recovered> {
    return this.#core.change(originOrNew(origin), (sql, now, note) => {
      const recovered = recover(sql, shown, now);
      if (recovered.ok) {
        const details = { ended: recovered.ended, unlinked: recovered.released.length };
        note({ action: "account.recover", session: shown.sessionId, details });
      }
      return recovered;
    });
  }

  /**
   * Ends a purge outside this object: to be called after any call that purged, before the answer to its request.
   * False where that could not be done yet.
   */
  async finishPurge(origin?: Origin): Promise<boolean> {
    return this.#core.finishPurge(originOrNew(origin));
  }

  /** Deletes the account with all it has, here and elsewhere. */
  async deleteAccount(request: DeletionRequest, origin?: Origin): Promise<DeletionVerdict> {
    return this.#core.deleteAccount(request, originOrNew(origin));
  }

  /** The queue's consumer takes a mail for one try; null where there is nothing to send. */
  async claimMail(mailId: string): Promise<Mail | null> {
    return this.#core.provisioned ? claimMail(this.#core.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.#core.provisioned) mailSent(this.#core.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.#core.provisioned) releaseMail(this.#core.sql, mailId);
  }

  /** The consumer of the violations queue has written these to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    this.#core.violationsStored(violations);
  }

  override async alarm(): Promise<void> {
    await this.#core.alarm();
  }

  get #pepper(): string {
    return this.#core.settings.REFRESH_PEPPER;
  }

  /** What a new session's tokens are derived with. */
  #newKeys(): SessionKeys {
    return { family: crypto.getRandomValues(new Uint8Array(32)), pepper: this.#pepper };
  }
}
