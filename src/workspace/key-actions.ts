import { newApiKey } from "../keys/api-key.ts";
import type { Scope } from "../keys/scopes.ts";
import type { AuditNote } from "./audit.ts";
import { endOf, findKeyById, insertKey, type KeyInfo, keyInfo, listKeys, retireKey, revokeKey } from "./keys.ts";
import type { ProjectRow } from "./projects.ts";

export interface KeyRequest {
  name: string;
  scopes: readonly Scope[];
  /** Epoch milliseconds, or null for a key without an end. */
  expiresAt: number | null;
}

/** A key that has just been made: the only time that its secret is seen. */
export interface CreatedKey {
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
  project: Pick<ProjectRow, "num" | "id">,
  createdBy: string,
  request: KeyRequest,
  note: AuditNote,
  now: number,
): CreatedKey {
  const made = makeKey(sql, workspaceId, project.num, createdBy, request, now);
  const { name, scopes, expiresAt } = request;
  note(made.key.id, { after: { name, scopes, expiresAt, projectId: project.id } });
  return made;
}

function makeKey(
  sql: SqlStorage,
  workspaceId: string,
  project: number,
  createdBy: string,
  request: KeyRequest,
  now: number,
): CreatedKey {
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
  note: AuditNote,
  now: number,
): CreatedKey | null {
  const old = findKeyById(sql, project, keyId);
  if (!old || old.revokedAt !== null || (endOf(old) ?? Number.POSITIVE_INFINITY) <= now) return null;
  const { name, scopes } = keyInfo(old);
  const made = makeKey(sql, workspaceId, project, createdBy, { name, scopes, expiresAt: old.expiresAt }, now);
  retireKey(sql, old.hash, now + overlapSeconds * 1000, made.key.id);
  note(keyId, { before: { name }, after: { replacedBy: made.key.id, overlapSeconds } });
  return made;
}

export function removeKey(sql: SqlStorage, project: number, keyId: string, note: AuditNote, now: number): boolean {
  const key = findKeyById(sql, project, keyId);
  if (key && key.revokedAt === null) {
    revokeKey(sql, key.hash, now);
    note(keyId, { before: { name: key.name } });
  }
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
