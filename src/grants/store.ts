import type { AgentScope } from "../keys/scopes.ts";
import { mapRows, maybe } from "../platform/sql.ts";

/** Grants: the access that members have given to agents. */
export const GRANT_SCHEMA = [
  `CREATE TABLE grants (
     -- Row: the access that a member has given to a client; deleted when it ends.
     -- \`grant_...\`
     id TEXT PRIMARY KEY,
     user_id TEXT NOT NULL,
     -- The URL of the client's metadata document, or an id that registration returned.
     client_id TEXT NOT NULL,
     client_name TEXT NOT NULL,
     -- The host that publishes the document; null for a registered client.
     client_host TEXT,
     -- Where the client got the code.
     redirect_uri TEXT NOT NULL,
     -- The protected resource that tokens are for.
     resource TEXT NOT NULL,
     -- Separated by spaces.
     scopes TEXT NOT NULL,
     -- JSON array of the \`num\`s of projects; null for all projects.
     projects TEXT,
     -- 32 random bytes that refresh tokens are derived with.
     key BLOB NOT NULL CHECK (length(key) = 32),
     -- Of the current refresh token; 0 until the code is exchanged.
     counter INTEGER NOT NULL,
     -- Hex SHA-256 of the code.
     code_hash TEXT NOT NULL UNIQUE,
     -- SHA-256 of the PKCE verifier, base64url.
     code_challenge TEXT NOT NULL,
     code_expires_at INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     -- The exchange of the code, or the last rotation.
     refreshed_at INTEGER NOT NULL,
     -- The last request with an access token, to the minute.
     last_used_at INTEGER
   ) STRICT`,
  `CREATE TABLE grant_tokens (
     -- Row: an access token; at most 5 of a grant.
     -- Hex SHA-256 of the token.
     hash TEXT PRIMARY KEY,
     grant_id TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX grant_tokens_by_grant ON grant_tokens (grant_id)",
] as const;

const DAY_MS = 24 * 60 * 60 * 1000;

export const GRANT_LIMITS = {
  /** Grants of one member in one workspace. Above it the one that was used longest ago ends. */
  perMember: 50,
  /** Milliseconds in which a code must be exchanged. */
  codeMs: 60_000,
  /** Seconds of an access token. */
  accessSeconds: 3600,
  /** Access tokens of one grant. */
  accessTokens: 5,
  /** Milliseconds after its last rotation at which a grant ends ... */
  idleMs: 30 * DAY_MS,
  /** ... and after the consent, even if it rotates. */
  absoluteMs: 90 * DAY_MS,
  /** Milliseconds between two writes of `last_used_at`. */
  lastUsedStepMs: 60_000,
} as const;

export interface GrantRow {
  id: string;
  userId: string;
  clientId: string;
  clientName: string;
  clientHost: string | null;
  redirectUri: string;
  resource: string;
  scopes: AgentScope[];
  /** `num`s of projects; `null` for all. */
  projects: number[] | null;
  key: Uint8Array;
  counter: number;
  codeChallenge: string;
  codeExpiresAt: number;
  /** Epoch milliseconds, like the two after it. */
  createdAt: number;
  refreshedAt: number;
  lastUsedAt: number | null;
}

type Row = {
  id: string;
  user_id: string;
  client_id: string;
  client_name: string;
  client_host: string | null;
  redirect_uri: string;
  resource: string;
  scopes: string;
  projects: string | null;
  key: ArrayBuffer;
  counter: number;
  code_challenge: string;
  code_expires_at: number;
  created_at: number;
  refreshed_at: number;
  last_used_at: number | null;
};

function fromRow(row: Row): GrantRow {
  return {
    id: row.id,
    userId: row.user_id,
    clientId: row.client_id,
    clientName: row.client_name,
    clientHost: row.client_host,
    redirectUri: row.redirect_uri,
    resource: row.resource,
    // SAFETY: `insertGrant` and `dropProject` are the only writers of both.
    scopes: row.scopes.split(" ") as AgentScope[],
    projects: row.projects === null ? null : (JSON.parse(row.projects) as number[]),
    key: new Uint8Array(row.key),
    counter: row.counter,
    codeChallenge: row.code_challenge,
    codeExpiresAt: row.code_expires_at,
    createdAt: row.created_at,
    refreshedAt: row.refreshed_at,
    lastUsedAt: row.last_used_at,
  };
}

/** When a grant ends if it is not used again, epoch milliseconds. */
export function grantEnd({ counter, codeExpiresAt, createdAt, refreshedAt }: GrantRow): number {
  if (counter === 0) return codeExpiresAt;
  return Math.min(createdAt + GRANT_LIMITS.absoluteMs, refreshedAt + GRANT_LIMITS.idleMs);
}

/** `grantEnd` in SQL. */
const END = `CASE counter WHEN 0 THEN code_expires_at
  ELSE MIN(created_at + ${GRANT_LIMITS.absoluteMs}, refreshed_at + ${GRANT_LIMITS.idleMs}) END`;

export type NewGrant = Omit<GrantRow, "counter" | "createdAt" | "refreshedAt" | "lastUsedAt"> & { codeHash: string };

/** Inserts a grant whose code is to be exchanged. Deletes what has expired, and the grants above the limit of the member. */
export function insertGrant(sql: SqlStorage, grant: NewGrant, now: number): void {
  const expired = sql.exec<{ id: string }>(`SELECT id FROM grants WHERE ${END} <= ?`, now).toArray();
  const excess = sql
    .exec<{ id: string }>(
      `SELECT id FROM grants WHERE user_id = ? ORDER BY COALESCE(last_used_at, refreshed_at) DESC, id LIMIT -1 OFFSET ?`,
      grant.userId,
      GRANT_LIMITS.perMember - 1,
    )
    .toArray();
  for (const { id } of [...expired, ...excess]) deleteGrant(sql, id);
  sql.exec(
    `INSERT INTO grants (id, user_id, client_id, client_name, client_host, redirect_uri, resource, scopes, projects, key, counter,
       code_hash, code_challenge, code_expires_at, created_at, refreshed_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?12, ?13, ?14, ?14)`,
    grant.id,
    grant.userId,
    grant.clientId,
    grant.clientName,
    grant.clientHost,
    grant.redirectUri,
    grant.resource,
    grant.scopes.join(" "),
    grant.projects === null ? null : JSON.stringify(grant.projects),
    grant.key,
    grant.codeHash,
    grant.codeChallenge,
    grant.codeExpiresAt,
    now,
  );
}

export function findGrant(sql: SqlStorage, id: string): GrantRow | null {
  const row = maybe<Row>(sql, "SELECT * FROM grants WHERE id = ?", id);
  return row ? fromRow(row) : null;
}

export function findGrantByCode(sql: SqlStorage, codeHash: string): GrantRow | null {
  const row = maybe<Row>(sql, "SELECT * FROM grants WHERE code_hash = ?", codeHash);
  return row ? fromRow(row) : null;
}

/** Returns the grant of an access token, and when the token expires. */
export function findGrantByToken(sql: SqlStorage, hash: string): { grant: GrantRow; expiresAt: number } | null {
  const row = maybe<Row & { expires_at: number }>(
    sql,
    "SELECT g.*, t.expires_at FROM grant_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.hash = ?",
    hash,
  );
  return row ? { grant: fromRow(row), expiresAt: row.expires_at } : null;
}

/** Returns the valid grants of a member, or of all, the newest first. */
export function listGrants(sql: SqlStorage, userId: string | null, now: number, limit: number): GrantRow[] {
  return mapRows(
    sql,
    fromRow,
    `SELECT * FROM grants WHERE (?1 IS NULL OR user_id = ?1) AND counter > 0 AND ${END} > ?2
     ORDER BY created_at DESC, id LIMIT ?3`,
    userId,
    now,
    limit,
  );
}

/** Begins the next link of the chain, with a new access token. The newest ones of the grant stay valid. */
export function rotateGrant(sql: SqlStorage, id: string, accessHash: string, now: number): void {
  sql.exec("UPDATE grants SET counter = counter + 1, refreshed_at = ? WHERE id = ?", now, id);
  sql.exec(
    "INSERT INTO grant_tokens (hash, grant_id, expires_at) VALUES (?, ?, ?)",
    accessHash,
    id,
    now + GRANT_LIMITS.accessSeconds * 1000,
  );
  sql.exec(
    `DELETE FROM grant_tokens WHERE grant_id = ?1 AND (expires_at <= ?2 OR hash IN
       (SELECT hash FROM grant_tokens WHERE grant_id = ?1 AND hash <> ?3 ORDER BY expires_at DESC, hash LIMIT -1 OFFSET ?4))`,
    id,
    now,
    accessHash,
    GRANT_LIMITS.accessTokens - 1,
  );
}

/** Records the use of a grant, at most once a minute. */
export function touchGrant(sql: SqlStorage, { id, lastUsedAt }: GrantRow, now: number): void {
  if (lastUsedAt !== null && now - lastUsedAt < GRANT_LIMITS.lastUsedStepMs) return;
  sql.exec("UPDATE grants SET last_used_at = ? WHERE id = ?", now, id);
}

/** Ends a grant: none of its tokens is accepted from this turn on. */
export function deleteGrant(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM grant_tokens WHERE grant_id = ?", id);
  sql.exec("DELETE FROM grants WHERE id = ?", id);
}

/** Ends the grants that a user gave by `until`. @returns their number */
export function deleteGrantsOf(sql: SqlStorage, userId: string, until: number): number {
  const ids = sql
    .exec<{ id: string }>("SELECT id FROM grants WHERE user_id = ? AND created_at <= ?", userId, until)
    .toArray();
  for (const { id } of ids) deleteGrant(sql, id);
  return ids.length;
}

/** Removes a deleted project from the grants. A grant without another project ends. */
export function dropProjectFromGrants(sql: SqlStorage, project: number): void {
  const rows = sql.exec<{ id: string; projects: string }>("SELECT id, projects FROM grants WHERE projects IS NOT NULL");
  for (const { id, projects } of rows.toArray()) {
    // SAFETY: see `fromRow`.
    const nums = JSON.parse(projects) as number[];
    const left = nums.filter((num) => num !== project);
    if (left.length === 0) deleteGrant(sql, id);
    else if (left.length < nums.length) {
      sql.exec("UPDATE grants SET projects = ? WHERE id = ?", JSON.stringify(left), id);
    }
  }
}
