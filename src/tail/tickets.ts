import { authorityText, readAuthority, type TailAuthority } from "./authority.ts";
import { TICKET_LIFETIME_MS } from "./limits.ts";

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
