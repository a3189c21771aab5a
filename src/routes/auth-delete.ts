import { z } from "zod";
import { success } from "../http/envelope.ts";
import { refuseFields } from "../http/errors.ts";
import { originOf } from "../http/origin.ts";
import { resource } from "../http/resource.ts";
import { callUser } from "../objects/stubs.ts";
import { authLimit } from "./address-limits.ts";
import { checkedEpoch, reauthenticationPassword, refuseUnproven } from "./reauthentication.ts";
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
      "An account with a password has to show it, wherever and whenever it signed in; one without has to have signed in",
      "within the last 10 minutes. Else 403 `REAUTHENTICATION_REQUIRED`, or 400 for a password that is missing in a session",
      "as fresh as that.",
      "Every workspace that has no other owner goes with it, logs included, and so does the personal one. Memberships",
      "elsewhere end, and all API keys that the account made are refused from the next request on. All sessions end at",
      "once. The address can be registered anew.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ password: reauthenticationPassword }),
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: [
      "VALIDATION_ERROR",
      "INVALID_CREDENTIALS",
      "REAUTHENTICATION_REQUIRED",
      "RATE_LIMITED",
      "SERVICE_UNAVAILABLE",
    ],
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
    if (password === undefined && known.passwordHash !== null) {
      if (!known.isFresh) return refuseUnproven();
      return refuseFields([{ path: "password", code: "required", message: "The account has a password." }]);
    }
    const shown = { sessionId, checkedEpoch: password === undefined ? null : await checkedEpoch(c, known, password) };
    const verdict = await callUser(c.env, userId, "once", (stub) => stub.deleteAccount(shown, originOf(c)));
    if (verdict === "dead") return refuseSession(c);
    if (verdict === "unproven") return refuseUnproven();
    return success({ deleted: true }, c.get("requestId"));
  },
);
