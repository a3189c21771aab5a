import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { resource } from "../http/resource.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { LIMIT_BOUNDS } from "../workspace/limit-rules.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { granted, workspaceGuard } from "./workspace-guard.ts";

const { limit, windowSeconds, product } = LIMIT_BOUNDS;

const limitSchema = z
  .strictObject({
    limit: z.int().min(limit.min).max(limit.max),
    windowSeconds: z.int().min(windowSeconds.min).max(windowSeconds.max).default(windowSeconds.default),
  })
  .refine((value) => value.limit * value.windowSeconds <= product, {
    error: `limit * windowSeconds must be at most ${product}.`,
    path: ["limit"],
  });

const configurationBody = z.strictObject({
  default: limitSchema.optional(),
  rules: z.array(z.never()).max(0).optional(),
});

const configurationSchema = z.object({
  default: limitSchema.nullable().describe("Null: the preset of 1,000 requests per 60 s applies."),
  rules: z.array(z.never()),
  live: z.array(
    z.object({
      identifier: z.string(),
      rule: z.string(),
      limit: z.int(),
      remaining: z.int(),
      resetAt: z.iso.datetime(),
    }),
  ),
});

async function configuration(c: Context<AppEnv>): Promise<Response> {
  const { userId } = c.get("user");
  const { limits, live } = await granted(
    c,
    await callWorkspace(c.env, c.get("workspaceId"), "replay-safe", (stub) => stub.rateLimits(userId)),
  );
  const items = live.map(({ resetAt, ...counter }) => ({ ...counter, resetAt: new Date(resetAt).toISOString() }));
  return success({ default: limits.default, rules: [], live: items }, c.get("requestId"));
}

export const workspaces = resource();

workspaces.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/rate-limits",
    operation: "limits.get",
    tag: "Limits",
    summary: "Get the rate-limit configuration and live counters",
    security: "accessToken",
    status: 200,
    response: configurationSchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ role: "viewer", from: "path" })],
  configuration,
);

workspaces.route(
  {
    method: "PUT",
    path: "/workspaces/:workspaceId/rate-limits",
    operation: "limits.set",
    tag: "Limits",
    summary: "Set the workspace's default limit",
    description: "Takes effect with the next request. Without `default` the preset applies again.",
    security: "accessToken",
    body: configurationBody,
    status: 200,
    response: configurationSchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ role: "admin", from: "path" })],
  async (c, { body }) => {
    const { userId } = c.get("user");
    await granted(
      c,
      await callWorkspace(c.env, c.get("workspaceId"), "replay-safe", (stub) =>
        stub.setDefaultLimit(userId, body.default ?? null),
      ),
    );
    return configuration(c);
  },
);
