import { newId } from "../ids.ts";
import { mapRows, maybe, one } from "../platform/sql.ts";
import type { NewApiKey } from "./api-key.ts";
import { maskToScopes, type Scope, scopesToMask } from "./scopes.ts";
import { DEFAULT_SETTINGS, type KeySettings, parseSettings, type ShownSettings, shownSettings } from "./settings.ts";

/** Milliseconds between two writes of a key's `last_used_at`. */
const LAST_USED_STEP_MS = 60_000;

export interface KeyRow {
  id: string;
  hash: string;
  /** `num` of the key's project. */
  project: number;
  name: string;
  prefix: string;
  scopes: number;
  createdAt: number;
  /** Configured expiry, which a successor inherits. */
  expiresAt: number | null;
  /** End of the overlap, if the key was rotated. */
  retiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
  settings: KeySettings;
  /** Rises with every change of the settings; 0 if they were never changed. */
  settingsVersion: number;
}

/** A key as lists show it, without its hash. */
export interface KeyInfo {
  id: string;
  name: string;
  scopes: Scope[];
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
  /** Absent from objects of an older version. */
  settings?: ShownSettings;
}

type Row = Pick<KeyRow, "id" | "hash" | "project" | "name" | "prefix" | "scopes"> & {
  created_at: number;
  expires_at: number | null;
  retires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  settings: string | null;
  settings_version: number;
};

function fromRow(row: Row): KeyRow {
  return {
    id: row.id,
    hash: row.hash,
    project: row.project,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    retiresAt: row.retires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    settings: parseSettings(row.settings),
    settingsVersion: row.settings_version,
  };
}

export function keyInfo(key: KeyRow): KeyInfo {
  const { id, name, prefix, createdAt, revokedAt, lastUsedAt } = key;
  return {
    id,
    name,
    scopes: maskToScopes(key.scopes),
    prefix,
    createdAt,
    expiresAt: endOf(key),
    revokedAt,
    lastUsedAt,
    settings: shownSettings(key.settings),
  };
}

/**
 * Returns when a key expires: at its configured expiry or at the end of its overlap, whichever is first; `null` if
 * never.
 */
export function endOf({ expiresAt, retiresAt }: KeyRow): number | null {
  if (expiresAt === null || retiresAt === null) return expiresAt ?? retiresAt;
  return Math.min(expiresAt, retiresAt);
}

export interface NewKey {
  project: number;
  name: string;
  scopes: readonly Scope[];
  createdBy: string;
  /** Epoch milliseconds; `null` for a key that does not expire. */
  expiresAt: number | null;
  /** The settings of the key that this one replaces. */
  settings?: Pick<KeyRow, "settings" | "settingsVersion">;
}

export function insertKey(sql: SqlStorage, key: NewKey, made: NewApiKey, now: number): KeyInfo {
  const row = one<Row>(
    sql,
    `INSERT INTO keys (hash, id, project, name, prefix, scopes, created_by, created_at, expires_at, settings, settings_version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    made.hash,
    newId("key"),
    key.project,
    key.name,
    made.prefix,
    scopesToMask(key.scopes),
    key.createdBy,
    now,
    key.expiresAt,
    key.settings ? storedSettings(key.settings.settings) : null,
    key.settings?.settingsVersion ?? 0,
  );
  return keyInfo(fromRow(row));
}

function storedSettings(settings: KeySettings): string | null {
  return settings === DEFAULT_SETTINGS ? null : JSON.stringify(settings);
}

/** Writes the name and the settings of a key. The version of the settings rises if they change. */
export function updateKey(sql: SqlStorage, key: KeyRow, name: string, settings: KeySettings): void {
  const isChanged = JSON.stringify(settings) !== JSON.stringify(key.settings);
  sql.exec(
    "UPDATE keys SET name = ?, settings = ?, settings_version = settings_version + ? WHERE hash = ?",
    name,
    storedSettings(settings),
    isChanged ? 1 : 0,
    key.hash,
  );
}

export function findKeyByHash(sql: SqlStorage, hash: string): KeyRow | null {
  const row = maybe<Row>(sql, "SELECT * FROM keys WHERE hash = ?", hash);
  return row ? fromRow(row) : null;
}

export function findKeyById(sql: SqlStorage, project: number, id: string): KeyRow | null {
  const row = maybe<Row>(sql, "SELECT * FROM keys WHERE id = ? AND project = ?", id, project);
  return row ? fromRow(row) : null;
}

/** Returns keys of a project in order of creation, starting after the (created_at, id) of `cursor`. */
export function listKeys(sql: SqlStorage, project: number, cursor: [number, string], limit: number): KeyRow[] {
  return mapRows(
    sql,
    fromRow,
    "SELECT * FROM keys WHERE project = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?",
    project,
    ...cursor,
    limit,
  );
}

/** Which keys of a workspace are wanted. Times are epoch milliseconds. */
export interface WorkspaceKeyFilter {
  /** Only keys that were neither created nor used since; `null` for all. */
  unusedSince: number | null;
}

/** Returns the valid keys of all projects in order of creation, each with its project's id. */
export function listWorkspaceKeys(
  sql: SqlStorage,
  { unusedSince }: WorkspaceKeyFilter,
  cursor: [number, string],
  limit: number,
  now: number,
): { key: KeyRow; projectId: string }[] {
  return mapRows(
    sql,
    (row: Row & { project_id: string }) => ({ key: fromRow(row), projectId: row.project_id }),
    `SELECT keys.*, projects.id AS project_id FROM keys JOIN projects ON projects.num = keys.project
     WHERE revoked_at IS NULL AND COALESCE(expires_at, ?1 + 1) > ?1 AND COALESCE(retires_at, ?1 + 1) > ?1
       AND (?2 IS NULL OR COALESCE(last_used_at, keys.created_at) < ?2)
       AND (keys.created_at, keys.id) > (?3, ?4) ORDER BY keys.created_at, keys.id LIMIT ?5`,
    now,
    unusedSince,
    ...cursor,
    limit,
  );
}

/** Revokes a key. Keeps the time of an earlier revocation. */
export function revokeKey(sql: SqlStorage, hash: string, now: number): void {
  sql.exec("UPDATE keys SET revoked_at = ? WHERE hash = ? AND revoked_at IS NULL", now, hash);
}

/**
 * Revokes all keys that a user created by `until`, in all projects.
 * @returns the number of keys revoked
 */
export function revokeKeysBy(sql: SqlStorage, userId: string, until: number, now: number): number {
  return sql.exec(
    "UPDATE keys SET revoked_at = ? WHERE created_by = ? AND created_at <= ? AND revoked_at IS NULL",
    now,
    userId,
    until,
  ).rowsWritten;
}

/** Limits a rotated key to `retiresAt`. A second rotation can only make it earlier. */
export function retireKey(sql: SqlStorage, hash: string, retiresAt: number, replacedBy: string): void {
  sql.exec(
    "UPDATE keys SET retires_at = MIN(COALESCE(retires_at, ?1), ?1), replaced_by = ?2 WHERE hash = ?3",
    retiresAt,
    replacedBy,
    hash,
  );
}

/** Records the use of a key, at most once a minute. */
export function touchKey(sql: SqlStorage, key: KeyRow, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt < LAST_USED_STEP_MS) return;
  sql.exec("UPDATE keys SET last_used_at = ? WHERE hash = ?", now, key.hash);
  key.lastUsedAt = now;
}
