import type { Origin } from "../platform/origin.ts";
import { readAccount } from "./account.ts";
import { notifyOwner } from "./account-mails.ts";
import type { ActivityNote } from "./activity.ts";
import { proveAddress, purgeAccount } from "./deletion.ts";
import { endFamilies, isAlive, type NewFamily } from "./families.ts";
import { isFresh, openSession, type Reauthentication, type Session } from "./sessions.ts";
import { dropTokens, redeemToken, type TokenRefusal } from "./tokens.ts";

/**
 * Effects of a mailed token on an account, each in the same transaction as the use of the token. A purge that they begin
 * is finished by `UserCore.changeAndPurge` before the answer.
 */
export type Proof = { ok: true } | TokenRefusal;

/** The owner confirms a registration. Nothing is purged: who registered is taken at their word, or rejected. */
export function verifyEmail(sql: SqlStorage, hash: Uint8Array, now: number): Proof {
  const used = redeemToken(sql, "verify-email", hash, now);
  if (!used.ok) return used;
  sql.exec("UPDATE account SET email_verified = 1");
  return { ok: true };
}

/** "This was not me": whoever registered the address loses all they put there. */
export function rejectEmail(sql: SqlStorage, hash: Uint8Array, now: number): Proof {
  const used = redeemToken(sql, "verify-email", hash, now);
  if (!used.ok) return used;
  purgeAccount(sql, now);
  return { ok: true };
}

export type Reset = { ok: true; email: string } | TokenRefusal;

/** R10: the epoch has moved and every family has ended before the new hash is in force. */
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

/** A family whose epoch is the account's at the moment of the proof. */
export type ProvenFamily = Omit<NewFamily, "epoch">;
export type ProvenSession = ({ ok: true } & Session) | TokenRefusal;

/** What a session's first refresh token is derived with: 32 random bytes, and the service's pepper. */
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

/** Signs in whoever has just proven to own the account's address, purging what was there before the first such proof. */
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
  // The epoch is read in the same turn: only an object that is no account refuses it.
  return session.ok ? session : { ok: false, code: "INVALID_TOKEN" };
}

export interface PasswordChange extends Reauthentication {
  /** The account's epoch when its credentials were read. */
  epoch: number;
  passwordHash: string;
}

/** `dead`: the session, or what was read of the account, is out of date. `unproven`: see `reauthentication.ts`. */
export type PasswordVerdict = "changed" | "dead" | "unproven";

/** Sets the password and ends every other session. A password takes the one before it, the first one a fresh sign-in. */
export function changePassword(sql: SqlStorage, change: PasswordChange, origin: Origin, now: number): PasswordVerdict {
  const { sessionId, checkedEpoch, epoch, passwordHash } = change;
  const account = readAccount(sql);
  if (!account || account.epoch !== epoch || !isAlive(sql, sessionId, epoch, now)) return "dead";
  const isProven = account.passwordHash === null ? isFresh(sql, sessionId, now) : checkedEpoch === epoch;
  if (!isProven) return "unproven";
  setPassword(sql, passwordHash, sessionId, origin, now);
  return "changed";
}

/** Ends everything that the old password may have opened, but for `keptSession`, and only then sets the new one. */
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
