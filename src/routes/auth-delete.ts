import { z } from "zod";
import { passwordSchema } from "../accounts/password.ts";
import { success } from "../http/envelope.ts";
import { refuse, refuseFields } from "../http/errors.ts";
import { resource } from "../http/resource.ts";
import { callUser } from "../objects/stubs.ts";
import { authLimit } from "./address-limits.ts";
import { checkPassword } from "./password-check.ts";
import { accessClaims, refuseSession } from "./user-guard.ts";

export const authDelete = resource();

authDelete.route(
  {
    method: "DELETE",
    path: "/auth/me",
    operation: "auth.delete",
    tag: "Accounts",
    summary: "Delete the account",
    description: [
      "An account with a password has to show it; one without has to have signed in within the last 10 minutes.",
      "Every workspace that has no other owner goes with it, logs included, and so does the personal one. Memberships",
      "elsewhere end, and all API keys that the account made are refused from the next request on. All sessions end at",
      "once. The address can be registered anew.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ password: passwordSchema.optional() }),
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: ["VALIDATION_ERROR", "INVALID_CREDENTIALS", "FORBIDDEN", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [
    authLimit,
    async (c, next) => {
      await accessClaims(c);
      await next();
    },
  ],
  async (c, { body: { password } }) => {
    const { userId, sessionId } = c.get("user");
    const known = await callUser(c.env, userId, "replay-safe", (stub) => stub.credentialsIn(sessionId));
    if (!known) return refuseSession(c);
    let checkedEpoch: number | null = null;
    if (known.passwordHash !== null) {
      if (password === undefined) {
        return refuseFields([{ path: "password", code: "required", message: "The account has a password." }]);
      }
      const right = await checkPassword(c, known.email, password, async () => known);
      if (!right) return refuse("INVALID_CREDENTIALS", "The password is wrong.");
      checkedEpoch = known.epoch;
    }
    const verdict = await callUser(c.env, userId, "once", (stub) => stub.deleteAccount({ sessionId, checkedEpoch }));
    if (verdict === "dead") return refuseSession(c);
    if (verdict === "unproven") {
      return refuse("FORBIDDEN", "Sign in again, and delete the account within 10 minutes.");
    }
    return success({ deleted: true }, c.get("requestId"));
  },
);
