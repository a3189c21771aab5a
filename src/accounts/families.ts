import { exists, mapRows, maybe, one } from "../platform/sql.ts";
import { readAccount } from "./account.ts";
import type { RefreshLink } from "./refresh.ts";

/** A refresh family is a session: it begins with a sign-in, and its id is the `sid` of an access token. */
const FAMILIES_MAX = 50;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Milliseconds after its last rotation at which a family expires ... */
export const FAMILY_IDLE_MS = 30 * DAY_MS;
/** ... and after its sign-in, even if it rotates. */
export const FAMILY_ABSOLUTE_MS = 90 * DAY_MS;

/** Number of characters of a `User-Agent` that the list of sessions keeps. */
const USER_AGENT_KEPT = 256;

const FIRST_COUNTER = 1;

export type EndReason = "logout" | "reuse" | "revoked" | "password" | "purge";

export type SignInMethod = "password" | "magic_link" | "provider_a" | "provider_b";

export interface NewFamily {
  /** `fam_...`, chosen by the caller, so that a retried call opens no second session. */
  id: string;
  epoch: number;
  method: SignInMethod;
  userAgent: string | null;
  ip: string;
  /** Milliseconds within which the first rotation must happen, for tokens that others may have read in transit. */
  rotateWithinMs?: number;
}

/** The newest link of a family, and the key from which its token is derived. */
export interface FamilyHead extends Omit<RefreshLink, "userId"> {
  key: Uint8Array;
}

/** Truncates a `User-Agent` to the stored length. */
export function truncateUserAgent(text: string | null): string | null {
  return text?.slice(0, USER_AGENT_KEPT) ?? null;
}

/** Starts a family; evicts the oldest one if there are 50. `key` is 32 random bytes. */
export function startFamily(
  sql: SqlStorage,
  family: NewFamily,
  key: Uint8Array,
  now: number,
): FamilyHead & { isNew: boolean } {
  const isNew = exists(
    sql,
    `INSERT OR IGNORE INTO families (id, key, counter, epoch, method, user_agent, ip, created_at, last_used_at, rotate_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING 1`,
    family.id,
    key,
    FIRST_COUNTER,
    family.epoch,
    family.method,
    truncateUserAgent(family.userAgent),
    family.ip,
    now,
    now,
    family.rotateWithinMs === undefined ? null : now + family.rotateWithinMs,
  );
  evict(sql, family.epoch, now);
  const select = "SELECT key, counter FROM families WHERE id = ?";
  const row = one<{ key: ArrayBuffer; counter: number }>(sql, select, family.id);
  return { familyId: family.id, counter: row.counter, key: new Uint8Array(row.key), isNew };
}

/** Returns how a session was signed in; `null` if the session is not valid, see `isValidSession`. */
export function methodOfAlive(sql: SqlStorage, id: string, epoch: number, now: number): SignInMethod | null {
  const select = `SELECT method FROM families WHERE id = ? AND ${IS_VALID}`;
  return maybe<{ method: SignInMethod }>(sql, select, id, ...aliveBounds(epoch, now))?.method ?? null;
}

/** Whether a session is valid: it exists, is not revoked, is of the account's epoch and has not expired. */
export function isValidSession(sql: SqlStorage, id: string, epoch: number, now: number): boolean {
  return methodOfAlive(sql, id, epoch, now) !== null;
}

/** Returns the time of a session's sign-in, epoch milliseconds. The session must exist. */
export function signedInAt(sql: SqlStorage, id: string): number {
  return one<{ at: number }>(sql, "SELECT created_at AS at FROM families WHERE id = ?", id).at;
}

/** Ends every valid family but one. @returns the number of ended families */
export function endFamilies(sql: SqlStorage, reason: EndReason, exceptId: string | null, now: number): number {
  return sql
    .exec(
      `UPDATE families SET revoked_at = ?, revoked_reason = ? WHERE revoked_at IS NULL AND id IS NOT ? RETURNING 1`,
      now,
      reason,
      exceptId,
    )
    .toArray().length;
}

/** Ends one family; `false` if it does not exist or has ended. */
export function endFamily(sql: SqlStorage, id: string, reason: EndReason, now: number): boolean {
  const update =
    "UPDATE families SET revoked_at = ?, revoked_reason = ? WHERE id = ? AND revoked_at IS NULL RETURNING 1";
  return exists(sql, update, now, reason, id);
}

