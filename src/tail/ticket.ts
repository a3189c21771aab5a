import { createHash } from "node:crypto";
import { ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";

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
