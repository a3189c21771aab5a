import type { Origin } from "../../platform/origin.ts";
import { readAccount } from "../account.ts";
import { notifyOwner } from "../account-mails.ts";
import type { ActivityNote } from "../activity.ts";
import { proveAddress, unfinishedPurge } from "../deletion.ts";
import { isValidSession } from "../families.ts";
import { beginLink, completeLink, hasLink, type NewLink, readMethods, type SignInMethods, unlink } from "../links.ts";
import { isReauthenticated, type Reauthentication } from "../sessions.ts";
import type { ProviderName } from "./provider.ts";

/**
 * The authority by which an identity may be linked. Either a provider that reports whose address it is, or a valid
 * session of an account that was reauthenticated when the link was requested and has not changed since. `checkedEpoch`:
 * the account's epoch at that time; absent if a router of an older version, which did not reauthenticate, sends it.
 */
export type LinkAuthority =
  | { by: "session"; sessionId: string; checkedEpoch?: number }
  | { by: "email"; email: string };

/**
 * `gone`: the account does not exist, or has another address. `changed`: the account has changed since the link was requested.
 */
export type LinkRefusal = "gone" | "session ended" | "unverified" | "changed" | "busy";

export type LinkAllowed =
  | { ok: true; epoch: number }
  | { ok: false; reason: "session ended" | "unverified" | "unproven" };

/** Whether a session may begin to link a provider. `epoch`: the epoch under which the link must be completed. */
export function allowLinking(sql: SqlStorage, shown: Reauthentication, now: number): LinkAllowed {
  const account = readAccount(sql);
  if (!account || !isValidSession(sql, shown.sessionId, account.epoch, now))
    return { ok: false, reason: "session ended" };
  if (!account.emailVerified) return { ok: false, reason: "unverified" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  return { ok: true, epoch: account.epoch };
}

/** `unfinishedPurge`: keys in workspaces are not revoked yet, so the link must not go further. */
export type LinkBegun = { ok: true; claim: string; unfinishedPurge: boolean } | { ok: false; reason: LinkRefusal };

/** Begins a link if the authority suffices. A provider's report that a user owns this address proves it (O5). */
export function startLinking(sql: SqlStorage, link: NewLink, authority: LinkAuthority, now: number): LinkBegun {
  const account = readAccount(sql);
  if (!account) return { ok: false, reason: "gone" };
  const { emailVerified, email, epoch } = account;
  if (authority.by === "session") {
    if (!isValidSession(sql, authority.sessionId, epoch, now)) return { ok: false, reason: "session ended" };
    if (!emailVerified) return { ok: false, reason: "unverified" };
    // This refusal is known to routers of an older version, too.
    if (authority.checkedEpoch === undefined) return { ok: false, reason: "busy" };
    if (authority.checkedEpoch !== epoch) return { ok: false, reason: "changed" };
    return { ok: true, claim: beginLink(sql, link), unfinishedPurge: false };
  }
  if (email !== authority.email) return { ok: false, reason: "gone" };
  proveAddress(sql, now);
  return { ok: true, claim: beginLink(sql, link), unfinishedPurge: unfinishedPurge(sql) !== null };
}

export type LinkCompleted = { ok: true; epoch: number } | { ok: false; reason: "lost" };

/** Completes a link whose claim is in the directory, and stores the pending mail that notifies the owner. */
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

/** Returns the epoch for a session by this identity; `null` if the account does not have the identity. */
export function epochOfLinked(sql: SqlStorage, link: NewLink): number | null {
  const account = readAccount(sql);
  return account && hasLink(sql, link) ? account.epoch : null;
}

/** Returns the account's sign-in methods; `null` if the session has ended. */
export function methodsOfSession(sql: SqlStorage, sessionId: string, now: number): SignInMethods | null {
  const account = readAccount(sql);
  return account && isValidSession(sql, sessionId, account.epoch, now) ? readMethods(sql) : null;
}

export type Unlinked =
  | { ok: true; released: NewLink[] }
  | { ok: false; reason: "session ended" | "unproven" | "not linked" | "last method" };

/** Unlinks a provider in one turn. Of two requests that would remove the last two methods, one is refused. */
export function unlinkBySession(
  sql: SqlStorage,
  shown: Reauthentication,
  provider: ProviderName,
  now: number,
): Unlinked {
  const account = readAccount(sql);
  if (!account || !isValidSession(sql, shown.sessionId, account.epoch, now))
    return { ok: false, reason: "session ended" };
  if (!isReauthenticated(sql, account, shown, now)) return { ok: false, reason: "unproven" };
  return unlink(sql, provider);
}
