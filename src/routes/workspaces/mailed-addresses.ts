import type { Context } from "hono";
import { z } from "zod";
import { type AddressAnswer, UNKNOWN_ADDRESS_LINK } from "../../alerts/notifications/confirmations.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { resource } from "../../http/resource.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { publicLimit } from "../guards/address.ts";
import { resultOf } from "../guards/workspace.ts";
import { NOTIFICATIONS_TAG } from "./destination-shapes.ts";
import { openInvitationToken } from "./shared.ts";

/** Routes for holders of addresses that are no members: they confirm and stop notifications by a mailed link. */
export const mailedAddresses = resource();

const addressShape = z.object({
  workspace: z.string().describe("Its name, a text of a user."),
  destination: z.string().describe("Its name, a text of a user."),
  email: z.string(),
  state: z.enum(["unconfirmed", "confirmed", "stopped"]),
});

const ROUTES = [
  ["look", "open", "Get what a mailed link is about", "Changes nothing."],
  ["confirm", "confirm", "Confirm an address", "Notifications are mailed to it from now on."],
  ["stop", "stop", "Stop mails to an address", "Members cannot start them again."],
] as const satisfies readonly (readonly [AddressAnswer, string, string, string])[];

for (const [answer, path, summary, description] of ROUTES) {
  mailedAddresses.route(
    {
      method: "POST",
      path: `/destinations/${path}`,
      operation: `destination.address-${path}`,
      tag: NOTIFICATIONS_TAG,
      summary,
      description: `For the holder of the mailed token, without an account. ${description}`,
      security: "none",
      body: z.strictObject({ token: z.string() }),
      example: { token: EXAMPLE.invitationToken },
      status: 200,
      response: addressShape,
      errors: ["VALIDATION_ERROR", "INVALID_TOKEN", "TOKEN_EXPIRED", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
    },
    [publicLimit],
    async (c, { body: { token } }) => {
      const response = success(await resultOf(c, await answered(c, token, answer)), c.get("requestId"));
      response.headers.set("Cache-Control", "no-store");
      return response;
    },
  );
}

async function answered(c: Context<AppEnv>, token: string, answer: AddressAnswer) {
  const opened = openInvitationToken(token);
  if (!opened) return UNKNOWN_ADDRESS_LINK;
  const { workspaceId, hash } = opened;
  const origin = originOf(c);
  return callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.answerAddress(hash, answer, origin));
}
