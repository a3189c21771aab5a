import { createHmac } from "node:crypto";
import { BASE62, ID_LENGTH, randomBase62 } from "../ids.ts";
import { CLAIM_WITHIN_MS, type NewAccount } from "./account.ts";
import type { AddressClaim, ClaimResult, DirectoryEntry } from "./directory.ts";
import { personalSlug, suffixedSlug } from "./email.ts";

/**
 * The id that stands for the account of an address that has none, where an account must be asked without its being told
 * from the answer's time whether there is one. Keyed, so that nobody can compute it; the same for the same address, as a
 * real one is. A byte modulo 62 is biased, which does not matter here: it is no secret and decides nothing.
 */
export function decoyUserId(email: string, pepper: string): string {
  const mac = createHmac("sha256", pepper).update("taffrail decoy user").update(email).digest();
  return `usr_${[...mac.subarray(0, ID_LENGTH)].map((byte) => BASE62.charAt(byte % BASE62.length)).join("")}`;
}

/** Characters that keep a taken slug apart: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/** What a personal workspace is called when its owner gave no name. */
const DEFAULT_WORKSPACE_NAME = "Personal";

/** The steps of a registration, each of which may be the last one before a crash. */
export interface RegistrationPorts {
  findByEmail(email: string): Promise<DirectoryEntry | null>;
  provisionUser(account: NewAccount): Promise<void>;
  provisionWorkspace(workspace: { id: string; name: string; ownerId: string }): Promise<void>;
  claimAddress(claim: AddressClaim): Promise<ClaimResult>;
  /** Takes both objects back. Best effort: the user object does the same by itself when this does not happen. */
  discard(userId: string, workspaceId: string): Promise<void>;
}

export type Registration = { ok: true; entry: DirectoryEntry } | { ok: false; reason: "taken" | "late" };

/**
 * Makes an account with its personal workspace. Both objects exist before the directory lists them, so whatever is
 * listed can be used, and whatever is not listed takes itself back: no crash leaves an address that nobody can use.
 * A step that throws leaves everything to that, for its outcome is not known.
 */
export async function register(ports: RegistrationPorts, account: NewAccount, now: number): Promise<Registration> {
  const { id: userId, email, name, workspaceId } = account;
  // Not what decides; it spares two objects for an address that is known to be taken.
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
