import { createHash } from "node:crypto";
import type { ErrorCode } from "../http/errors.ts";
import { ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";
import { TICKET_LIFETIME_MS } from "./limits.ts";

/** On whose behalf a tail reads: it lives no longer than this may read. Each is a `Caller` of the workspace object. */
export type TailAuthority =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /** A user, by the session that the tail was opened in. */
  | { kind: "user"; userId: string; sessionId: string };

/** Whether an authority may still read a project: until when, or why not. */
export type AuthorityCheck = { ok: true; expiresAt: number | null } | { ok: false; code: AuthorityEnd };

type AuthorityEnd = Extract<
  ErrorCode,
  | "API_KEY_EXPIRED"
  | "API_KEY_REVOKED"
  | "FORBIDDEN"
  | "INSUFFICIENT_SCOPE"
  | "INVALID_API_KEY"
  | "NOT_FOUND"
  | "SESSION_REVOKED"
>;

/** One text per authority: what holds for one tail of it holds for all. */
export function authorityText(authority: TailAuthority): string {
  return authority.kind === "key" ? `k:${authority.hash}` : `u:${authority.userId}:${authority.sessionId}`;
}

/** @param text as `authorityText` wrote it */
export function readAuthority(text: string): TailAuthority {
  const [kind = "", first = "", second = ""] = text.split(":");
  return kind === "k" ? { kind: "key", hash: first } : { kind: "user", userId: first, sessionId: second };
}

/**
 * `tt_` + 12 base62 of the workspace's id + 43 base62 of secret (256 bits). The locator says whose object knows it; only
 * its SHA-256 is stored.
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

/** Where a ticket is to be looked up, and as what; null for anything that is not spelled like one. */
export function openTicket(ticket: string): OpenedTicket | null {
  const isTicket =
    ticket.startsWith(PREFIX) &&
    ticket.length === PREFIX.length + ID_LENGTH + SECRET_LENGTH &&
    isBase62(ticket, PREFIX.length);
  if (!isTicket) return null;
  const workspaceId = `ws_${ticket.slice(PREFIX.length, PREFIX.length + ID_LENGTH)}`;
  return { workspaceId, hash: createHash("sha256").update(ticket).digest("hex") };
}

/** Tickets that can be used, or have run out since the last one was made. */
export const TICKET_SCHEMA = [
  `CREATE TABLE tail_tickets (
     -- Hex SHA-256 of the ticket.
     hash TEXT PRIMARY KEY,
     project INTEGER NOT NULL,
     -- Who asked for it; see authority.ts.
     authority TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

export type TicketLookup =
  | { found: true; project: number; authority: TailAuthority }
  | { found: false; reason: "unknown" | "expired" };

/** @returns when it runs out, epoch milliseconds */
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
  const row = sql
    .exec<{ project: number; authority: string; expiresAt: number }>(
      "SELECT project, authority, expires_at AS expiresAt FROM tail_tickets WHERE hash = ?",
      hash,
    )
    .toArray()[0];
  if (!row) return { found: false, reason: "unknown" };
  if (row.expiresAt <= now) return { found: false, reason: "expired" };
  return { found: true, project: row.project, authority: readAuthority(row.authority) };
}

/** A ticket has been used: it is good once. */
export function deleteTicket(sql: SqlStorage, hash: string): void {
  sql.exec("DELETE FROM tail_tickets WHERE hash = ?", hash);
}
