import { type Account, readAccount } from "./account.ts";
import { endFamilies, isAlive, listSessions } from "./families.ts";
import { type NewLink, readMethods } from "./links.ts";
import type { ProviderName } from "./oauth/provider.ts";
import { isReauthenticated, type Reauthentication } from "./reauthentication.ts";

/** What was added to an account in this many milliseconds is looked through once it may have been in other hands. */
export const RECENT_MS = 30 * 24 * 60 * 60 * 1000;

export interface RecentLink {
  provider: ProviderName;
  /** Epoch milliseconds. */
  linkedAt: number;
}

export interface Recovery {
  /** Epoch milliseconds: what was added from then on counts as recent. */
  since: number;
  otherSessions: number;
  providers: RecentLink[];
  /** The personal workspace, listed or not. */
  workspaceId: string;
}

/** What an owner who suspects a theft should see of the account. */
export function readRecovery(sql: SqlStorage, sessionId: string, account: Account, now: number): Recovery {
  const since = now - RECENT_MS;
  const others = listSessions(sql, account.epoch, now).filter(({ id }) => id !== sessionId);
  const links = sql.exec<{ provider: ProviderName; at: number }>(
    `SELECT provider, linked_at AS at FROM links WHERE ${RECENT} ORDER BY linked_at DESC, provider`,
    since,
  );
  const providers = links.toArray().map(({ provider, at }) => ({ provider, linkedAt: at }));
  return { since, otherSessions: others.length, providers, workspaceId: account.workspaceId };
}

export type Recovered =
  | { ok: true; ended: number; released: NewLink[] }
  | { ok: false; reason: "session ended" | "unproven" | "last method" };

/**
 * Ends all other sessions and takes away every identity that was linked within the last 30 days, in one turn. Nothing
 * changes where no password and no other identity would be left.
 */
export function recover(sql: SqlStorage, shown: Reauthentication, now: number): Recovered {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, shown.sessionId, account.epoch, now)) return { ok: false, reason: "session ended" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  const since = now - RECENT_MS;
  const { left } = sql
    .exec<{ left: number }>(`SELECT COUNT(*) AS left FROM links WHERE linked_at IS NOT NULL AND NOT (${RECENT})`, since)
    .one();
  const { hasPassword, providers } = readMethods(sql);
  if (!hasPassword && left === 0 && providers.length > 0) return { ok: false, reason: "last method" };
  type Row = { provider: ProviderName; subject: string; claim: string };
  const released = sql
    .exec<Row>(`DELETE FROM links WHERE ${RECENT} RETURNING provider, subject, claim`, since)
    .toArray();
  return { ok: true, ended: endFamilies(sql, "revoked", shown.sessionId, now), released };
}

/** The identity that an account was made with is no addition. One time stands for both: they are written in one turn. */
const RECENT = "linked_at > ? AND linked_at > (SELECT created_at FROM account)";
