import { exists, mapRows, maybe, one } from "../platform/sql.ts";
import { type Account, readAccount } from "./account.ts";
import { endFamilies, isValidSession, listSessions } from "./families.ts";
import type { Identity, ProviderName } from "./oauth/provider.ts";
import { isReauthenticated, type Reauthentication } from "./sessions.ts";

/**
 * Stores the identities linked to an account. The directory decides which account gets an identity; this table decides
 * whether it is linked. So a link takes three steps: begun here, claimed in the directory, completed here. A request
 * that finds a claim without a link here deletes it in the directory. A link that is begun and not completed has no
 * effect.
 */

/** A link with which an account is provisioned. */
export interface NewLink extends Identity {
  claim: string;
}

export function insertLink(sql: SqlStorage, { provider, subject, claim }: NewLink, now: number): void {
  sql.exec(
    "INSERT OR IGNORE INTO links (provider, subject, claim, linked_at) VALUES (?, ?, ?, ?)",
    provider,
    subject,
    claim,
    now,
  );
}

/**
 * Begins to link an identity, and gives up an earlier link that was not completed.
 * @returns the claim to make: the existing one if the identity is linked already, else the new one
 */
export function beginLink(sql: SqlStorage, { provider, subject, claim }: NewLink): string {
  sql.exec("DELETE FROM links WHERE linked_at IS NULL");
  sql.exec("INSERT OR IGNORE INTO links (provider, subject, claim) VALUES (?, ?, ?)", provider, subject, claim);
  const select = "SELECT claim FROM links WHERE provider = ? AND subject = ?";
  return one<{ claim: string }>(sql, select, provider, subject).claim;
}

/** `lost`: the link was given up since it was begun, and nothing is linked. */
export type Completion = "linked" | "was linked" | "lost";

export function completeLink(sql: SqlStorage, { provider, subject, claim }: NewLink, now: number): Completion {
  const select = "SELECT linked_at FROM links WHERE provider = ? AND subject = ? AND claim = ?";
  const row = maybe<{ linked_at: number | null }>(sql, select, provider, subject, claim);
  if (!row) return "lost";
  if (row.linked_at !== null) return "was linked";
  sql.exec("UPDATE links SET linked_at = ? WHERE provider = ? AND subject = ?", now, provider, subject);
  return "linked";
}

/**
 * Whether the account has this identity. If not, gives up the claim in the same turn: the caller may delete it from the
 * directory, and no link in progress will be completed with it.
 */
export function hasLink(sql: SqlStorage, { provider, subject, claim }: NewLink): boolean {
  const select = "SELECT 1 FROM links WHERE provider = ? AND subject = ? AND linked_at IS NOT NULL";
  if (exists(sql, select, provider, subject)) return true;
  sql.exec("DELETE FROM links WHERE provider = ? AND subject = ? AND claim = ?", provider, subject, claim);
  return false;
}

/** The sign-in methods of an account, beside mailed links. */
export interface SignInMethods {
  hasPassword: boolean;
  providers: ProviderName[];
}

export function readMethods(sql: SqlStorage): SignInMethods {
  const select = "SELECT DISTINCT provider FROM links WHERE linked_at IS NOT NULL ORDER BY provider";
  return {
    hasPassword: (readAccount(sql)?.passwordHash ?? null) !== null,
    providers: mapRows(sql, (row: { provider: ProviderName }) => row.provider, select),
  };
}

export type Unlink = { ok: true; released: NewLink[] } | { ok: false; reason: "not linked" | "last method" };

/** Removes every identity of a provider from the account, unless no other method would remain. */
export function unlink(sql: SqlStorage, provider: ProviderName): Unlink {
  const { hasPassword, providers } = readMethods(sql);
  if (!providers.includes(provider)) return { ok: false, reason: "not linked" };
  if (!hasPassword && providers.length === 1) return { ok: false, reason: "last method" };
  type Row = { provider: ProviderName; subject: string; claim: string };
  const rows = sql.exec<Row>("DELETE FROM links WHERE provider = ? RETURNING provider, subject, claim", provider);
  return { ok: true, released: rows.toArray() };
}

/** Milliseconds for which an addition to an account is recent, and so reviewed after a suspected theft. */
export const RECENT_MS = 30 * 24 * 60 * 60 * 1000;

export interface RecentLink {
  provider: ProviderName;
  /** Epoch milliseconds. */
  linkedAt: number;
}

export interface Recovery {
  /** Epoch milliseconds since when additions count as recent. */
  since: number;
  otherSessions: number;
  providers: RecentLink[];
  /** The personal workspace, listed or not. */
  workspaceId: string;
}

/** The additions that an owner should check after a theft. */
export function readRecovery(sql: SqlStorage, sessionId: string, account: Account, now: number): Recovery {
  const since = now - RECENT_MS;
  const others = listSessions(sql, account.epoch, now).filter(({ id }) => id !== sessionId);
  const providers = mapRows(
    sql,
    ({ provider, at }: { provider: ProviderName; at: number }) => ({ provider, linkedAt: at }),
    `SELECT provider, linked_at AS at FROM links WHERE ${RECENT} ORDER BY linked_at DESC, provider`,
    since,
  );
  return { since, otherSessions: others.length, providers, workspaceId: account.workspaceId };
}

export type Recovered =
  | { ok: true; ended: number; released: NewLink[] }
  | { ok: false; reason: "session ended" | "unproven" | "last method" };

/**
 * Ends all other sessions and removes every identity that was linked within the last 30 days, in one turn. Changes
 * nothing if no password and no other identity would remain.
 */
export function recover(sql: SqlStorage, shown: Reauthentication, now: number): Recovered {
  const account = readAccount(sql);
  if (!account || !isValidSession(sql, shown.sessionId, account.epoch, now))
    return { ok: false, reason: "session ended" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  const since = now - RECENT_MS;
  const select = `SELECT COUNT(*) AS left FROM links WHERE linked_at IS NOT NULL AND NOT (${RECENT})`;
  const { left } = one<{ left: number }>(sql, select, since);
  const { hasPassword, providers } = readMethods(sql);
  if (!hasPassword && left === 0 && providers.length > 0) return { ok: false, reason: "last method" };
  type Row = { provider: ProviderName; subject: string; claim: string };
  const released = sql
    .exec<Row>(`DELETE FROM links WHERE ${RECENT} RETURNING provider, subject, claim`, since)
    .toArray();
  return { ok: true, ended: endFamilies(sql, "revoked", shown.sessionId, now), released };
}

/** The identity with which an account was created is no addition. Account and identity then have the same time. */
const RECENT = "linked_at > ? AND linked_at > (SELECT created_at FROM account)";
