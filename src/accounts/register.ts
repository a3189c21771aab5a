import { createHmac } from "node:crypto";
import { BASE62, ID_LENGTH, randomBase62 } from "../ids.ts";
import { CLAIM_WITHIN_MS, type NewAccount } from "./account.ts";
import type { AddressClaim, ClaimResult, DirectoryEntry } from "./directory.ts";
import { personalSlug, suffixedSlug } from "./email.ts";

/**
 * Returns a decoy user id for an address without an account, so that the response time does not reveal whether an
 * account exists. Keyed, so that clients cannot compute it. An address always has the same one, like a real id. A byte
 * modulo 62 is biased, which is harmless here: the id is not secret and decides nothing.
 */
export function decoyUserId(email: string, pepper: string): string {
  const mac = createHmac("sha256", pepper).update("taffrail decoy user").update(email).digest();
  return `usr_${[...mac.subarray(0, ID_LENGTH)].map((byte) => BASE62.charAt(byte % BASE62.length)).join("")}`;
}

/** Number of random characters that make a taken slug unique: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/** Name of a personal workspace whose owner has no name. */
const DEFAULT_WORKSPACE_NAME = "Personal";

/** The steps of a registration, each of which may be the last one before a crash. */
export interface RegistrationPorts {
  findByEmail(email: string): Promise<DirectoryEntry | null>;
  provisionUser(account: NewAccount): Promise<void>;
  provisionWorkspace(workspace: { id: string; name: string; ownerId: string }): Promise<void>;
  claimAddress(claim: AddressClaim): Promise<ClaimResult>;
  /** Deletes both objects. Best effort: without it, the user object deletes both at `resolveAt`. */
  discard(userId: string, workspaceId: string): Promise<void>;
}

export type Registration = { ok: true; entry: DirectoryEntry } | { ok: false; reason: "taken" | "late" };

/**
 * Creates an account with its personal workspace. Both objects exist before the directory lists them. So everything
 * listed is usable, everything not listed deletes itself, and no crash leaves an address that cannot be used. If a step
 * throws, its outcome is unknown and the objects resolve the registration later.
 */
export async function register(ports: RegistrationPorts, account: NewAccount, now: number): Promise<Registration> {
  const { id: userId, email, name, workspaceId } = account;
  // The claim decides. This check only avoids creating two objects for an address that is known to be taken.
  if (await ports.findByEmail(email)) return { ok: false, reason: "taken" };
  const workspaceName = name ?? DEFAULT_WORKSPACE_NAME;
  await ports.provisionUser(account);
  await ports.provisionWorkspace({ id: workspaceId, name: workspaceName, ownerId: userId });
  const slug = personalSlug(name, email);
  const claimed = await ports.claimAddress({
    userId,
    email,
    workspaceId,
    workspaceName,
    slug,
    fallbackSlug: suffixedSlug(slug, randomBase62(SLUG_SUFFIX_LENGTH)),
    now,
    deadline: now + CLAIM_WITHIN_MS,
  });
  if (claimed.ok) return { ok: true, entry: { userId, workspaceId, slug: claimed.slug } };
  await ports.discard(userId, workspaceId);
  return claimed;
}
