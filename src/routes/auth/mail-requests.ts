import type { Context } from "hono";
import { z } from "zod";
import { emailObjectName, emailSchema } from "../../accounts/email.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import type { ErrorCode } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import type { TokenMailKind } from "../../mail/mail.ts";
import { callAddress, callUser } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import { accessClaims, refuseSession } from "../guards/user.ts";

/** Requests for a mail with a link. The response is the same for every address. */
export const authMailRequests = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];

const addressBody = z.strictObject({ email: emailSchema });
const messageShape = z.object({ message: z.string() });

const ON_ITS_WAY = {
  "magic-link": "If the address can receive mail, a sign-in link is on its way.",
  "reset-password": "If there is an account with this address, a link to set a new password is on its way.",
  "verify-email": "If the address is not confirmed yet, a link to confirm it is on its way.",
} as const satisfies Record<TokenMailKind, string>;

authMailRequests.route(
  {
    method: "POST",
    path: "/auth/magic-link",
    operation: "auth.magic-link.request",
    tag: TAG,
    summary: "Request a sign-in link by mail",
    description:
      "The response is the same for every address. An address without an account gets one when the link is used.",
    security: "none",
    body: addressBody,
    example: { email: EXAMPLE.email },
    status: 200,
    response: messageShape,
    errors: ["VALIDATION_ERROR", ...LIMITED],
  },
  [authLimit],
  (c, { body }) => askForMail(c, "magic-link", body.email),
);

authMailRequests.route(
  {
    method: "POST",
    path: "/auth/verify-email/resend",
    operation: "auth.verify-email.resend",
    tag: TAG,
    summary: "Request another mail to confirm the address",
    security: "accessToken",
    status: 200,
    response: messageShape,
    errors: LIMITED,
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const profile = await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId));
    return profile ? askForMail(c, "verify-email", profile.email) : refuseSession(c);
  },
);

authMailRequests.route(
  {
    method: "POST",
    path: "/auth/forgot-password",
    operation: "auth.password.forgot",
    tag: TAG,
    summary: "Request a link to set a new password",
    description: "The response is the same for every address.",
    security: "none",
    body: addressBody,
    example: { email: EXAMPLE.email },
    status: 200,
    response: messageShape,
    errors: ["VALIDATION_ERROR", ...LIMITED],
  },
  [authLimit],
  (c, { body }) => askForMail(c, "reset-password", body.email),
);

/** Makes the same call for every address. The address object looks up the account after the response. */
async function askForMail(c: Context<AppEnv>, kind: TokenMailKind, email: string): Promise<Response> {
  const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
  await callAddress(c.env, name, "once", (stub) => stub.requestMail(kind, email, originOf(c)));
  return success({ message: ON_ITS_WAY[kind] }, c.get("requestId"));
}
