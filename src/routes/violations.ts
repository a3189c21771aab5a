import { z } from "zod";
import { success } from "../http/envelope.ts";
import { refuseFields } from "../http/errors.ts";
import { pageOf, pageQuery } from "../http/paging.ts";
import { resource } from "../http/resource.ts";
import type { Violation } from "../limits/violation.ts";
import { listViolations, type ViolationCursor } from "../limits/violation-store.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { workspaceGuard } from "./workspace-guard.ts";

const violationSchema = z.object({
  identifier: z.string().describe("`key:<keyId>` or `user:<userId>`."),
  rule: z.string().describe("Method and path of the rule, `default`, or `API_DEFAULT`."),
  limit: z.int(),
  windowSeconds: z.int(),
  count: z.int().describe("Requests refused within the minute."),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});

function violationData(violation: Violation): z.output<typeof violationSchema> {
  const { identifier, rule, limit, windowSeconds, count, firstAt, lastAt } = violation;
  const times = { firstAt: new Date(firstAt).toISOString(), lastAt: new Date(lastAt).toISOString() };
  return { identifier, rule, limit, windowSeconds, count, ...times };
}

const CURSOR = /^(\d{1,15})\.([\w-]{1,40})$/;

function cursorOf(text: string | undefined): ViolationCursor | null {
  if (text === undefined) return null;
  const [, firstAt, id] = CURSOR.exec(text) ?? [];
  if (firstAt !== undefined && id !== undefined) return { firstAt: Number(firstAt), id };
  return refuseFields([{ path: "query.cursor", code: "invalid_format", message: "No page gave this cursor." }]);
}

export const violations = resource();

violations.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/violations",
    operation: "violations.list",
    tag: "Limits",
    summary: "List requests that a limit refused",
    description:
      "Newest first, one item per identifier, rule and minute, for 30 days. A refusal is listed some seconds after it.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(violationSchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "violations.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const page = await listViolations(c.env.DB, c.get("workspaceId"), cursorOf(cursor), limit, Date.now());
    const nextCursor = page.next && `${page.next.firstAt}.${page.next.id}`;
    return success({ items: page.items.map(violationData), nextCursor }, c.get("requestId"));
  },
);
