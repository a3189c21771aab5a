import type { Context } from "hono";
import { z } from "zod";
import { mintAccessToken } from "../accounts/access-token.ts";
import type { DirectoryEntry } from "../accounts/directory.ts";
import type { SignInMethod } from "../accounts/families.ts";
import type { Profile, SessionResult } from "../accounts/sessions.ts";
import { clientIp } from "../http/client-ip.ts";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { newId } from "../ids.ts";
import { callUser } from "../objects/stubs.ts";

/** The client-facing user. */
export const userShape = z.object({ id: z.string(), email: z.string(), name: z.string().optional() });

/** What every way of signing in answers with. */
export const signedInShape = z.object({
  user: userShape,
  accessToken: z.string(),
  refreshToken: z.string(),
  personalWorkspace: z.object({ id: z.string(), slug: z.string() }),
});

export interface VerifiedSignIn {
  entry: DirectoryEntry;
  /** The account's epoch at the time of what was verified; a session of an older one is refused. */
  epoch: number;
  method: SignInMethod;
}

/** Opens the session of a verified sign-in and answers with its tokens; null where the account moved on meanwhile. */
export async function signIn(
  c: Context<AppEnv>,
  { entry, epoch, method }: VerifiedSignIn,
  status: 200 | 201,
): Promise<Response | null> {
  const { userId, workspaceId, slug } = entry;
  const { headers } = c.req.raw;
  const sessionId = newId("fam");
  const family = { id: sessionId, epoch, method, userAgent: headers.get("User-Agent"), ip: clientIp(headers) };
  const session = await callUser<SessionResult>(c.env, userId, "replay-safe", (stub) => stub.createSession(family));
  if (!session.ok) return null;
  c.get("log").userId = userId;
  const accessToken = await mintAccessToken({ userId, sessionId }, c.get("settings"), Date.now());
  const data: z.output<typeof signedInShape> = {
    user: clientUser(session.profile),
    accessToken,
    refreshToken: session.refreshToken,
    personalWorkspace: { id: workspaceId, slug },
  };
  const response = success(data, c.get("requestId"), status);
  response.headers.set("Cache-Control", "no-store");
  return response;
}

/** The profile as clients get it: without a name where none was given. */
export function clientUser({ id, email, name }: Profile): z.output<typeof userShape> {
  return name === null ? { id, email } : { id, email, name };
}
