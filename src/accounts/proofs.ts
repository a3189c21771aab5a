import type { Origin } from "../platform/origin.ts";
import { readAccount } from "./account.ts";
import { notifyOwner } from "./account-mails.ts";
import type { ActivityNote } from "./activity.ts";
import { proveAddress, purgeAccount } from "./deletion.ts";
import { endFamilies, isValidSession, type NewFamily } from "./families.ts";
import { isFresh, openSession, type Reauthentication, type Session } from "./sessions.ts";
import { dropTokens, redeemToken, type TokenRefusal } from "./tokens.ts";

/**
 * Effects of a mailed token on an account, each in the same transaction as the use of the token. A purge that they
 * begin is finished by `UserCore.changeAndPurge` before the answer.
 */
export type Proof = { ok: true } | TokenRefusal;

/**
 * Verifies the address of a registration. Purges nothing: a registrant who did not own the address is rejected instead.
 */
export function verifyEmail(sql: SqlStorage, hash: Uint8Array, now: number): Proof {
  const used = redeemToken(sql, "verify-email", hash, now);
  if (!used.ok) return used;
  sql.exec("UPDATE account SET email_verified = 1");
  return { ok: true };
}

/** Purges a registration that the owner of the address rejects ("This was not me"). */
export function rejectEmail(sql: SqlStorage, hash: Uint8Array, now: number): Proof {
  const used = redeemToken(sql, "verify-email", hash, now);
  if (!used.ok) return used;
  purgeAccount(sql, now);
  return { ok: true };
}

export type Reset = { ok: true; email: string } | TokenRefusal;

/** R10: raises the epoch and ends every family before the new hash takes effect. */
export function resetPassword(
  sql: SqlStorage,
  hash: Uint8Array,
  passwordHash: string,
  origin: Origin,
  now: number,
): Reset {
  const used = redeemToken(sql, "reset-password", hash, now);
  if (!used.ok) return used;
  proveAddress(sql, now);
  setPassword(sql, passwordHash, null, origin, now);
  return { ok: true, email: used.address };
}

/** A new family that gets the account's epoch at the moment of the proof. */
export type ProvenFamily = Omit<NewFamily, "epoch">;
export type ProvenSession = ({ ok: true } & Session) | TokenRefusal;

/** From which a session's first refresh token is derived: 32 random bytes, and the service's pepper. */
export interface SessionKeys {
  family: Uint8Array;
  pepper: string;
}

export function signInByMail(
  sql: SqlStorage,
  tokenHash: Uint8Array,
  family: ProvenFamily,
  keys: SessionKeys,
  note: ActivityNote,
  now: number,
): ProvenSession {
  const used = redeemToken(sql, "magic-link", tokenHash, now);
  return used.ok ? signInProven(sql, family, keys, note, now) : used;
}

/** Opens a session for a user who has just proven the address. The first proof purges what was added before. */
export function signInProven(
  sql: SqlStorage,
  family: ProvenFamily,
  keys: SessionKeys,
  note: ActivityNote,
  now: number,
): ProvenSession {
  proveAddress(sql, now);
  const epoch = readAccount(sql)?.epoch ?? -1;
  const session = openSession(sql, { ...family, epoch }, keys.family, keys.pepper, note, now);
  // The epoch is read in the same turn, so only an object without an account refuses it.
  return session.ok ? session : { ok: false, code: "INVALID_TOKEN" };
}

export interface PasswordChange extends Reauthentication {
  /** The account's epoch when its credentials were read. */
  epoch: number;
  passwordHash: string;
}

/** `dead`: the session has ended or the account has changed since it was read. `unproven`: see `isReauthenticated`. */
export type PasswordVerdict = "changed" | "dead" | "unproven";

/**
 * Sets the password and ends every other session. Requires the old password; the first one requires a fresh session.
 */
export function changePassword(sql: SqlStorage, change: PasswordChange, origin: Origin, now: number): PasswordVerdict {
  const { sessionId, checkedEpoch, epoch, passwordHash } = change;
  const account = readAccount(sql);
  if (!account || account.epoch !== epoch || !isValidSession(sql, sessionId, epoch, now)) return "dead";
  const isProven = account.passwordHash === null ? isFresh(sql, sessionId, now) : checkedEpoch === epoch;
  if (!isProven) return "unproven";
  setPassword(sql, passwordHash, sessionId, origin, now);
  return "changed";
}

/** Ends everything that the old password may have opened except `keptSession`, then sets the new password. */
function setPassword(
  sql: SqlStorage,
  passwordHash: string,
  keptSession: string | null,
  origin: Origin,
  now: number,
): void {
  sql.exec("UPDATE account SET epoch = epoch + 1");
  endFamilies(sql, "password", keptSession, now);
  sql.exec("UPDATE families SET epoch = (SELECT epoch FROM account) WHERE id = ?", keptSession);
  dropTokens(sql);
  sql.exec("UPDATE account SET password_hash = ?", passwordHash);
  notifyOwner(sql, { notice: "password-changed" }, origin, now);
}
