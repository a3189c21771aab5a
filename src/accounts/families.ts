import { readAccount } from "./account.ts";
import type { RefreshLink } from "./refresh.ts";

/** A refresh family is a session: it begins with a sign-in, and `sid` of an access token is its id. */
const FAMILIES_MAX = 50;

const DAY_MS = 24 * 60 * 60 * 1000;
/** A family lives this long after its last rotation, in milliseconds ... */
export const FAMILY_IDLE_MS = 30 * DAY_MS;
/** ... and at most this long after its sign-in, whatever rotates. */
export const FAMILY_ABSOLUTE_MS = 90 * DAY_MS;

/** Characters of a `User-Agent` that are kept for the list of sessions. */
const USER_AGENT_KEPT = 256;

const FIRST_COUNTER = 1;

export type EndReason = "logout" | "reuse" | "revoked" | "password" | "purge";

export type SignInMethod = "password" | "magic_link" | "provider_a" | "provider_b";

export interface NewFamily {
  /** `fam_...`, chosen by the caller: a call that is repeated because its answer was lost makes no second session. */
  id: string;
  epoch: number;
  method: SignInMethod;
  userAgent: string | null;
  ip: string;
  /** Milliseconds within which the first rotation must happen, for tokens that travelled where others may read them. */
  rotateWithinMs?: number;
}

/** The newest link of a family, and the key that its token is derived with. */
export interface FamilyHead extends Omit<RefreshLink, "userId"> {
  key: Uint8Array;
}

/** As much of a `User-Agent` as is kept. */
export function truncateUserAgent(text: string | null): string | null {
  return text?.slice(0, USER_AGENT_KEPT) ?? null;
}

/** Starts a family; the oldest one gives way where there are 50. `key` is 32 random bytes. */
export function startFamily(
  sql: SqlStorage,
  family: NewFamily,
  key: Uint8Array,
  now: number,
): FamilyHead & { isNew: boolean } {
  const started = sql.exec(
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
  const isNew = started.toArray().length > 0;
  evict(sql, family.epoch, now);
  const row = sql
    .exec<{ key: ArrayBuffer; counter: number }>("SELECT key, counter FROM families WHERE id = ?", family.id)
    .one();
  return { familyId: family.id, counter: row.counter, key: new Uint8Array(row.key), isNew };
}

/** How a session was signed in; null for one that is not alive, see `isAlive`. */
export function methodOfAlive(sql: SqlStorage, id: string, epoch: number, now: number): SignInMethod | null {
  const alive = sql.exec<{ method: SignInMethod }>(
    `SELECT method FROM families WHERE id = ? AND ${ALIVE}`,
    id,
    ...aliveBounds(epoch, now),
  );
  return alive.toArray()[0]?.method ?? null;
}

/** Whether the session of this id exists, is not revoked, is of the account's epoch and has not run out. */
export function isAlive(sql: SqlStorage, id: string, epoch: number, now: number): boolean {
  return methodOfAlive(sql, id, epoch, now) !== null;
}

/** When a session was signed in to, epoch milliseconds. It must be there. */
export function signedInAt(sql: SqlStorage, id: string): number {
  return sql.exec<{ at: number }>("SELECT created_at AS at FROM families WHERE id = ?", id).one().at;
}

/** Ends every living family but one. @returns how many that were */
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

/** Ends one family; false where it had ended already or never was. */
export function endFamily(sql: SqlStorage, id: string, reason: EndReason, now: number): boolean {
  const ended = sql.exec(
    "UPDATE families SET revoked_at = ?, revoked_reason = ? WHERE id = ? AND revoked_at IS NULL RETURNING 1",
    now,
    reason,
    id,
  );
  return ended.toArray().length > 0;
}

/** A session as its owner sees it. Times are epoch milliseconds. */
export interface SessionInfo {
  id: string;
  method: SignInMethod;
  userAgent: string | null;
  ip: string;
  createdAt: number;
  lastUsedAt: number;
  /** When it ends unless it is used; no use moves it past the absolute end. */
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

/** The living families, the one used last first. */
export function listSessions(sql: SqlStorage, epoch: number, now: number): SessionInfo[] {
  const rows = sql.exec<SessionRow>(
    `SELECT id, method, user_agent, ip, created_at, last_used_at, rotate_by FROM families WHERE ${ALIVE}
     ORDER BY last_used_at DESC, num DESC`,
    ...aliveBounds(epoch, now),
  );
  return rows.toArray().map((row) => ({
    id: row.id,
    method: row.method,
    userAgent: row.user_agent,
    ip: row.ip,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: endOf(row),
  }));
}

/** When a session ends unless it is used, epoch milliseconds. It must be there. */
export function sessionEnd(sql: SqlStorage, id: string): number {
  const row = sql.exec<EndRow>("SELECT created_at, last_used_at, rotate_by FROM families WHERE id = ?", id).one();
  return endOf(row);
}

type EndRow = Pick<SessionRow, "created_at" | "last_used_at" | "rotate_by">;

function endOf({ created_at, last_used_at, rotate_by }: EndRow): number {
  return Math.min(
    created_at + FAMILY_ABSOLUTE_MS,
    last_used_at + FAMILY_IDLE_MS,
    rotate_by ?? Number.POSITIVE_INFINITY,
  );
}

const ALIVE =
  "(revoked_at IS NULL AND epoch = ? AND created_at > ? AND last_used_at > ? AND COALESCE(rotate_by > ?, 1))";

function aliveBounds(epoch: number, now: number): [number, number, number, number] {
  return [epoch, now - FAMILY_ABSOLUTE_MS, now - FAMILY_IDLE_MS, now];
}

/** Families that can no longer be used go first, then those signed in longest ago. */
function evict(sql: SqlStorage, epoch: number, now: number): void {
  sql.exec(
    `DELETE FROM families WHERE num IN (SELECT num FROM families ORDER BY ${ALIVE} DESC, num DESC LIMIT -1 OFFSET ?)`,
    ...aliveBounds(epoch, now),
    FAMILIES_MAX,
  );
}

export interface SessionSubscription {
  sessionId: string;
  workspaceId: string;
}

/**
 * Notes who is to be told of a session's end, in the same turn in which it is found alive.
 * @returns when it ends unless it is used, epoch milliseconds; null where it is dead
 */
export function subscribeToSessionEnd(
  sql: SqlStorage,
  { sessionId, workspaceId }: SessionSubscription,
  now: number,
): number | null {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, sessionId, account.epoch, now)) return null;
  sql.exec("INSERT OR IGNORE INTO session_watches (session, workspace) VALUES (?, ?)", sessionId, workspaceId);
  return sessionEnd(sql, sessionId);
}

/** Those whose session has ended, and who do not know yet. */
export function endedSubscriptions(sql: SqlStorage, epoch: number, now: number): SessionSubscription[] {
  return sql
    .exec<{ session: string; workspace: string }>("SELECT session, workspace FROM session_watches")
    .toArray()
    .filter(({ session }) => !isAlive(sql, session, epoch, now))
    .map(({ session, workspace }) => ({ sessionId: session, workspaceId: workspace }));
}

/** The workspace knows. */
export function forgetWatch(sql: SqlStorage, { sessionId, workspaceId }: SessionSubscription): void {
  sql.exec("DELETE FROM session_watches WHERE session = ? AND workspace = ?", sessionId, workspaceId);
}
