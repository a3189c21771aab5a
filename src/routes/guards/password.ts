import type { Context } from "hono";
import { isCommonPassword } from "../../accounts/common-passwords.ts";
import { emailObjectName } from "../../accounts/email.ts";
import { ipPrefix, type LoginOutcome } from "../../accounts/login-throttle.ts";
import { passwordSchema, verifyPassword } from "../../accounts/password.ts";
import type { Credentials, Reauthentication } from "../../accounts/sessions.ts";
import { type AppEnv, clientAddress } from "../../http/context.ts";
import { refuse, refuseTooMany } from "../../http/errors.ts";
import { callAddress, callUser } from "../../rpc/call.ts";
import { refuseSession } from "./user.ts";

/**
 * Checks a password against the result of `find`, and returns that result if the password is right, else `null`.
 * Guesses are throttled by e-mail address, known or unknown. An admitted attempt costs exactly one derivation, whatever
 * is found.
 * @param deviceOf for a request with a genuine device token: returns the id of the device if the token is for the
 * result of `find`; that device has a separate counter of failures
 * @throws ApiError RATE_LIMITED with `Retry-After` in seconds
 */
export async function checkPassword<F extends { passwordHash: string | null }>(
  c: Context<AppEnv>,
  email: string,
  password: string,
  find: () => Promise<F>,
  deviceOf: ((found: F) => string | null) | null = null,
): Promise<F | null> {
  const early = deviceOf && (await find());
  const device = early && deviceOf ? deviceOf(early) : null;
  return throttled(c, email, device, async () => {
    const found = early ?? (await find());
    return (await verifyPassword(password, found.passwordHash)) ? found : null;
  });
}

/**
 * Runs one login attempt under the throttle of the e-mail address and records its outcome: `null` is a failure, a throw
 * decides nothing. The only caller of `attemptLogin` and `recordLoginOutcome`, so that no attempt is left open.
 */
async function throttled<T>(
  c: Context<AppEnv>,
  email: string,
  device: string | null,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
  const prefix = ipPrefix(clientAddress(c));
  const verdict = await callAddress(c.env, name, "once", (stub) => stub.attemptLogin(prefix, device));
  if (!verdict.admitted) {
    return refuseTooMany("Too many failed sign-ins with this e-mail address.", verdict.retryAfter);
  }
  let outcome: LoginOutcome = "undecided";
  try {
    const result = await attempt();
    outcome = result === null ? "failed" : "succeeded";
    return result;
  } finally {
    await callAddress(c.env, name, "once", (stub) => stub.recordLoginOutcome(prefix, outcome, device));
  }
}

/** Refuses the commonest passwords if PASSWORD_BLOCKLIST is on. */
export function refuseWeakPassword(c: Context<AppEnv>, password: string): void {
  if (c.get("settings").PASSWORD_BLOCKLIST === "off" || !isCommonPassword(password)) return;
  refuse("WEAK_PASSWORD", "This password is too common. Choose another one.");
}

/** Body member that reauthenticates a session that is not fresh. */
export const reauthenticationPassword = passwordSchema
  .optional()
  .describe("The current password. Not required within 10 minutes after the session's sign-in.");

/** For the description of a route with this member. */
export const REAUTHENTICATION_NOTE =
  "Requires a session whose sign-in is at most 10 minutes old (refreshes do not count), or the current `password` in the body. Otherwise 403 `REAUTHENTICATION_REQUIRED`.";

/** Returns what the request presents as reauthentication. A wrong password ends it and counts as a failed login. */
export async function reauthenticationOf(c: Context<AppEnv>, password: string | undefined): Promise<Reauthentication> {
  const { userId, sessionId } = c.get("user");
  if (password === undefined) return { sessionId, checkedEpoch: null };
  const known = await callUser(c.env, userId, "replay-safe", (stub) => stub.credentialsIn(sessionId));
  if (!known) return refuseSession(c);
  return { sessionId, checkedEpoch: await checkedEpoch(c, known, password) };
}

/** Returns the epoch of the credentials if the password matches; a wrong one ends the request. */
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
    "The sign-in of this session is older than 10 minutes. Send the current password, or sign in again.",
  );
}
