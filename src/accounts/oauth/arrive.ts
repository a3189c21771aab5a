import { FIRST_EPOCH } from "../account.ts";
import type { DirectoryEntry } from "../directory.ts";
import type { NewLink } from "../links.ts";
import type { Registration } from "../register.ts";
import type { KnownIdentity } from "./identities.ts";
import { LINK_TRIES, type LinkPorts, linkIdentity, newClaim } from "./link-identity.ts";
import type { Identity, ProviderProfile } from "./provider.ts";

export interface ArrivalPorts extends LinkPorts {
  findIdentity(identity: Identity): Promise<KnownIdentity | null>;
  findByEmail(email: string): Promise<DirectoryEntry | null>;
  /** Makes an account that has this verified address and this link from its first moment on. */
  register(account: { email: string; name: string | null }, link: NewLink): Promise<Registration>;
}

export type ProviderSignIn =
  | { ok: true; entry: DirectoryEntry; epoch: number; isNewUser: boolean }
  | { ok: false; reason: "unverified" | "busy" };

/**
 * Whose account somebody signs in to who comes from a provider: that of the identity, else that of the e-mail address if
 * the provider vouches for it, else a new one. Each step can be crossed by another sign-in, and by what a crash left;
 * then all is looked at anew.
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
