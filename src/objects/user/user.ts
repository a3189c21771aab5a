import { DurableObject } from "cloudflare:workers";
import { type NewAccount, readAccount } from "../../accounts/account.ts";
import { answerTokenRequest, notifyOwner, type TokenMailRequest } from "../../accounts/account-mails.ts";
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
import type { PurgeUnfinished, UserRpc } from "../../rpc/user.ts";
import { UserCore } from "./core.ts";
import { UserCredentials } from "./credentials.ts";
import { UserSessions } from "./sessions.ts";

/**
 * Holds one account: password hash, links, sessions as refresh families, one-time tokens, pending mails to its owner, and
 * the counter of requests that no workspace counts. Each user has a separate object, so every decision about a session is
 * one synchronous turn. An unprovisioned object answers like an account that does not exist, and writes nothing.
 */
export class UserObject extends DurableObject<Env> implements UserRpc {
  readonly #core: UserCore;
  readonly #sessions: UserSessions;
  readonly #credentials: UserCredentials;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#core = new UserCore(ctx, env);
    this.#sessions = new UserSessions(this.#core);
    this.#credentials = new UserCredentials(this.#core);
  }

  async provision(
    account: NewAccount,
    link: NewLink | null = null,
    mails: boolean = !account.emailVerified,
    origin?: Origin,
  ): Promise<void> {
    if (!readAccount(this.#core.sql)) this.#credentials.provision(account, link, mails, originOrNew(origin));
  }

  async discard(): Promise<void> {
    const account = readAccount(this.#core.sql);
    if (account && !account.confirmed) await this.#core.destroy();
  }

  async credentials(): Promise<Credentials | null> {
    return this.#credentials.read();
  }

  async createSession(family: NewFamily, origin?: Origin): Promise<SessionResult> {
    return this.#sessions.open(family, originOrNew(origin));
  }

  async authenticate(sessionId: string, cost: 0 | 1, origin?: Origin): Promise<Authentication> {
    return this.#sessions.authenticate(sessionId, cost, origin);
  }

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

  async rename(sessionId: string, name: string | null, origin: Origin): Promise<Profile | null> {
    return this.#sessions.rename(sessionId, name, origin);
  }

  async refresh(presented: RefreshAttempt, origin?: Origin): Promise<Rotation> {
    return this.#sessions.refresh(presented, originOrNew(origin));
  }

  async logout(token: OpenedRefreshToken, origin?: Origin): Promise<void> {
    this.#sessions.endByToken(token, originOrNew(origin));
  }

  async sessions(sessionId: string): Promise<SessionInfo[] | null> {
    return this.#sessions.list(sessionId);
  }

  async endSession(sessionId: string, endedId: string, origin?: Origin): Promise<boolean | null> {
    return this.#sessions.end(sessionId, endedId, originOrNew(origin));
  }

  async endOtherSessions(sessionId: string, origin?: Origin): Promise<number | null> {
    return this.#sessions.endOthers(sessionId, originOrNew(origin));
  }

  async activity(sessionId: string, before: number | null, limit: number): Promise<ActivityPage | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      listActivity(sql, before, limit, now),
    );
  }

  async credentialsIn(sessionId: string): Promise<(Credentials & { email: string; isFresh: boolean }) | null> {
    return this.#sessions.credentials(sessionId);
  }

  async setPassword(change: PasswordChange, origin?: Origin): Promise<PasswordVerdict> {
    return this.#credentials.setPassword(change, originOrNew(origin));
  }

  async requestTokenMail(request: TokenMailRequest): Promise<void> {
    const { requestId } = request;
    const origin = requestId === undefined ? newAlarmOrigin() : { requestId, address: null };
    this.#core.change(origin, (sql, now) => answerTokenRequest(sql, request, this.#core.settings.REFRESH_PEPPER, now));
  }

  async verifyEmail(tokenHash: Uint8Array, origin?: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#credentials.verifyEmail(tokenHash, originOrNew(origin));
  }

  async confirmAddress(sessionId: string, origin?: Origin): Promise<true | null> {
    return this.#credentials.confirmAddress(sessionId, originOrNew(origin));
  }

  async agentEnded(origin: Origin): Promise<void> {
    this.#core.change(origin, (sql, now) => notifyOwner(sql, { notice: "agent-ended" }, origin, now));
  }

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

  async signInProven(family: ProvenFamily, origin?: Origin): Promise<ProvenSession | PurgeUnfinished> {
    return this.#credentials.signInProven(family, originOrNew(origin));
  }

  async linkedEpoch(link: NewLink): Promise<number | null> {
    return this.#credentials.linkedEpoch(link);
  }

  async allowLinking(shown: Reauthentication): Promise<LinkAllowed> {
    return this.#credentials.allowLinking(shown);
  }

  async beginLink(link: NewLink, authority: LinkAuthority, origin?: Origin): Promise<LinkBegun> {
    return this.#credentials.beginLink(link, authority, originOrNew(origin));
  }

  async completeLink(link: NewLink, origin?: Origin): Promise<LinkCompleted> {
    return this.#credentials.completeLink(link, originOrNew(origin));
  }

  async unlinkProvider(shown: Reauthentication, provider: ProviderName, origin?: Origin): Promise<Unlinked> {
    return this.#credentials.unlink(shown, provider, originOrNew(origin));
  }

  async methods(sessionId: string): Promise<SignInMethods | null> {
    return this.#credentials.methods(sessionId);
  }

  async admitInvitation(sessionId: string, invitationId: string): Promise<InvitationAdmitted | null> {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, _account, now) =>
      admitInvitation(sql, invitationId, now),
    );
  }

  async forgetInvitation(invitationId: string): Promise<void> {
    if (this.#core.provisioned) forgetInvitation(this.#core.sql, invitationId);
  }

  async beginOwnership(attempt: OwnershipAttempt): Promise<string[]> {
    return this.#core.provisioned
      ? this.#core.change(newAlarmOrigin(), (sql, now) => beginOwnership(sql, attempt, now))
      : [];
  }

  async endOwnershipAttempt(id: string): Promise<void> {
    if (this.#core.provisioned) endOwnershipAttempt(this.#core.sql, id);
  }

  async recovery(sessionId: string): Promise<Recovery | null> {
    return this.#credentials.recovery(sessionId);
  }

  async recover(shown: Reauthentication, origin?: Origin): Promise<Recovered> {
    return this.#credentials.recover(shown, originOrNew(origin));
  }

  async finishPurge(origin?: Origin): Promise<boolean> {
    return this.#core.purge.finish(originOrNew(origin));
  }

  async deleteAccount(request: DeletionRequest, origin?: Origin): Promise<DeletionVerdict> {
    return this.#core.deleteAccount(request, originOrNew(origin));
  }

  async claimMail(mailId: string): Promise<Mail | null> {
    return this.#core.provisioned ? claimMail(this.#core.sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.#core.provisioned) mailSent(this.#core.sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.#core.provisioned) releaseMail(this.#core.sql, mailId);
  }

  async violationsStored(violations: readonly Violation[]): Promise<void> {
    this.#core.violationsStored(violations);
  }

  override async alarm(): Promise<void> {
    await this.#core.alarm();
  }
}
