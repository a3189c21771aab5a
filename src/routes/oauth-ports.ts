import { findByEmail } from "../accounts/directory.ts";
import type { ArrivalPorts } from "../accounts/oauth/arrive.ts";
import { claimIdentity, findIdentity, releaseClaim } from "../accounts/oauth/identities.ts";
import type { Env } from "../env.ts";
import { callUser } from "../objects/stubs.ts";
import { signUp } from "./sign-up.ts";

/** The steps of signing in and of linking on the real objects and the real directory. */
export function arrivalPorts(env: Env): ArrivalPorts {
  return {
    findIdentity: (identity) => findIdentity(env.DB, identity),
    findByEmail: (email) => findByEmail(env.DB, email),
    register: (account, link) => signUp(env, { ...account, passwordHash: null, emailVerified: true }, link),
    beginLink: (userId, link, authority) =>
      callUser(env, userId, "replay-safe", (stub) => stub.beginLink(link, authority)),
    finishPurge: (userId) => callUser(env, userId, "replay-safe", (stub) => stub.finishPurge()),
    claimIdentity: (identity, holder) => claimIdentity(env.DB, identity, holder, Date.now()),
    completeLink: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.completeLink(link)),
    linkedEpoch: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.linkedEpoch(link)),
    releaseClaim: (identity, claim) => releaseClaim(env.DB, identity, claim),
  };
}
