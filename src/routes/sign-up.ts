import type { NewAccount } from "../accounts/account.ts";
import { claimAddress, findByEmail } from "../accounts/directory.ts";
import { emailObjectName } from "../accounts/email-object.ts";
import type { NewLink } from "../accounts/links.ts";
import { type Registration, type RegistrationPorts, register } from "../accounts/register.ts";
import type { Env } from "../env.ts";
import { newId } from "../ids.ts";
import { callAddress, callUser, callWorkspace } from "../objects/stubs.ts";
import type { Origin } from "../platform/origin.ts";
import { settingsOf } from "../settings.ts";

/** Makes an account with its personal workspace: the one place where any way of signing up ends. */
export function signUp(
  env: Env,
  account: Omit<NewAccount, "id" | "workspaceId">,
  origin: Origin,
  link: NewLink | null = null,
): Promise<Registration> {
  return register(
    registrationPorts(env, origin, link),
    { ...account, id: newId("usr"), workspaceId: newId("ws") },
    Date.now(),
  );
}

/** The steps of a registration on the real objects and the real directory; with the identity it begins with, if any. */
export function registrationPorts(env: Env, origin: Origin, link: NewLink | null = null): RegistrationPorts {
  return {
    findByEmail: (email) => findByEmail(env.DB, email),
    provisionUser: async (account) => {
      const mails = !account.emailVerified && (await admitMail(env, account.email));
      await callUser(env, account.id, "replay-safe", (stub) => stub.provision(account, link, mails, origin));
    },
    provisionWorkspace: (workspace) =>
      callWorkspace(env, workspace.id, "replay-safe", (stub) =>
        stub.provision({ ...workspace, personal: true }, origin),
      ),
    claimAddress: (claim) => claimAddress(env.DB, claim, link),
    // The workspace first: the user object is what remembers it, and finishes this if it is cut short.
    discard: async (userId, workspaceId) => {
      try {
        await callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.destroy(origin));
        await callUser(env, userId, "replay-safe", (stub) => stub.discard());
      } catch {
        // The user object's alarm does the same; the caller's answer does not depend on it.
      }
    },
  };
}

/** Counted where the address is known, as the account may be deleted and made anew any number of times. */
function admitMail(env: Env, email: string): Promise<boolean> {
  const name = emailObjectName(email, settingsOf(env).REFRESH_PEPPER);
  return callAddress(env, name, "once", (stub) => stub.admitRegistrationMail());
}
