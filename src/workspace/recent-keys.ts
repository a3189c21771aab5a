import { maskToScopes, type Scope } from "../keys/scopes.ts";
import { readWorkspace } from "./settings.ts";

/** Keys that one workspace answers with at most. */
const MAX_KEYS = 200;

/** A key that works, as the person who made it sees it beside those of other workspaces. */
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
  /** The newest first. */
  keys: OwnKey[];
  /** False where there are more. */
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

/** The keys that a user made since a time, and that still work. */
export function keysMadeBy(sql: SqlStorage, workspaceId: string, userId: string, since: number, now: number): OwnKeys {
  const rows = sql
    .exec<Row>(
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
    )
    .toArray();
  const workspaceName = readWorkspace(sql).name;
  const keys = rows.slice(0, MAX_KEYS).map((row) => ({
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
  }));
  return { keys, complete: rows.length <= MAX_KEYS };
}
