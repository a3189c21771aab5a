import { type NewAccount, provisionAccount, readAccount } from "../../accounts/account.ts";
import { mailToken } from "../../accounts/account-mails.ts";
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
  signInByMail,
  signInProven,
  verifyEmail,
} from "../../accounts/proofs.ts";
import { type Credentials, type Reauthentication, readCredentials } from "../../accounts/sessions.ts";
import { newId } from "../../ids.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import type { PurgeUnfinished } from "../../rpc/user.ts";
import type { UserCore } from "./core.ts";
import { newSessionKeys } from "./sessions.ts";

/** Reads and changes what a user signs in with (address, password, links), and records each change in the activity. */
export class UserCredentials {
  readonly #core: UserCore;

  constructor(core: UserCore) {
    this.#core = core;
  }

  /** Creates the account with its first link, and a pending confirmation mail if `mails`. */
  provision(account: NewAccount, link: NewLink | null, mails: boolean, origin: Origin): void {
    const { REFRESH_PEPPER } = this.#core.settings;
    const { requestId } = origin;
    const request = { purpose: "verify-email", mailId: newId("mail"), seed: newSeed(), requestId } as const;
    this.#core.change(origin, (sql, now, note) => {
      provisionAccount(sql, account, now);
      note({ action: "account.create" });
      if (link) insertLink(sql, link, now);
      if (mails) mailToken(sql, account, request, REFRESH_PEPPER, now);
    });
  }

  read(): Credentials | null {
    return readCredentials(this.#core.sql);
  }

  methods(sessionId: string): SignInMethods | null {
    return methodsOfSession(this.#core.sql, sessionId, Date.now());
  }

  verifyEmail(tokenHash: Uint8Array, origin: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#core.changeAndPurge(origin, (sql, now, note) => {
      const proof = verifyEmail(sql, tokenHash, now);
      if (proof.ok) note({ action: "email.verify" });
      return proof;
    });
  }

  rejectEmail(tokenHash: Uint8Array, origin: Origin): Promise<Proof | PurgeUnfinished> {
    return this.#core.changeAndPurge(origin, (sql, now, note) => {
      const proof = rejectEmail(sql, tokenHash, now);
      if (proof.ok) note({ action: "email.reject" });
      return proof;
    });
  }

  /** Marks the address as verified without a purge; `null` if the session has ended. */
  confirmAddress(sessionId: string, origin: Origin): true | null {
    return this.#core.changeInSession(sessionId, origin, (sql, { emailVerified }, _now, note) => {
      if (!emailVerified) note({ action: "email.verify", session: sessionId });
      sql.exec("UPDATE account SET email_verified = 1");
      return true;
    });
  }

  setPassword(change: PasswordChange, origin: Origin): PasswordVerdict {
    return this.#core.change(origin, (sql, now, note) => {
      const action = readAccount(sql)?.passwordHash === null ? "password.set" : "password.change";
      const verdict = changePassword(sql, change, origin, now);
      if (verdict === "changed") note({ action, session: change.sessionId });
      return verdict;
    });
  }

  resetPassword(tokenHash: Uint8Array, passwordHash: string, origin: Origin): Promise<Reset | PurgeUnfinished> {
    return this.#core.changeAndPurge(origin, (sql, now, note) => {
      const reset = resetPassword(sql, tokenHash, passwordHash, origin, now);
      if (reset.ok) note({ action: "password.reset" });
      return reset;
    });
  }

  signInByMail(tokenHash: Uint8Array, family: ProvenFamily, origin: Origin): Promise<ProvenSession | PurgeUnfinished> {
    const keys = newSessionKeys(this.#core);
    return this.#core.changeAndPurge(origin, (sql, now, note) => signInByMail(sql, tokenHash, family, keys, note, now));
  }

  signInProven(family: ProvenFamily, origin: Origin): Promise<ProvenSession | PurgeUnfinished> {
    const keys = newSessionKeys(this.#core);
    return this.#core.changeAndPurge(origin, (sql, now, note) => signInProven(sql, family, keys, note, now));
  }

  linkedEpoch(link: NewLink): number | null {
    return epochOfLinked(this.#core.sql, link);
  }

  allowLinking(shown: Reauthentication): LinkAllowed {
    return allowLinking(this.#core.sql, shown, Date.now());
  }

  /** Begins a link and finishes a purge before the answer. `unfinishedPurge`: a workspace did not answer. */
  async beginLink(link: NewLink, authority: LinkAuthority, origin: Origin): Promise<LinkBegun> {
    const begun = this.#core.change(origin, (sql, now) => startLinking(sql, link, authority, now));
    if (!begun.ok || !begun.unfinishedPurge) return begun;
    return { ...begun, unfinishedPurge: !(await this.#core.purge.finish(origin)) };
  }

  completeLink(link: NewLink, origin: Origin): LinkCompleted {
    return this.#core.change(origin, (sql, now, note) => finishLinking(sql, link, origin, note, now));
  }

  unlink(shown: Reauthentication, provider: ProviderName, origin: Origin): Unlinked {
    return this.#core.change(origin, (sql, now, note) => {
      const unlinked = unlinkBySession(sql, shown, provider, now);
      if (unlinked.ok) note({ action: "provider.unlink", session: shown.sessionId, details: { provider } });
      return unlinked;
    });
  }

  recovery(sessionId: string): Recovery | null {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, account, now) =>
      readRecovery(sql, sessionId, account, now),
    );
  }

  recover(shown: Reauthentication, origin: Origin): Recovered {
    return this.#core.change(origin, (sql, now, note) => {
      const recovered = recover(sql, shown, now);
      if (recovered.ok) {
        const details = { ended: recovered.ended, unlinked: recovered.released.length };
        note({ action: "account.recover", session: shown.sessionId, details });
      }
      return recovered;
    });
  }
}
