import { findByEmail } from "../accounts/directory.ts";
import type { ArrivalPorts } from "../accounts/oauth/arrive.ts";
import { claimIdentity, findIdentity, releaseClaim } from "../accounts/oauth/identities.ts";
import type { Env } from "../env.ts";
import { refuse } from "../http/errors.ts";
import { callUser } from "../objects/stubs.ts";
import type { Origin } from "../platform/origin.ts";
import { signUp } from "./sign-up.ts";

/** Seconds after which a purge that was held up is tried again by the account itself. */
const RETRY_LATER = { headers: { "Retry-After": "30" } } as const;

/** The steps of signing in and of linking on the real objects and the real directory. */
export function arrivalPorts(env: Env, origin: Origin): ArrivalPorts {
  return {
    findIdentity: (identity) => findIdentity(env.DB, identity),
    findByEmail: (email) => findByEmail(env.DB, email),
    register: (account, link) => signUp(env, { ...account, passwordHash: null, emailVerified: true }, origin, link),
    beginLink: (userId, link, authority) =>
      callUser(env, userId, "replay-safe", (stub) => stub.beginLink(link, authority, origin)),
    finishPurge: async (userId) => {
      if (await callUser(env, userId, "replay-safe", (stub) => stub.finishPurge(origin))) return;
      refuse("SERVICE_UNAVAILABLE", "The account is not ready yet. Please sign in again in a minute.", RETRY_LATER);
    },
    claimIdentity: (identity, holder) => claimIdentity(env.DB, identity, holder, Date.now()),
    completeLink: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.completeLink(link, origin)),
    linkedEpoch: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.linkedEpoch(link)),
    releaseClaim: (identity, claim) => releaseClaim(env.DB, identity, claim),
  };
}
