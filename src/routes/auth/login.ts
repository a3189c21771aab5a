import type { Context } from "hono";
import { z } from "zod";
import { FIRST_EPOCH } from "../../accounts/account.ts";
import { type DirectoryEntry, findByEmail } from "../../accounts/directory.ts";
import { emailSchema } from "../../accounts/email.ts";
import { type Device, openDeviceToken } from "../../accounts/login-throttle.ts";
import { hashPassword, passwordSchema } from "../../accounts/password.ts";
import { decoyUserId } from "../../accounts/register.ts";
import type { Profile } from "../../accounts/sessions.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { nameSchema } from "../../http/fields.ts";
import { resource } from "../../http/resource.ts";
import { callUser } from "../../rpc/call.ts";
import type { UserRpc } from "../../rpc/user.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import { checkPassword, refuseWeakPassword } from "../guards/password.ts";
import { accessClaims, refuseSession } from "../guards/user.ts";
import { openInvitation } from "../workspaces/shared.ts";
import { clientUser, signedInAnswer, signedInShape, signIn, signUp, startSession, userShape } from "./sign-in.ts";

export const auth = resource();

const TAG = "Accounts";

const RETRY_SOON = { headers: { "Retry-After": "1" } } as const;

auth.route(
  {
    method: "POST",
    path: "/auth/register",
    operation: "auth.register",
    tag: TAG,
    summary: "Register with e-mail and password",
    description:
      "Creates the account and its personal workspace, and signs in. A mail to confirm the address follows. With the token of an invitation that was mailed to the same address, the address is confirmed immediately.",
    security: "none",
    body: z.strictObject({
      email: emailSchema,
      password: passwordSchema,
      name: nameSchema.optional(),
      invitation: z
        .string()
        .optional()
        .describe("Token of an invitation. An invalid token, or one for another address, has no effect."),
    }),
    example: { email: EXAMPLE.email, password: EXAMPLE.password, name: "Ada" },
    status: 201,
    response: signedInShape.extend({
      emailVerified: z.literal(true).optional().describe("Present if the invitation has confirmed the address."),
    }),
    errors: ["VALIDATION_ERROR", "WEAK_PASSWORD", "EMAIL_ALREADY_EXISTS", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [authLimit],
  async (c, { body }) => {
    refuseWeakPassword(c, body.password);
    // Hashed before any lookup, so that the response time does not reveal whether the address is known.
    const passwordHash = await hashPassword(body.password);
    const emailVerified = body.invitation !== undefined && (await isInvited(c, body.invitation, body.email));
    const account = { email: body.email, name: body.name || null, passwordHash, emailVerified };
    const registration = await signUp(c.env, account, originOf(c));
    if (!registration.ok && registration.reason === "taken") {
      return refuse("EMAIL_ALREADY_EXISTS", "An account with this e-mail address already exists.");
    }
    const session =
      registration.ok && (await startSession(c, { ...registration, epoch: FIRST_EPOCH, method: "password" }));
    if (session) return signedInAnswer(c, emailVerified ? { ...session, emailVerified } : session, 201);
    return refuse("SERVICE_UNAVAILABLE", "The registration took too long. Try again.", RETRY_SOON);
  },
);

/** Whether this is the token of an open invitation that was mailed to this address. */
async function isInvited(c: Context<AppEnv>, token: string, email: string): Promise<boolean> {
  const invitation = await openInvitation(c, token);
  return invitation.ok && invitation.value.email === email;
}

auth.route(
  {
    method: "POST",
    path: "/auth/login",
    operation: "auth.login",
    tag: TAG,
    summary: "Sign in with e-mail and password",
    description: [
      "Every wrong combination gets the same response, whether or not the address has an account. After 10 failures for one",
      "address from one network, further attempts are refused for 30 seconds, then for twice as long each time, up to 15 minutes.",
      "A device that sends the `deviceToken` of its last sign-in to this account has a separate counter, so that",
      "failures of other clients do not lock it out. An expired or forged token, or one for another address, has no effect.",
    ].join(" "),
    security: "none",
    body: z.strictObject({
      email: emailSchema,
      password: passwordSchema,
      deviceToken: z
        .string()
        .optional()
        .describe("The token of the last sign-in on this device. A new password revokes it."),
    }),
    example: { email: EXAMPLE.email, password: EXAMPLE.password },
    status: 200,
    response: signedInShape,
    errors: ["VALIDATION_ERROR", "INVALID_CREDENTIALS", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [authLimit],
  async (c, { body }) => {
    const { REFRESH_PEPPER } = c.get("settings");
    const find = async () => {
      const entry = await findByEmail(c.env.DB, body.email);
      // An unknown address calls an object too (one without an account, which writes nothing), so that it takes as
      // long.
      const userId = entry?.userId ?? decoyUserId(body.email, REFRESH_PEPPER);
      const known = await callUser(c.env, userId, "replay-safe", (stub) => stub.credentials());
      return { entry, epoch: known?.epoch ?? null, passwordHash: known?.passwordHash ?? null };
    };
    const { deviceToken = "" } = body;
    const device = openDeviceToken(deviceToken, body.email, REFRESH_PEPPER, Date.now());
    const deviceOf = device && marker(device);
    const found = await checkPassword(c, body.email, body.password, find, deviceOf);
    const { entry, epoch } = found ?? {};
    const response = entry && epoch != null && (await signIn(c, { entry, epoch, method: "password" }, 200));
    return response || refuse("INVALID_CREDENTIALS", "The e-mail address or the password is wrong.");
  },
);

/** Whether the device has signed in to the account that was found, since its last new password. */
function marker({ userId, epoch, deviceId }: Device) {
  return (found: { entry: DirectoryEntry | null; epoch: number | null }): string | null =>
    found.entry?.userId === userId && found.epoch === epoch ? deviceId : null;
}

const profileShape = z.object({ user: userShape.extend({ emailVerified: z.boolean() }) });

/** Response with the profile of a session; refuses the request if the session has ended. */
async function profileAnswer(c: Context<AppEnv>, profile: Profile | null): Promise<Response> {
  if (!profile) return refuseSession(c);
  return success({ user: { ...clientUser(profile), emailVerified: profile.emailVerified } }, c.get("requestId"));
}

auth.route(
  {
    method: "GET",
    path: "/auth/me",
    operation: "auth.me",
    tag: TAG,
    summary: "Get the user of the access token",
    security: "accessToken",
    status: 200,
    response: profileShape,
    errors: ["UNAUTHORIZED", "INVALID_ACCESS_TOKEN", "ACCESS_TOKEN_EXPIRED", "SESSION_REVOKED", "RATE_LIMITED"],
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    // No guard, because one call answers both questions: whether the session is valid, and whose it is.
    return profileAnswer(c, await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId)));
  },
);

auth.route(
  {
    method: "PATCH",
    path: "/auth/me",
    operation: "auth.me.update",
    tag: TAG,
    summary: "Change the user's name",
    description: "Other members see the name, for example in invitations. `null` or an empty name removes it.",
    security: "accessToken",
    body: z.strictObject({ name: nameSchema.nullable() }),
    example: { name: "Ada Lovelace" },
    status: 200,
    response: profileShape,
    errors: ["VALIDATION_ERROR", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [
    authLimit,
    async (c, next) => {
      await accessClaims(c);
      await next();
    },
  ],
  async (c, { body }) => {
    const { userId, sessionId } = c.get("user");
    const name = body.name || null;
    const rename = (stub: UserRpc) => stub.rename(sessionId, name, originOf(c));
    return profileAnswer(c, await callUser(c.env, userId, "replay-safe", rename));
  },
);
