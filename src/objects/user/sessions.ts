import { renameAccount } from "../../accounts/account.ts";
import { notifyOwner } from "../../accounts/account-mails.ts";
import { joinActivity } from "../../accounts/activity.ts";
import {
  endFamilies,
  endFamily,
  isValidSession,
  listSessions,
  type NewFamily,
  type SessionInfo,
  subscribeToSessionEnd,
  truncateUserAgent,
} from "../../accounts/families.ts";
import type { SessionKeys } from "../../accounts/proofs.ts";
import {
  endByToken,
  type OpenedRefreshToken,
  type RefreshAttempt,
  type Rotation,
  rotate,
} from "../../accounts/refresh.ts";
import {
  type Authentication,
  authenticate,
  type Credentials,
  isFresh,
  openSession,
  type Profile,
  profileOf,
  profileOfSession,
  type SessionResult,
} from "../../accounts/sessions.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import type { UserCore } from "./core.ts";

/** Random material and the pepper from which the tokens of a new session are derived. */
export function newSessionKeys(core: UserCore): SessionKeys {
  return { family: crypto.getRandomValues(new Uint8Array(32)), pepper: core.settings.REFRESH_PEPPER };
}

/** Opens, lists and ends the sessions of an account, and records each change in its activity. */
export class UserSessions {
  readonly #core: UserCore;

  constructor(core: UserCore) {
    this.#core = core;
  }

  open(family: NewFamily, origin: Origin): SessionResult {
    const keys = newSessionKeys(this.#core);
    return this.#core.change(origin, (sql, now, note) => openSession(sql, family, keys.family, keys.pepper, note, now));
  }

  authenticate(sessionId: string, cost: 0 | 1, origin: Origin | undefined): Authentication {
    const now = Date.now();
    const count = cost === 0 ? null : (userId: string) => this.#core.count(userId, origin?.requestId, now);
    return authenticate(this.#core.sql, sessionId, now, count);
  }

  profile(sessionId: string): Profile | null {
    return profileOfSession(this.#core.sql, sessionId, Date.now());
  }

  /** Records a change only, and changes within an hour as one item of the activity. */
  rename(sessionId: string, name: string | null, origin: Origin): Profile | null {
    return this.#core.changeInSession(sessionId, origin, (sql, account, now, note) => {
      if (name !== account.name) {
        renameAccount(sql, name);
        const details: Record<string, string> = name === null ? {} : { name };
        const entry = { action: "account.rename", session: sessionId, details } as const;
        if (!joinActivity(sql, entry, origin, now)) note(entry);
      }
      return profileOf({ ...account, name });
    });
  }

  subscribeToEnd(sessionId: string, workspaceId: string): number | null {
    if (!this.#core.provisioned) return null;
    return this.#core.change(newAlarmOrigin(), (sql, now) =>
      subscribeToSessionEnd(sql, { sessionId, workspaceId }, now),
    );
  }

  /** Rotates a refresh token. Reuse is logged and mailed; a replay from another client IP is logged (R11, R2). */
  refresh(presented: RefreshAttempt, origin: Origin): Rotation {
    const { REFRESH_PEPPER: pepper, REFRESH_LEEWAY_SECONDS } = this.#core.settings;
    const { familyId: sessionId, userId } = presented.token;
    const rotation = this.#core.change(origin, (sql, now, note) => {
      const result = rotate(sql, presented, { pepper, leewayMs: REFRESH_LEEWAY_SECONDS * 1000 }, now);
      if ("ended" in result && result.ended) {
        const userAgent = truncateUserAgent(presented.userAgent);
        note({ action: "session.reuse", session: sessionId, userAgent });
        notifyOwner(sql, { notice: "session-ended" }, origin, now);
      }
      return result;
    });
    if ("sameAddress" in rotation && !rotation.sameAddress) {
      this.#core.line("warn", origin, { event: "user.refresh.replayed", outcome: "other_address", userId, sessionId });
    }
    if ("ended" in rotation) {
      const outcome = rotation.ended ? "session_ended" : "refused";
      this.#core.line("warn", origin, { event: "user.refresh.reused", outcome, userId, sessionId });
    }
    return rotation;
  }

  /** Ends the session of a genuine refresh token, current or superseded. */
  endByToken(token: OpenedRefreshToken, origin: Origin): void {
    this.#core.change(origin, (sql, now, note) => {
      const hasEnded = endByToken(sql, token, this.#core.settings.REFRESH_PEPPER, now);
      if (hasEnded) note({ action: "session.end", session: token.familyId });
    });
  }

  /** `null` if the session `sessionId` has ended, as for the methods below. */
  list(sessionId: string): SessionInfo[] | null {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, { epoch }, now) =>
      listSessions(sql, epoch, now),
    );
  }

  /** `false` if the session `endedId` does not exist or has ended. */
  end(sessionId: string, endedId: string, origin: Origin): boolean | null {
    return this.#core.changeInSession(sessionId, origin, (sql, { epoch }, now, note) => {
      const hasEnded = isValidSession(sql, endedId, epoch, now) && endFamily(sql, endedId, "revoked", now);
      if (hasEnded) note({ action: "session.end", session: endedId });
      return hasEnded;
    });
  }

  /** Returns the number of ended sessions. */
  endOthers(sessionId: string, origin: Origin): number | null {
    return this.#core.changeInSession(sessionId, origin, (sql, _account, now, note) => {
      const ended = endFamilies(sql, "revoked", sessionId, now);
      if (ended > 0) note({ action: "session.end-others", session: sessionId, details: { ended } });
      return ended;
    });
  }

  credentials(sessionId: string): (Credentials & { email: string; isFresh: boolean }) | null {
    return this.#core.changeInSession(sessionId, newAlarmOrigin(), (sql, { email, passwordHash, epoch }, now) => {
      return { email, passwordHash, epoch, isFresh: isFresh(sql, sessionId, now) };
    });
  }
}
