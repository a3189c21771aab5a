import type { Context } from "hono";
import type { Profile } from "../accounts/sessions.ts";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { callUser } from "../objects/stubs.ts";
import { refuseSession } from "./user-guard.ts";

/** The profile of a caller whose address is confirmed; ends the request for any other. Runs behind a guard of users. */
export async function verifiedUser(c: Context<AppEnv>): Promise<Profile> {
  const { userId, sessionId } = c.get("user");
  const profile = await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId));
  if (!profile) return refuseSession(c);
  return profile.emailVerified ? profile : refuse("EMAIL_NOT_VERIFIED", "Confirm your e-mail address first.");
}
