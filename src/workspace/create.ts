import { slugify, suffixedSlug } from "../accounts/slug.ts";
import { randomBase62 } from "../ids.ts";
import type { WorkspaceClaim, WorkspaceClaimed } from "./listing.ts";
import { CLAIM_WITHIN_MS, type NewWorkspace } from "./provision.ts";

/** The slug of a workspace whose name has no letter or digit that a slug could keep. */
const FALLBACK_SLUG = "workspace";
/** Characters that keep a taken slug apart: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/** The steps of a creation, each of which may be the last one before a crash. */
export interface CreationPorts {
  provision(workspace: NewWorkspace): Promise<void>;
  claim(claim: WorkspaceClaim): Promise<WorkspaceClaimed>;
  confirm(workspaceId: string, slug: string): Promise<void>;
  /** Takes the object back. Best effort: it does the same by itself when this does not happen. */
  discard(workspaceId: string): Promise<void>;
}

export interface Creation {
  id: string;
  name: string;
  ownerId: string;
  /** The slug wanted and no other; null for one made from the name. */
  slug: string | null;
}

/**
 * Makes a shared workspace. The object exists before the directory lists it, so whatever is listed can be used; what is
 * not listed in time takes itself back.
 */
export async function createWorkspace(
  ports: CreationPorts,
  { id, name, ownerId, slug }: Creation,
  now: number,
): Promise<WorkspaceClaimed> {
  await ports.provision({ id, name, personal: false, ownerId, settles: true });
  const wanted = slug ?? (slugify(name) || FALLBACK_SLUG);
  const claimed = await ports.claim({
    id,
    name,
    ownerId,
    slug: wanted,
    fallbackSlug: slug === null ? suffixedSlug(wanted, randomBase62(SLUG_SUFFIX_LENGTH)) : null,
    now,
    deadline: now + CLAIM_WITHIN_MS,
  });
  if (claimed.ok) await ports.confirm(id, claimed.slug);
  else await ports.discard(id);
  return claimed;
}
