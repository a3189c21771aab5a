import { z } from "zod";
import type { ActivityItem } from "../accounts/activity.ts";
import { ACTIVITY_ACTIONS } from "../accounts/activity-actions.ts";
import { success } from "../http/envelope.ts";
import { numberCursor } from "../http/number-cursor.ts";
import { pageOf, pageQuery } from "../http/paging.ts";
import { resource } from "../http/resource.ts";
import { callUser } from "../objects/stubs.ts";
import { authLimit } from "./address-limits.ts";
import { accessClaims, refuseSession } from "./user-guard.ts";

const activitySchema = z.object({
  id: z.string().describe("Unique within the account."),
  at: z.iso.datetime(),
  action: z.string().describe(`One of ${ACTIVITY_ACTIONS.map((action) => `\`${action}\``).join(", ")}.`),
  sessionId: z.string().nullable().describe("The session that it was done in, or that began or ended."),
  address: z.string().nullable().describe("The client address as limits count it."),
  userAgent: z.string().nullable().describe("Of a sign-in, and of a reused refresh token."),
  requestId: z.string(),
  details: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe("`method` of a sign-in, `provider` of a link, `ended` and `unlinked` where several went at once."),
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
      "the password, of providers and of the address. The newest 1,000 of the last 365 days. Failed sign-ins are not in it:",
      "anybody can make them, and would push the rest out.",
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
