import type { Origin } from "../../platform/origin.ts";
import { readAccount } from "../account.ts";
import { notifyOwner } from "../account-mails.ts";
import type { ActivityNote } from "../activity.ts";
import { proveAddress, unfinishedPurge } from "../deletion.ts";
import { isAlive } from "../families.ts";
import { beginLink, completeLink, hasLink, type NewLink, readMethods, type SignInMethods, unlink } from "../links.ts";
import { isReauthenticated, type Reauthentication } from "../sessions.ts";
import type { ProviderName } from "./provider.ts";

/**
 * On whose word an identity may be linked: a provider's that says whose the address is, or a live session's of an account
 * that was reauthenticated when the link was asked for, and has not changed since. `checkedEpoch`: the account's epoch
 * then; a router of an older version, which asked for no such thing, leaves it out.
 */
export type LinkAuthority =
  | { by: "session"; sessionId: string; checkedEpoch?: number }
  | { by: "email"; email: string };

/** `gone`: no such account, or no longer with this address. `changed`: the account has since the link was asked for. */
export type LinkRefusal = "gone" | "session ended" | "unverified" | "changed" | "busy";

export type LinkAllowed =
  | { ok: true; epoch: number }
  | { ok: false; reason: "session ended" | "unverified" | "unproven" };

/** Whether the account's session may set out to link a provider; `epoch` is what the link has to be completed under. */
export function allowLinking(sql: SqlStorage, shown: Reauthentication, now: number): LinkAllowed {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, shown.sessionId, account.epoch, now)) return { ok: false, reason: "session ended" };
  if (!account.emailVerified) return { ok: false, reason: "unverified" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  return { ok: true, epoch: account.epoch };
}

/** `unfinishedPurge`: keys in workspaces are not revoked yet, so the link must not go further. */
export type LinkBegun = { ok: true; claim: string; unfinishedPurge: boolean } | { ok: false; reason: LinkRefusal };

/** Begins a link, if the authority suffices. A provider's word that somebody owns this address proves it (O5). */
export function startLinking(sql: SqlStorage, link: NewLink, authority: LinkAuthority, now: number): LinkBegun {
  const account = readAccount(sql);
  if (!account) return { ok: false, reason: "gone" };
  const { emailVerified, email, epoch } = account;
  if (authority.by === "session") {
    if (!isAlive(sql, authority.sessionId, epoch, now)) return { ok: false, reason: "session ended" };
    if (!emailVerified) return { ok: false, reason: "unverified" };
    // A refusal that a router of an older version knows, too.
    if (authority.checkedEpoch === undefined) return { ok: false, reason: "busy" };
    if (authority.checkedEpoch !== epoch) return { ok: false, reason: "changed" };
    return { ok: true, claim: beginLink(sql, link), unfinishedPurge: false };
  }
  if (email !== authority.email) return { ok: false, reason: "gone" };
  proveAddress(sql, now);
  return { ok: true, claim: beginLink(sql, link), unfinishedPurge: unfinishedPurge(sql) !== null };
}

export type LinkCompleted = { ok: true; epoch: number } | { ok: false; reason: "lost" };

/** Completes a link whose claim stands in the directory, and promises the mail that tells the owner. */
export function finishLinking(
  sql: SqlStorage,
  link: NewLink,
  origin: Origin,
  note: ActivityNote,
  now: number,
): LinkCompleted {
  const account = readAccount(sql);
  const completion = account ? completeLink(sql, link, now) : "lost";
  if (!account || completion === "lost") return { ok: false, reason: "lost" };
  if (completion === "linked") {
    note({ action: "provider.link", details: { provider: link.provider } });
    notifyOwner(sql, { notice: "provider-linked", provider: link.provider }, origin, now);
  }
  return { ok: true, epoch: account.epoch };
}

/** The epoch to open a session with, for whoever has this identity; null where it is not this account's. */
export function epochOfLinked(sql: SqlStorage, link: NewLink): number | null {
  const account = readAccount(sql);
  return account && hasLink(sql, link) ? account.epoch : null;
}

/** The account's ways in; null where the session is dead. */
export function methodsOfSession(sql: SqlStorage, sessionId: string, now: number): SignInMethods | null {
  const account = readAccount(sql);
  return account && isAlive(sql, sessionId, account.epoch, now) ? readMethods(sql) : null;
}

export type Unlinked =
  | { ok: true; released: NewLink[] }
  | { ok: false; reason: "session ended" | "unproven" | "not linked" | "last method" };

/** Takes a provider from the account in one turn: of two that would take the last two, one is refused. */
export function unlinkBySession(
  sql: SqlStorage,
  shown: Reauthentication,
  provider: ProviderName,
  now: number,
): Unlinked {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, shown.sessionId, account.epoch, now)) return { ok: false, reason: "session ended" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  return unlink(sql, provider);
}
