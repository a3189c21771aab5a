import { randomBase62 } from "../../ids.ts";
import { FIRST_EPOCH } from "../account.ts";
import type { DirectoryEntry } from "../directory.ts";
import type { NewLink } from "../links.ts";
import type { Registration } from "../register.ts";
import type { LinkAuthority, LinkBegun, LinkCompleted, LinkRefusal } from "./linking.ts";
import type { Identity, ProviderProfile } from "./provider.ts";

/**
 * The user and the attempt that claim an identity in the directory. Only the user object stores whether it is linked.
 */
export interface Holder {
  userId: string;
  claim: string;
}

/** `entry` is `null` if the directory no longer lists the user. */
export interface KnownIdentity extends Holder {
  entry: DirectoryEntry | null;
}

const FIND = `SELECT i.user_id AS userId, i.claim AS claim, w.id AS workspaceId, w.slug AS slug
  FROM oauth_identities i
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN workspaces w ON w.personal_of = u.id
  WHERE i.provider = ? AND i.subject = ?`;

export async function findIdentity(db: D1Database, { provider, subject }: Identity): Promise<KnownIdentity | null> {
  const row = await db
    .prepare(FIND)
    .bind(provider, subject)
    .first<Holder & { workspaceId: string | null; slug: string | null }>();
  if (!row) return null;
  const { userId, claim, workspaceId, slug } = row;
  const entry = workspaceId === null || slug === null ? null : { userId, workspaceId, slug };
  return { userId, claim, entry };
}

/** Claims an identity unless another user has claimed it. @returns the current holder */
export async function claimIdentity(
  db: D1Database,
  { provider, subject }: Identity,
  { userId, claim }: Holder,
  now: number,
): Promise<Holder> {
  const [, found] = await db.batch<Holder>([
    db
      .prepare(
        `INSERT INTO oauth_identities (provider, subject, user_id, claim, claimed_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (provider, subject) DO UPDATE SET claim = excluded.claim, claimed_at = excluded.claimed_at WHERE user_id = excluded.user_id`,
      )
      .bind(provider, subject, userId, claim, now),
    db
      .prepare("SELECT user_id AS userId, claim FROM oauth_identities WHERE provider = ? AND subject = ?")
      .bind(provider, subject),
  ]);
  const holder = found?.results[0];
  if (!holder) throw new Error("A batch lost the row it wrote.");
  return holder;
}

/** Deletes this claim only; a newer claim of the same identity stays. */
export async function releaseClaim(db: D1Database, { provider, subject }: Identity, claim: string): Promise<void> {
  await db
    .prepare("DELETE FROM oauth_identities WHERE provider = ? AND subject = ? AND claim = ?")
    .bind(provider, subject, claim)
    .run();
}

/** Number of characters of a claim: 131 bits, so that no two attempts share one. */
const CLAIM_LENGTH = 22;

/**
 * Attempts of an operation that a concurrent one on the same identity or account can disturb; each disturbance costs
 * one.
 */
export const LINK_TRIES = 4;

/** The steps of a link, each of which may be the last one before a crash. */
export interface LinkPorts {
  /** Begins the link, with every purge finished; throws if a purge cannot be finished. */
  beginLink(userId: string, link: NewLink, authority: LinkAuthority): Promise<LinkBegun>;
  claimIdentity(identity: Identity, holder: Holder): Promise<Holder>;
  completeLink(userId: string, link: NewLink): Promise<LinkCompleted>;
  linkedEpoch(userId: string, link: NewLink): Promise<number | null>;
  releaseClaim(identity: Identity, claim: string): Promise<void>;
}

export type LinkOutcome = { ok: true; epoch: number } | { ok: false; reason: LinkRefusal | "another user's" };

export function newClaim(): string {
  return randomBase62(CLAIM_LENGTH);
}

/**
 * Links an identity to an account: begins in the user object, claims in the directory, completes in the user object.
 * A crash leaves a claim without a link; the next request that finds it deletes it, here as in a sign-in.
 */
export async function linkIdentity(
  ports: LinkPorts,
  userId: string,
  { provider, subject }: Identity,
  authority: LinkAuthority,
): Promise<LinkOutcome> {
  const identity = { provider, subject };
  for (let tries = 0; tries < LINK_TRIES; tries++) {
    const begun = await ports.beginLink(userId, { ...identity, claim: newClaim() }, authority);
    if (!begun.ok) return begun;
    const { claim } = begun;
    const holder = await ports.claimIdentity(identity, { userId, claim });
    if (holder.userId === userId) {
      const completed = await ports.completeLink(userId, { ...identity, claim });
      if (completed.ok) return completed;
    } else {
      const held = await ports.linkedEpoch(holder.userId, { ...identity, claim: holder.claim });
      if (held !== null) return { ok: false, reason: "another user's" };
      await ports.releaseClaim(identity, holder.claim);
    }
  }
  return { ok: false, reason: "busy" };
}

export interface ArrivalPorts extends LinkPorts {
  findIdentity(identity: Identity): Promise<KnownIdentity | null>;
  findByEmail(email: string): Promise<DirectoryEntry | null>;
  /** Creates an account with this verified address and this link. */
  register(account: { email: string; name: string | null }, link: NewLink): Promise<Registration>;
}

export type ProviderSignIn =
  | { ok: true; entry: DirectoryEntry; epoch: number; isNewUser: boolean }
  | { ok: false; reason: "unverified" | "busy" };

/**
 * Finds or creates the account for a sign-in by a provider: the account of the identity, else that of the e-mail
 * address if the provider has verified it, else a new one. A concurrent sign-in or the rest of a crash can disturb each
 * step; then all steps are repeated.
 */
export async function resolveProviderSignIn(ports: ArrivalPorts, profile: ProviderProfile): Promise<ProviderSignIn> {
  const { provider, subject, email, name } = profile;
  const identity = { provider, subject };
  for (let tries = 0; tries < LINK_TRIES; tries++) {
    const known = await ports.findIdentity(identity);
    if (known) {
      const { userId, claim, entry } = known;
      const epoch = entry && (await ports.linkedEpoch(userId, { ...identity, claim }));
      if (entry && epoch !== null) return { ok: true, entry, epoch, isNewUser: false };
      await ports.releaseClaim(identity, claim);
    }
    if (email === null) return { ok: false, reason: "unverified" };
    const entry = await ports.findByEmail(email);
    if (entry) {
      const linked = await linkIdentity(ports, entry.userId, identity, { by: "email", email });
      if (linked.ok) return { ok: true, entry, epoch: linked.epoch, isNewUser: false };
      continue;
    }
    const registered = await ports.register({ email, name }, { ...identity, claim: newClaim() });
    if (registered.ok) return { ok: true, entry: registered.entry, epoch: FIRST_EPOCH, isNewUser: true };
  }
  return { ok: false, reason: "busy" };
}
