import { mapRows } from "../platform/sql.ts";
import type { AuditNote } from "../workspace/audit.ts";
import type { ProjectRow } from "../workspace/projects.ts";
import { readWorkspace } from "../workspace/settings.ts";
import { newApiKey } from "./api-key.ts";
import { maskToScopes, type Scope } from "./scopes.ts";
import { type KeySettings, shownSettings } from "./settings.ts";
import {
  endOf,
  findKeyById,
  insertKey,
  type KeyInfo,
  keyInfo,
  listKeys,
  listWorkspaceKeys,
  type NewKey,
  retireKey,
  revokeKey,
  updateKey,
  type WorkspaceKeyFilter,
} from "./store.ts";

/** What users do with the keys of a workspace: create, rotate, revoke and list them. */

export interface KeyRequest {
  name: string;
  scopes: readonly Scope[];
  /** Epoch milliseconds; `null` for a key that does not expire. */
  expiresAt: number | null;
}

/** A new key with its secret, which is shown only once. */
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
  request: KeyRequest & Pick<NewKey, "settings">,
  now: number,
): CreatedKey {
  const made = newApiKey(workspaceId);
  return { key: insertKey(sql, { project, createdBy, ...request }, made, now), secret: made.secret };
}

/**
 * Creates a successor with the same name, scopes, expiry and settings. The old key stays valid for `overlapSeconds`.
 * @returns `null` if the key does not exist or is no longer valid
 */
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
  const successor = { name, scopes, expiresAt: old.expiresAt, settings: old };
  const made = makeKey(sql, workspaceId, project, createdBy, successor, now);
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

/** The members of a key that may be changed; an absent one keeps its value. */
export interface KeyChange extends Partial<Omit<KeySettings, "vercelSecret">> {
  name?: string;
  /** `null` removes the secret. */
  vercelSecret?: string | null;
}

/** Changes a key's name and settings. They hold from the next request on. @returns `null` if the key does not exist */
export function changeKey(
  sql: SqlStorage,
  project: number,
  keyId: string,
  change: KeyChange,
  note: AuditNote,
): KeyInfo | null {
  const key = findKeyById(sql, project, keyId);
  if (key === null) return null;
  const { name = key.name, mapping = key.settings.mapping, dedupe = key.settings.dedupe } = change;
  const secret = change.vercelSecret === undefined ? key.settings.vercelSecret : (change.vercelSecret ?? undefined);
  const settings: KeySettings = { mapping, dedupe, ...(secret !== undefined && { vercelSecret: secret }) };
  if (JSON.stringify([key.name, key.settings]) === JSON.stringify([name, settings])) return keyInfo(key);
  updateKey(sql, key, name, settings);
  note(keyId, {
    before: { name: key.name, ...shownSettings(key.settings) },
    after: { name, ...shownSettings(settings) },
  });
  const changed = findKeyById(sql, project, keyId);
  return changed && keyInfo(changed);
}

/** Returns a page of a project's keys; `null` if the cursor is invalid. */
export function getKeys(sql: SqlStorage, project: number, cursor: string | null, limit: number): KeyPage | null {
  const from = cursor === null ? ([0, ""] as const) : parseCursor(cursor);
  if (!from) return null;
  const rows = listKeys(sql, project, [...from], limit + 1);
  const items = rows.slice(0, limit).map(keyInfo);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? `${last.createdAt}.${last.id}` : null };
}

/** A key in a list of all projects. */
export type WorkspaceKey = KeyInfo & { projectId: string };

/** Returns a page of the valid keys of all projects; `null` if the cursor is invalid. */
export function getWorkspaceKeys(
  sql: SqlStorage,
  filter: WorkspaceKeyFilter,
  cursor: string | null,
  limit: number,
  now: number,
): { items: WorkspaceKey[]; nextCursor: string | null } | null {
  const from = cursor === null ? ([0, ""] as const) : parseCursor(cursor);
  if (!from) return null;
  const rows = listWorkspaceKeys(sql, filter, [...from], limit + 1, now);
  const items = rows.slice(0, limit).map(({ key, projectId }) => ({ ...keyInfo(key), projectId }));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? `${last.createdAt}.${last.id}` : null };
}

function parseCursor(cursor: string): readonly [number, string] | null {
  const match = /^(\d{1,15})\.(key_\w+)$/.exec(cursor);
  return match ? [Number(match[1]), match[2] ?? ""] : null;
}

/** Keys that one workspace returns at most. */
const MAX_KEYS = 200;

/** A valid key, as its creator sees it beside those of other workspaces. */
export interface OwnKey {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  projectId: string;
  projectName: string;
  workspaceId: string;
  workspaceName: string;
  /** Epoch milliseconds. */
  createdAt: number;
  lastUsedAt: number | null;
}

export interface OwnKeys {
  /** In order of creation, newest first. */
  keys: OwnKey[];
  /** `false` if there are more keys than returned. */
  complete: boolean;
}

type Row = {
  id: string;
  name: string;
  prefix: string;
  scopes: number;
  created_at: number;
  last_used_at: number | null;
  project_id: string;
  project_name: string;
};

/** Returns the valid keys that a user created since `since`, epoch milliseconds. */
export function keysMadeBy(sql: SqlStorage, workspaceId: string, userId: string, since: number, now: number): OwnKeys {
  const workspaceName = readWorkspace(sql).name;
  const keys = mapRows(
    sql,
    (row: Row): OwnKey => ({
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      scopes: maskToScopes(row.scopes),
      projectId: row.project_id,
      projectName: row.project_name,
      workspaceId,
      workspaceName,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }),
    `SELECT k.id, k.name, k.prefix, k.scopes, k.created_at, k.last_used_at, p.id AS project_id, p.name AS project_name
     FROM keys k JOIN projects p ON p.num = k.project
     WHERE k.created_by = ?1 AND k.created_at >= ?2 AND k.revoked_at IS NULL
       AND MIN(COALESCE(k.expires_at, ?4), COALESCE(k.retires_at, ?4)) > ?3
     ORDER BY k.created_at DESC, k.id LIMIT ?5`,
    userId,
    since,
    now,
    Number.MAX_SAFE_INTEGER,
    MAX_KEYS + 1,
  );
  return { keys: keys.slice(0, MAX_KEYS), complete: keys.length <= MAX_KEYS };
}
