import { z } from "zod";
import type { ActivityItem } from "../../accounts/activity.ts";
import { ACTIVITY_ACTIONS } from "../../accounts/activity-actions.ts";
import { originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuseFields } from "../../http/errors.ts";
import { numberCursor, pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { callUser } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import { checkedEpoch, reauthenticationPassword, refuseUnproven } from "../guards/password.ts";
import { accessClaims, refuseSession } from "../guards/user.ts";

const activitySchema = z.object({
  id: z.string().describe("Unique within the account."),
  at: z.iso.datetime(),
  action: z.string().describe(`One of ${ACTIVITY_ACTIONS.map((action) => `\`${action}\``).join(", ")}.`),
  sessionId: z.string().nullable().describe("The session of the request, or the session that began or ended."),
  address: z.string().nullable().describe("The client IP as limits count it."),
  userAgent: z.string().nullable().describe("For a sign-in, and for a reused refresh token."),
  requestId: z.string(),
  details: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe(
      "`method` of a sign-in, `provider` of a link, the new `name`, `ended` and `unlinked` if several were removed at once.",
    ),
});

function activityData({ num, at, ...item }: ActivityItem): z.output<typeof activitySchema> {
  return { id: `act_${num}`, at: new Date(at).toISOString(), ...item };
}

export const authActivity = resource();

authActivity.route(
  {
    method: "GET",
    path: "/auth/me/activity",
    operation: "auth.activity.list",
    tag: "Accounts",
    summary: "The account's sign-ins and changes",
    description: [
      "Newest first: sign-ins with method, address and user agent, sessions that ended, refresh tokens used twice, changes of",
      "the name, of the password, of providers and of the address. The newest 1,000 of the last 365 days. Failed sign-ins are not listed,",
      "because unauthenticated clients can cause them and would push out the rest.",
    ].join("\n"),
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(activitySchema),
    errors: ["VALIDATION_ERROR", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [
    authLimit,
    async (c, next) => {
      await accessClaims(c);
      await next();
    },
  ],
  async (c, { query: { cursor, limit } }) => {
    const { userId, sessionId } = c.get("user");
    const before = numberCursor(cursor);
    const page = await callUser(c.env, userId, "replay-safe", (stub) => stub.activity(sessionId, before, limit));
    if (page === null) return refuseSession(c);
    const nextCursor = page.next === null ? null : `${page.next}`;
    return success({ items: page.items.map(activityData), nextCursor }, c.get("requestId"));
  },
);

export const authDelete = resource();

authDelete.route(
  {
    method: "DELETE",
    path: "/auth/me",
    operation: "auth.delete",
    tag: "Accounts",
    summary: "Delete the account",
    description: [
      "An account with a password requires the password, also in a fresh session; an account without one requires a sign-in",
      "within the last 10 minutes. Otherwise 403 `REAUTHENTICATION_REQUIRED`, or 400 if the session is fresh and a required",
      "password is missing.",
      "Deletes the personal workspace and every workspace without another owner, logs included. Memberships elsewhere end,",
      "and all API keys that the account created are refused from the next request on. All sessions end",
      "immediately. The address can be registered again.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ password: reauthenticationPassword }),
    example: { password: EXAMPLE.password },
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
