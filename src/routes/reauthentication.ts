import type { Context } from "hono";
import { passwordSchema } from "../accounts/password.ts";
import type { Reauthentication } from "../accounts/reauthentication.ts";
import type { Credentials } from "../accounts/sessions.ts";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { callUser } from "../objects/stubs.ts";
import { checkPassword } from "./password-check.ts";
import { refuseSession } from "./user-guard.ts";

/** The member of a body by which a session that was signed in to longer ago shows whose it is. */
export const reauthenticationPassword = passwordSchema
  .optional()
  .describe("The current password. Not needed within 10 minutes of the sign-in of the session.");

/** For the description of a route that takes it. */
export const REAUTHENTICATION_NOTE =
  "Needs a session that was signed in to within the last 10 minutes (refreshing does not count), or the current `password` in the body; else 403 `REAUTHENTICATION_REQUIRED`.";

/** What the request of a signed-in user shows. A wrong password ends it, and counts as a failed login. */
export async function reauthenticationOf(c: Context<AppEnv>, password: string | undefined): Promise<Reauthentication> {
  const { userId, sessionId } = c.get("user");
  if (password === undefined) return { sessionId, checkedEpoch: null };
  const known = await callUser(c.env, userId, "replay-safe", (stub) => stub.credentialsIn(sessionId));
  if (!known) return refuseSession(c);
  return { sessionId, checkedEpoch: await checkedEpoch(c, known, password) };
}

/** The epoch of credentials whose password is the one given; a wrong one ends the request. */
export async function checkedEpoch(
  c: Context<AppEnv>,
  known: Credentials & { email: string },
  password: string,
): Promise<number> {
  const right = await checkPassword(c, known.email, password, async () => known);
  return right ? right.epoch : refuse("INVALID_CREDENTIALS", "The current password is wrong.");
}

export function refuseUnproven(): never {
  return refuse(
    "REAUTHENTICATION_REQUIRED",
    "This session was signed in to more than 10 minutes ago. Send the current password, or sign in again.",
  );
}
