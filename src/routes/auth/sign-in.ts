import type { Context } from "hono";
import { z } from "zod";
import { mintAccessToken } from "../../accounts/access-token.ts";
import type { NewAccount } from "../../accounts/account.ts";
import { claimAddress, type DirectoryEntry, findByEmail } from "../../accounts/directory.ts";
import { emailObjectName } from "../../accounts/email.ts";
import type { SignInMethod } from "../../accounts/families.ts";
import type { NewLink } from "../../accounts/links.ts";
import { mintDeviceToken } from "../../accounts/login-throttle.ts";
import type { ProvenFamily } from "../../accounts/proofs.ts";
import { type Registration, type RegistrationPorts, register } from "../../accounts/register.ts";
import type { Profile, Session, SessionResult } from "../../accounts/sessions.ts";
import type { Env } from "../../env.ts";
import { type AppEnv, clientAddress, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { newId } from "../../ids.ts";
import type { Origin } from "../../platform/origin.ts";
import { callAddress, callUser, callWorkspace } from "../../rpc/call.ts";
import { settingsOf } from "../../settings.ts";

/** The user as clients see it. */
export const userShape = z.object({ id: z.string(), email: z.string(), name: z.string().optional() });

/** The response of every sign-in. */
export const signedInShape = z.object({
  user: userShape,
  accessToken: z.string(),
  refreshToken: z.string(),
  deviceToken: z
    .string()
    .describe(
      "Identifies this device at later logins with the same address; see `POST /auth/login`. It is not a credential.",
    ),
  personalWorkspace: z.object({ id: z.string(), slug: z.string() }),
});

export type SignedIn = z.output<typeof signedInShape>;

export interface VerifiedSignIn {
  entry: DirectoryEntry;
  /** The account's epoch when the credentials were verified; a session of an older epoch is refused. */
  epoch: number;
  method: SignInMethod;
  /** See `NewFamily`. */
  rotateWithinMs?: number;
}

/** Opens the session of a verified sign-in and returns its tokens; `null` if the account has changed since. */
export async function signIn(
  c: Context<AppEnv>,
  verified: VerifiedSignIn,
  status: 200 | 201,
): Promise<Response | null> {
  const data = await startSession(c, verified);
  return data && signedInAnswer(c, data, status);
}

/** Opens the session of a verified sign-in, for a route with another response. */
export async function startSession(c: Context<AppEnv>, verified: VerifiedSignIn): Promise<SignedIn | null> {
  const { entry, epoch, ...start } = verified;
  const family = { ...newFamily(c, start), epoch };
  const session = await callUser<SessionResult>(c.env, entry.userId, "replay-safe", (stub) =>
    stub.createSession(family, originOf(c)),
  );
  return session.ok ? signedIn(c, entry, family.id, session) : null;
}

/** Returns a new family for this request's client, without the epoch, which depends on what was verified. */
export function newFamily(c: Context<AppEnv>, start: Omit<VerifiedSignIn, "entry" | "epoch">): ProvenFamily {
  const { headers } = c.req.raw;
  return { id: newId("fam"), ...start, userAgent: headers.get("User-Agent"), ip: clientAddress(c) };
}

/** A user id without an account. A device token with it is valid nowhere. */
const NO_EPOCH = -1;

/** Builds the response of a sign-in after the user object has opened its session. */
export async function signedIn(
  c: Context<AppEnv>,
  { userId, workspaceId, slug }: DirectoryEntry,
  sessionId: string,
  { profile, refreshToken, epoch = NO_EPOCH }: Session,
): Promise<SignedIn> {
  c.get("log").userId = userId;
  const settings = c.get("settings");
  const now = Date.now();
  const accessToken = await mintAccessToken({ userId, sessionId }, settings, now);
  const deviceToken = mintDeviceToken({ userId, email: profile.email, epoch }, settings.REFRESH_PEPPER, now);
  const personalWorkspace = { id: workspaceId, slug };
  return { user: clientUser(profile), accessToken, refreshToken, deviceToken, personalWorkspace };
}

export function signedInAnswer<D extends SignedIn>(c: Context<AppEnv>, data: D, status: 200 | 201): Response {
  const response = success(data, c.get("requestId"), status);
  response.headers.set("Cache-Control", "no-store");
  return response;
}

/** Returns the profile as clients see it: without a name if the user gave none. */
export function clientUser({ id, email, name }: Profile): z.output<typeof userShape> {
  return name === null ? { id, email } : { id, email, name };
}

/** Creates an account with its personal workspace. All ways of signing up end here. */
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

/** The steps of a registration on the real objects and the real directory, with its first identity if any. */
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
    // The workspace first: the user object stores its id, and finishes the deletion if it is interrupted.
    discard: async (userId, workspaceId) => {
      try {
        await callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.destroy(origin));
        await callUser(env, userId, "replay-safe", (stub) => stub.discard());
      } catch {
        // The user object's alarm repeats this; the response does not depend on it.
      }
    },
  };
}

/** Counted in the address object, because an account may be deleted and created again any number of times. */
function admitMail(env: Env, email: string): Promise<boolean> {
  const name = emailObjectName(email, settingsOf(env).REFRESH_PEPPER);
  return callAddress(env, name, "once", (stub) => stub.admitRegistrationMail());
}
