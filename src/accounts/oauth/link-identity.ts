import { randomBase62 } from "../../ids.ts";
import type { NewLink } from "../links.ts";
import type { Holder } from "./identities.ts";
import type { LinkAuthority, LinkBegun, LinkCompleted, LinkRefusal } from "./linking.ts";
import type { Identity } from "./provider.ts";

/** Characters of a claim: 131 bits, so that no two attempts ever share one. */
const CLAIM_LENGTH = 22;

/** Tries of an operation that another one of the same identity or account can cross; each crossing costs one. */
export const LINK_TRIES = 4;

/** The steps of a link, each of which may be the last one before a crash. */
export interface LinkPorts {
  beginLink(userId: string, link: NewLink, authority: LinkAuthority): Promise<LinkBegun>;
  /** Ends what a purge left to do outside the user object. */
  finishPurge(userId: string): Promise<void>;
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
 * Links an identity to an account: begun in the user object, claimed in the directory, completed in the user object.
 * A crash leaves a claim that nobody holds; the next who meets it takes it away, here as in a sign-in.
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
    if (begun.unfinishedPurge) await ports.finishPurge(userId);
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
