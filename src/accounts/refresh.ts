import { timingSafeEqual } from "node:crypto";
import { isId } from "../ids.ts";
import { isMadeWith, mintToken, openToken } from "../platform/derived-token.ts";
import { maybe } from "../platform/sql.ts";
import { isProvisioned, readAccount } from "./account.ts";
import { endFamily, FAMILY_ABSOLUTE_MS, FAMILY_IDLE_MS, truncateUserAgent } from "./families.ts";

/** A derived token whose text is userId.familyId.counter: one link of a family's chain. The family has the key. */
const FORMAT = { prefix: "rt_", label: "taffrail refresh" } as const;
const COUNTER = /^[1-9]\d{0,14}$/;

/** One link of a family's chain; the counter starts at 1 and rises by one with every rotation. */
export interface RefreshLink {
  userId: string;
  familyId: string;
  counter: number;
}

/** A token with a valid outer MAC: issued by this service, but possibly superseded, revoked or of a deleted family. */
export interface OpenedRefreshToken extends RefreshLink {
  innerMac: Uint8Array;
}

export function mintRefreshToken(link: RefreshLink, familyKey: Uint8Array, pepper: string): string {
  return mintToken(FORMAT, textOf(link), familyKey, pepper);
}

/** Opens a token in the router; `null` if it is forged, malformed or spelled otherwise than minted. */
export function openRefreshToken(token: string, pepper: string): OpenedRefreshToken | null {
  const opened = openToken(FORMAT, token, pepper);
  const link = opened && parseText(opened.text);
  return link && { ...link, innerMac: opened.innerMac };
}

/** Whether an opened token was made with its family's key; called in the user object. */
export function isOfFamily(token: OpenedRefreshToken, familyKey: Uint8Array, pepper: string): boolean {
  return isMadeWith(FORMAT, { text: textOf(token), innerMac: token.innerMac }, familyKey, pepper);
}

function textOf({ userId, familyId, counter }: RefreshLink): string {
  return `${userId}.${familyId}.${counter}`;
}

function parseText(text: string): RefreshLink | null {
  const [userId = "", familyId = "", counter = "", ...rest] = text.split(".");
  if (rest.length > 0 || !isId("usr", userId) || !isId("fam", familyId) || !COUNTER.test(counter)) return null;
  return { userId, familyId, counter: Number(counter) };
}

/** Milliseconds after a rotation in which a retry gets the same successor. */
const REPLAY_MS = 30_000;

export interface RefreshAttempt {
  /** Its outer MAC has been verified, so forgeries never get here. */
  token: OpenedRefreshToken;
  /** SHA-256 of the request's `Idempotency-Key`; null without one. */
  keyHash: Uint8Array | null;
  ip: string;
  userAgent: string | null;
}

export interface RotationSettings {
  pepper: string;
  /** Milliseconds in which a superseded token is refused without ending its family. */
  leewayMs: number;
}

/**
 * `rotated`: the token was the current one. `replayed`: a retry gets the same successor.
 * `ended`: whether this request ended a valid family.
 */
export type Rotation =
  | { ok: true; how: "rotated"; refreshToken: string }
  | { ok: true; how: "replayed"; refreshToken: string; sameAddress: boolean }
  | { ok: false; code: "INVALID_REFRESH_TOKEN" | "REFRESH_TOKEN_EXPIRED" }
  | { ok: false; code: "REFRESH_TOKEN_REUSED"; ended: boolean };

const INVALID: Rotation = { ok: false, code: "INVALID_REFRESH_TOKEN" };

/**
 * Compares and rotates in one synchronous block, so no other request runs between read and write.
 * A token that the family's key did not make, or that is ahead of its counter, changes nothing.
 */
