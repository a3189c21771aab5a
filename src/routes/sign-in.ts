import type { Context } from "hono";
import { z } from "zod";
import { mintAccessToken } from "../accounts/access-token.ts";
import { mintDeviceToken } from "../accounts/device-token.ts";
import type { DirectoryEntry } from "../accounts/directory.ts";
import type { SignInMethod } from "../accounts/families.ts";
import type { ProvenFamily } from "../accounts/proofs.ts";
import type { Profile, Session, SessionResult } from "../accounts/sessions.ts";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { clientAddress, originOf } from "../http/origin.ts";
import { newId } from "../ids.ts";
import { callUser } from "../objects/stubs.ts";

/** The client-facing user. */
export const userShape = z.object({ id: z.string(), email: z.string(), name: z.string().optional() });

/** What every way of signing in answers with. */
export const signedInShape = z.object({
  user: userShape,
  accessToken: z.string(),
  refreshToken: z.string(),
  deviceToken: z
    .string()
    .describe("Marks this device for later logins with the same address; see `POST /auth/login`. No credential."),
  personalWorkspace: z.object({ id: z.string(), slug: z.string() }),
});

export type SignedIn = z.output<typeof signedInShape>;

export interface VerifiedSignIn {
  entry: DirectoryEntry;
  /** The account's epoch at the time of what was verified; a session of an older one is refused. */
  epoch: number;
  method: SignInMethod;
  /** See `NewFamily`. */
  rotateWithinMs?: number;
}

/** Opens the session of a verified sign-in and answers with its tokens; null where the account moved on meanwhile. */
export async function signIn(
  c: Context<AppEnv>,
  verified: VerifiedSignIn,
  status: 200 | 201,
): Promise<Response | null> {
  const data = await startSession(c, verified);
  return data && signedInAnswer(c, data, status);
}

/** The session of a verified sign-in, for a way in that answers in another form. */
export async function startSession(c: Context<AppEnv>, verified: VerifiedSignIn): Promise<SignedIn | null> {
  const { entry, epoch, ...start } = verified;
  const family = { ...newFamily(c, start), epoch };
  const session = await callUser<SessionResult>(c.env, entry.userId, "replay-safe", (stub) =>
    stub.createSession(family, originOf(c)),
  );
  return session.ok ? signedIn(c, entry, family.id, session) : null;
}

/** A family for this request's caller; the epoch it is of is for whoever verified something to say. */
export function newFamily(c: Context<AppEnv>, start: Omit<VerifiedSignIn, "entry" | "epoch">): ProvenFamily {
  const { headers } = c.req.raw;
  return { id: newId("fam"), ...start, userAgent: headers.get("User-Agent"), ip: clientAddress(c) };
}

/** No account is ever in it: a mark of it marks nothing. */
const NO_EPOCH = -1;

/** What a sign-in answers with, once the user object has opened its session. */
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

/** The profile as clients get it: without a name where none was given. */
export function clientUser({ id, email, name }: Profile): z.output<typeof userShape> {
  return name === null ? { id, email } : { id, email, name };
}
