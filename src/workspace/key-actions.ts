import { newApiKey } from "../keys/api-key.ts";
import type { Scope } from "../keys/scopes.ts";
import { endOf, findKeyById, insertKey, type KeyInfo, keyInfo, listKeys, retireKey, revokeKey } from "./keys.ts";

export interface KeyRequest {
  name: string;
  scopes: readonly Scope[];
  /** Epoch milliseconds, or null for a key without an end. */
  expiresAt: number | null;
}

/** A key that has just been made: the only time that its secret is seen. */
export interface MadeKey {
  key: KeyInfo;
  secret: string;
}

export interface KeyPage {
  items: KeyInfo[];
  /** Opaque: the last item's time and id. */
  nextCursor: string | null;
}

export function createKey(
  sql: SqlStorage,
  workspaceId: string,
  project: number,
  createdBy: string,
  request: KeyRequest,
  now: number,
): MadeKey {
  const made = newApiKey(workspaceId);
  return { key: insertKey(sql, { project, createdBy, ...request }, made, now), secret: made.secret };
}

/** A successor with the same name, scopes and end; the old key works on for `overlapSeconds`. */
export function rotateKey(
  sql: SqlStorage,
  workspaceId: string,
  project: number,
  createdBy: string,
  keyId: string,
  overlapSeconds: number,
  now: number,
): MadeKey | null {
  const old = findKeyById(sql, project, keyId);
  if (!old || old.revokedAt !== null || (endOf(old) ?? Number.POSITIVE_INFINITY) <= now) return null;
  const { name, scopes } = keyInfo(old);
  const made = createKey(sql, workspaceId, project, createdBy, { name, scopes, expiresAt: old.expiresAt }, now);
  retireKey(sql, old.hash, now + overlapSeconds * 1000, made.key.id);
  return made;
}

export function removeKey(sql: SqlStorage, project: number, keyId: string, now: number): boolean {
  const key = findKeyById(sql, project, keyId);
  if (key) revokeKey(sql, key.hash, now);
  return key !== null;
}

/** One page of a project's keys; null for a cursor that no page gave. */
export function getKeys(sql: SqlStorage, project: number, cursor: string | null, limit: number): KeyPage | null {
  const from = cursor === null ? ([0, ""] as const) : parseCursor(cursor);
  if (!from) return null;
  const rows = listKeys(sql, project, [...from], limit + 1);
  const items = rows.slice(0, limit).map(keyInfo);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? `${last.createdAt}.${last.id}` : null };
}

function parseCursor(cursor: string): readonly [number, string] | null {
  const match = /^(\d{1,15})\.(key_\w+)$/.exec(cursor);
  return match ? [Number(match[1]), match[2] ?? ""] : null;
}
