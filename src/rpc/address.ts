import type { LoginOutcome, LoginVerdict } from "../accounts/login-throttle.ts";
import type { LimitRequest } from "../limits/limiter.ts";
import type { LimitState } from "../limits/state.ts";
import type { Violation } from "../limits/violations.ts";
import type { Mail, TokenMailKind } from "../mail/mail.ts";
import type { Origin } from "../platform/origin.ts";

// Plain data only. These shapes, with those that they name, cross versions during a deploy: add optional members and new
// methods only. An object accepts the calls of the version before, and a router its answers.

/** What routers ask of the object of a client IP or of an e-mail address. */
export interface AddressRpc {
  /**
   * Decides on one request of this address and counts it if it is admitted.
   * @param preset the name under which a refusal is recorded
   */
  check(request: LimitRequest, preset: string, origin?: Origin): Promise<LimitState>;
  /** Called by the consumer of the violations queue after it has written `violations` to D1. */
  violationsStored(violations: readonly Violation[]): Promise<void>;
  /** Answers without a write, for the health check. */
  ping(): Promise<true>;
  /**
   * Admits or refuses a login attempt for this e-mail address, perhaps after a wait for attempts in progress. An
   * attempt whose outcome is not recorded with `recordLoginOutcome` expires after 10 s.
   * @param device id of a device that has signed in to the account before; `null` for any other device
   */
  attemptLogin(prefix: string, device?: string | null): Promise<LoginVerdict>;
  recordLoginOutcome(prefix: string, outcome: LoginOutcome, device?: string | null): Promise<void>;
  /** Clears failed logins after the owner has set a new password. */
  clearLoginFailures(): Promise<void>;
  /**
   * Accepts a request for a mail, or drops it if there were too many. The response does not differ. Whether a mail is
   * sent depends on whether the address has an account, and is decided after the response.
   */
  requestMail(kind: TokenMailKind, address: string, origin?: Origin): Promise<void>;
  /** Returns whether an invitation may be mailed to this address now, and counts it if so. */
  admitInvite(): Promise<boolean>;
  /** Returns whether the mail of a registration may be sent to this address now, and counts it if so. */
  admitRegistrationMail(): Promise<boolean>;
  /** Claims a mail for one attempt of the queue's consumer; `null` if there is nothing to send. */
  claimMail(mailId: string): Promise<Mail | null>;
  mailSent(mailId: string): Promise<void>;
  releaseMail(mailId: string): Promise<void>;
}