export function rotate(
  sql: SqlStorage,
  presented: RefreshAttempt,
  { pepper, leewayMs }: RotationSettings,
  now: number,
): Rotation {
  const { token, keyHash } = presented;
  const account = readAccount(sql);
  const family = account && readFamily(sql, token.familyId);
  if (!account || !family || !isOfFamily(token, family.key, pepper)) return INVALID;
  if (token.counter > family.counter) return INVALID;
  const isValid = family.revokedAt === null && family.epoch === account.epoch;
  const successor = (counter: number): string =>
    mintRefreshToken({ userId: account.id, familyId: token.familyId, counter }, family.key, pepper);

  if (token.counter === family.counter) {
    if (!isValid) return INVALID;
    if (isExpired(family, now)) return { ok: false, code: "REFRESH_TOKEN_EXPIRED" };
    sql.exec(
      `UPDATE families SET counter = counter + 1, last_used_at = ?, rotation_key_hash = ?, rotate_by = NULL, ip = ?,
         user_agent = ? WHERE id = ?`,
      now,
      keyHash,
      presented.ip,
      truncateUserAgent(presented.userAgent),
      token.familyId,
    );
    return { ok: true, how: "rotated", refreshToken: successor(family.counter + 1) };
  }

  const justSuperseded = token.counter === family.counter - 1;
  const age = now - family.lastUsedAt;
  if (isValid && isExpired(family, now)) return { ok: false, code: "REFRESH_TOKEN_EXPIRED" };
  if (isValid && justSuperseded && age <= REPLAY_MS && isSame(keyHash, family.keyHash)) {
    const sameAddress = presented.ip === family.ip;
    return { ok: true, how: "replayed", refreshToken: successor(family.counter), sameAddress };
  }
  const excused = justSuperseded && age < leewayMs;
  if (isValid && !excused) endFamily(sql, token.familyId, "reuse", now);
  return { ok: false, code: "REFRESH_TOKEN_REUSED", ended: isValid && !excused };
}

/** R9: ends the family of a genuine token, current or superseded. Returns whether a valid family ended. */
export function endByToken(sql: SqlStorage, token: OpenedRefreshToken, pepper: string, now: number): boolean {
  const family = isProvisioned(sql) ? readFamily(sql, token.familyId) : null;
  if (!family || !isOfFamily(token, family.key, pepper) || token.counter > family.counter) return false;
  return endFamily(sql, token.familyId, "logout", now);
}

interface Family {
  key: Uint8Array;
  counter: number;
  epoch: number;
  createdAt: number;
  /** Time of the sign-in or of the last rotation. */
  lastUsedAt: number;
  rotateBy: number | null;
  keyHash: Uint8Array | null;
  ip: string;
  revokedAt: number | null;
}

type FamilyRow = {
  key: ArrayBuffer;
  counter: number;
  epoch: number;
  created_at: number;
  last_used_at: number;
  rotate_by: number | null;
  rotation_key_hash: ArrayBuffer | null;
  ip: string;
  revoked_at: number | null;
};

function readFamily(sql: SqlStorage, id: string): Family | null {
  const row = maybe<FamilyRow>(
    sql,
    `SELECT key, counter, epoch, created_at, last_used_at, rotate_by, rotation_key_hash, ip, revoked_at
     FROM families WHERE id = ?`,
    id,
  );
  if (!row) return null;
  return {
    key: new Uint8Array(row.key),
    counter: row.counter,
    epoch: row.epoch,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    rotateBy: row.rotate_by,
    keyHash: row.rotation_key_hash && new Uint8Array(row.rotation_key_hash),
    ip: row.ip,
    revokedAt: row.revoked_at,
  };
}

/** R7: 30 days without a rotation, 90 days in total, or the deadline of the first rotation. */
function isExpired({ createdAt, lastUsedAt, rotateBy }: Family, now: number): boolean {
  if (rotateBy !== null && rotateBy <= now) return true;
  return createdAt <= now - FAMILY_ABSOLUTE_MS || lastUsedAt <= now - FAMILY_IDLE_MS;
}

function isSame(presented: Uint8Array | null, stored: Uint8Array | null): boolean {
  if (!presented || !stored || presented.length !== stored.length) return false;
  return timingSafeEqual(presented, stored);
}
