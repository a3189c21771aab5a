import { readAccount } from "./account.ts";
import type { Identity, ProviderName } from "./oauth/provider.ts";

/**
 * The identities linked to an account. The directory decides which account gets an identity, this table whether it is
 * linked. So a link takes three steps: begun here, claimed there, completed here. Whoever meets a claim that is not held
 * here deletes it there; a link that was begun and not completed is as good as none.
 */

/** A link as an account is provisioned with it. */
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
 * Begins to link an identity; what was begun before and not completed is given up.
 * @returns the claim to make: the old one where the identity is linked already, else the new one
 */
export function beginLink(sql: SqlStorage, { provider, subject, claim }: NewLink): string {
  sql.exec("DELETE FROM links WHERE linked_at IS NULL");
  sql.exec("INSERT OR IGNORE INTO links (provider, subject, claim) VALUES (?, ?, ?)", provider, subject, claim);
  return sql
    .exec<{ claim: string }>("SELECT claim FROM links WHERE provider = ? AND subject = ?", provider, subject)
    .one().claim;
}

/** `lost`: what was begun has been given up since, and nothing is linked. */
export type Completion = "linked" | "was linked" | "lost";

export function completeLink(sql: SqlStorage, { provider, subject, claim }: NewLink, now: number): Completion {
  const row = sql
    .exec<{ linked_at: number | null }>(
      "SELECT linked_at FROM links WHERE provider = ? AND subject = ? AND claim = ?",
      provider,
      subject,
      claim,
    )
    .toArray()[0];
  if (!row) return "lost";
  if (row.linked_at !== null) return "was linked";
  sql.exec("UPDATE links SET linked_at = ? WHERE provider = ? AND subject = ?", now, provider, subject);
  return "linked";
}

/**
 * Whether the account has this identity. Where it has not, the claim that was asked about is given up in the same turn:
 * the asker may delete it from the directory, and no link that is still under way will be completed with it.
 */
export function hasLink(sql: SqlStorage, { provider, subject, claim }: NewLink): boolean {
  const held = sql.exec(
    "SELECT 1 FROM links WHERE provider = ? AND subject = ? AND linked_at IS NOT NULL",
    provider,
    subject,
  );
  if (held.toArray().length > 0) return true;
  sql.exec("DELETE FROM links WHERE provider = ? AND subject = ? AND claim = ?", provider, subject, claim);
  return false;
}

/** The ways in that an account has, beside its mailbox. */
export interface SignInMethods {
  hasPassword: boolean;
  providers: ProviderName[];
}

export function readMethods(sql: SqlStorage): SignInMethods {
  const rows = sql.exec<{ provider: ProviderName }>(
    "SELECT DISTINCT provider FROM links WHERE linked_at IS NOT NULL ORDER BY provider",
  );
  return {
    hasPassword: (readAccount(sql)?.passwordHash ?? null) !== null,
    providers: rows.toArray().map(({ provider }) => provider),
  };
}

export type Unlink = { ok: true; released: NewLink[] } | { ok: false; reason: "not linked" | "last method" };

/** Takes every identity of a provider from the account, unless no other method would be left. */
export function unlink(sql: SqlStorage, provider: ProviderName): Unlink {
  const { hasPassword, providers } = readMethods(sql);
  if (!providers.includes(provider)) return { ok: false, reason: "not linked" };
  if (!hasPassword && providers.length === 1) return { ok: false, reason: "last method" };
  type Row = { provider: ProviderName; subject: string; claim: string };
  const rows = sql.exec<Row>("DELETE FROM links WHERE provider = ? RETURNING provider, subject, claim", provider);
  return { ok: true, released: rows.toArray() };
}