/** A session as its owner sees it. Times are epoch milliseconds. */
export interface SessionInfo {
  id: string;
  method: SignInMethod;
  userAgent: string | null;
  ip: string;
  createdAt: number;
  lastUsedAt: number;
  /** Expiry if the session is not used again. Use moves it, but never past the absolute end. */
  expiresAt: number;
}

type SessionRow = {
  id: string;
  method: SignInMethod;
  user_agent: string | null;
  ip: string;
  created_at: number;
  last_used_at: number;
  rotate_by: number | null;
};

/** Lists the valid families, the one used last first. */
export function listSessions(sql: SqlStorage, epoch: number, now: number): SessionInfo[] {
  return mapRows(
    sql,
    fromRow,
    `SELECT id, method, user_agent, ip, created_at, last_used_at, rotate_by FROM families WHERE ${IS_VALID}
     ORDER BY last_used_at DESC, num DESC`,
    ...aliveBounds(epoch, now),
  );
}

function fromRow(row: SessionRow): SessionInfo {
  return {
    id: row.id,
    method: row.method,
    userAgent: row.user_agent,
    ip: row.ip,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: endOf(row),
  };
}

/** Returns the expiry of a session that is not used again, epoch milliseconds. The session must exist. */
export function sessionEnd(sql: SqlStorage, id: string): number {
  return endOf(one<EndRow>(sql, "SELECT created_at, last_used_at, rotate_by FROM families WHERE id = ?", id));
}

type EndRow = Pick<SessionRow, "created_at" | "last_used_at" | "rotate_by">;

function endOf({ created_at, last_used_at, rotate_by }: EndRow): number {
  return Math.min(
    created_at + FAMILY_ABSOLUTE_MS,
    last_used_at + FAMILY_IDLE_MS,
    rotate_by ?? Number.POSITIVE_INFINITY,
  );
}

const IS_VALID =
  "(revoked_at IS NULL AND epoch = ? AND created_at > ? AND last_used_at > ? AND COALESCE(rotate_by > ?, 1))";

function aliveBounds(epoch: number, now: number): [number, number, number, number] {
  return [epoch, now - FAMILY_ABSOLUTE_MS, now - FAMILY_IDLE_MS, now];
}

/** Evicts families that can no longer be used first, then those signed in longest ago. */
function evict(sql: SqlStorage, epoch: number, now: number): void {
  sql.exec(
    `DELETE FROM families WHERE num IN (SELECT num FROM families ORDER BY ${IS_VALID} DESC, num DESC LIMIT -1 OFFSET ?)`,
    ...aliveBounds(epoch, now),
    FAMILIES_MAX,
  );
}

export interface SessionSubscription {
  sessionId: string;
  workspaceId: string;
}

/**
 * Subscribes a workspace to a session's end, in the turn that finds the session valid.
 * @returns the expiry of the session if it is not used again, epoch milliseconds; `null` if the session has ended
 */
export function subscribeToSessionEnd(
  sql: SqlStorage,
  { sessionId, workspaceId }: SessionSubscription,
  now: number,
): number | null {
  const account = readAccount(sql);
  if (!account || !isValidSession(sql, sessionId, account.epoch, now)) return null;
  sql.exec("INSERT OR IGNORE INTO session_watches (session, workspace) VALUES (?, ?)", sessionId, workspaceId);
  return sessionEnd(sql, sessionId);
}

/** Returns the subscriptions whose session has ended and whose workspace is not notified yet. */
export function endedSubscriptions(sql: SqlStorage, epoch: number, now: number): SessionSubscription[] {
  return sql
    .exec<{ session: string; workspace: string }>("SELECT session, workspace FROM session_watches")
    .toArray()
    .filter(({ session }) => !isValidSession(sql, session, epoch, now))
    .map(({ session, workspace }) => ({ sessionId: session, workspaceId: workspace }));
}

/** Deletes a subscription after its workspace was notified. */
export function deleteSubscription(sql: SqlStorage, { sessionId, workspaceId }: SessionSubscription): void {
  sql.exec("DELETE FROM session_watches WHERE session = ? AND workspace = ?", sessionId, workspaceId);
}
