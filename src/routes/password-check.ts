import type { Context } from "hono";
import { isCommonPassword } from "../accounts/common-passwords.ts";
import { emailObjectName } from "../accounts/email-object.ts";
import { ipPrefix, type LoginOutcome } from "../accounts/login-gate.ts";
import { verifyPassword } from "../accounts/password.ts";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { clientAddress } from "../http/origin.ts";
import { callAddress } from "../objects/stubs.ts";

/**
 * Checks a password against what `find` gives, and gives that back if it is right. Guesses are throttled by e-mail
 * address, known or not; whoever is let through costs exactly one derivation, whatever was found.
 * `deviceOf`, for a request with a genuine device token: the id of the device if the token marks what was found, which then
 * has a counter of its own.
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
  const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
  const prefix = ipPrefix(clientAddress(c));
  const verdict = await callAddress(c.env, name, "once", (stub) => stub.attemptLogin(prefix, device));
  if (!verdict.admitted) {
    const seconds = Math.max(1, Math.ceil(verdict.retryAfter / 1000));
    return refuse("RATE_LIMITED", "Too many requests", { headers: { "Retry-After": String(seconds) } });
  }
  let outcome: LoginOutcome = "undecided";
  try {
    const found = early ?? (await find());
    const right = await verifyPassword(password, found.passwordHash);
    outcome = right ? "succeeded" : "failed";
    return right ? found : null;
  } finally {
    await callAddress(c.env, name, "once", (stub) => stub.recordLoginOutcome(prefix, outcome, device));
  }
}

/** With PASSWORD_BLOCKLIST=on the commonest passwords are refused. */
export function refuseWeakPassword(c: Context<AppEnv>, password: string): void {
  if (c.get("settings").PASSWORD_BLOCKLIST === "off" || !isCommonPassword(password)) return;
  refuse("WEAK_PASSWORD", "This password is one of the commonest there are. Choose another one.");
}
