import type { RefreshLink } from "./refresh-token.ts";

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

/** Starts a family; the oldest one gives way where there are 50. `key` is 32 random bytes. */
export function startFamily(sql: SqlStorage, family: NewFamily, key: Uint8Array, now: number): FamilyHead {
  sql.exec(
    `INSERT OR IGNORE INTO families (id, key, counter, epoch, method, user_agent, ip, created_at, last_used_at, rotate_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    family.id,
    key,
    FIRST_COUNTER,
    family.epoch,
    family.method,
    family.userAgent?.slice(0, USER_AGENT_KEPT) ?? null,
    family.ip,
    now,
    now,
    family.rotateWithinMs === undefined ? null : now + family.rotateWithinMs,
  );
  evict(sql, family.epoch, now);
  const row = sql
    .exec<{ key: ArrayBuffer; counter: number }>("SELECT key, counter FROM families WHERE id = ?", family.id)
    .one();
  return { familyId: family.id, counter: row.counter, key: new Uint8Array(row.key) };
}

/** Whether the session of this id exists, is not revoked, is of the account's epoch and has not run out. */
export function isAlive(sql: SqlStorage, id: string, epoch: number, now: number): boolean {
  const alive = sql.exec(`SELECT 1 FROM families WHERE id = ? AND ${ALIVE}`, id, ...aliveBounds(epoch, now));
  return alive.toArray().length > 0;
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
