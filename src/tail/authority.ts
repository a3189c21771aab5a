import { createHash } from "node:crypto";
import type { ErrorCode } from "../http/errors.ts";
import { ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";
import { maybe } from "../platform/sql.ts";
import { TICKET_LIFETIME_MS } from "./limits.ts";

/** The authorities of tails, and the tickets by which a browser opens a tail on behalf of one. */

/**
 * The key, session or agent's token on whose behalf a tail reads. A tail ends when its authority ends. Each authority is also a
 * `Caller` of the workspace object.
 */
export type TailAuthority =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /** A user and the session in which the tail was opened. */
  | { kind: "user"; userId: string; sessionId: string }
  /** Hex SHA-256 of an agent's access token; see `Caller`. */
  | { kind: "grant"; hash: string; userId: "" };

/**
 * Result of an authority check: the end of the permission in epoch milliseconds (`null`: no known end), or the error
 * code.
 */
export type AuthorityCheck = { ok: true; expiresAt: number | null } | { ok: false; code: AuthorityEnd };

type AuthorityEnd = Extract<
  ErrorCode,
  | "ACCESS_TOKEN_EXPIRED"
  | "API_KEY_EXPIRED"
  | "API_KEY_REVOKED"
  | "FORBIDDEN"
  | "INSUFFICIENT_SCOPE"
  | "INVALID_ACCESS_TOKEN"
  | "INVALID_API_KEY"
  | "NOT_FOUND"
  | "SESSION_REVOKED"
>;

/** Encodes an authority as text. Equal authorities have equal texts, so that one check can serve all their tails. */
export function authorityText(authority: TailAuthority): string {
  switch (authority.kind) {
    case "key":
      return `k:${authority.hash}`;
    case "grant":
      return `g:${authority.hash}`;
    case "user":
      return `u:${authority.userId}:${authority.sessionId}`;
  }
}

/**
 * Decodes an authority.
 * @param text as written by `authorityText`
 */
export function readAuthority(text: string): TailAuthority {
  const [kind = "", first = "", second = ""] = text.split(":");
  if (kind === "k") return { kind: "key", hash: first };
  return kind === "g" ? { kind: "grant", hash: first, userId: "" } : { kind: "user", userId: first, sessionId: second };
}

/**
 * Format of a ticket: `tt_`, 12 base62 characters of the workspace id, 43 base62 characters of secret (256 bits). The
 * locator identifies the object that stores the ticket. Only the SHA-256 of the ticket is stored.
 */
const PREFIX = "tt_";
const SECRET_LENGTH = 43;

export interface OpenedTicket {
  workspaceId: string;
  /** Hex SHA-256 of the whole ticket. */
  hash: string;
}

export function newTicket(workspaceId: string): string {
  return `${PREFIX}${workspaceId.slice(3)}${randomBase62(SECRET_LENGTH)}`;
}

/** Parses a ticket into its workspace and hash; `null` if the text does not have the format of a ticket. */
export function openTicket(ticket: string): OpenedTicket | null {
  const isTicket =
    ticket.startsWith(PREFIX) &&
    ticket.length === PREFIX.length + ID_LENGTH + SECRET_LENGTH &&
    isBase62(ticket, PREFIX.length);
  if (!isTicket) return null;
  const workspaceId = `ws_${ticket.slice(PREFIX.length, PREFIX.length + ID_LENGTH)}`;
  return { workspaceId, hash: createHash("sha256").update(ticket).digest("hex") };
}

/** Table of tickets. Expired ones are deleted when the next ticket is inserted. */
export const TICKET_SCHEMA = [
  `CREATE TABLE tail_tickets (
     -- Row: a ticket for a tail that is valid, or has expired since the last ticket was created.
     -- Hex SHA-256 of the ticket.
     hash TEXT PRIMARY KEY,
     project INTEGER NOT NULL,
     -- \`k:\` and the key's hash, \`g:\` and that of an agent's token, or \`u:\` with user and session.
     authority TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

export type TicketLookup =
  | { found: true; project: number; authority: TailAuthority }
  | { found: false; reason: "unknown" | "expired" };

/**
 * Inserts a ticket and deletes the expired ones.
 * @returns when the ticket expires, epoch milliseconds
 */
export function insertTicket(
  sql: SqlStorage,
  hash: string,
  project: number,
  authority: TailAuthority,
  now: number,
): number {
  const expiresAt = now + TICKET_LIFETIME_MS;
  sql.exec("DELETE FROM tail_tickets WHERE expires_at <= ?", now);
  sql.exec(
    "INSERT INTO tail_tickets (hash, project, authority, expires_at) VALUES (?, ?, ?, ?)",
    hash,
    project,
    authorityText(authority),
    expiresAt,
  );
  return expiresAt;
}

export function findTicket(sql: SqlStorage, hash: string, now: number): TicketLookup {
  const row = maybe<{ project: number; authority: string; expiresAt: number }>(
    sql,
    "SELECT project, authority, expires_at AS expiresAt FROM tail_tickets WHERE hash = ?",
    hash,
  );
  if (!row) return { found: false, reason: "unknown" };
  if (row.expiresAt <= now) return { found: false, reason: "expired" };
  return { found: true, project: row.project, authority: readAuthority(row.authority) };
}

/** Deletes a ticket after its only use. */
export function deleteTicket(sql: SqlStorage, hash: string): void {
  sql.exec("DELETE FROM tail_tickets WHERE hash = ?", hash);
}
