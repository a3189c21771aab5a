import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { originOf } from "../http/origin.ts";
import { type Resource, resource } from "../http/resource.ts";
import type { LimitConfiguration } from "../limits/cascade.ts";
import type { RoutePaths } from "../limits/route-path.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { NO_LIMITS } from "../workspace/limit-rules.ts";
import { limitsBody, limitsSchema } from "./limit-schema.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { unwrapAnswer, workspaceGuard } from "./workspace-guard.ts";

const COMMON = {
  path: "/workspaces/:workspaceId/rate-limits",
  tag: "Limits",
  security: "accessToken",
  status: 200,
  response: limitsSchema,
  errors: WORKSPACE_ERRORS,
} as const;

/** @param paths the routes that a rule may name */
export function rateLimits(paths: () => RoutePaths): Resource {
  const routes = resource();
  routes.route(
    {
      ...COMMON,
      method: "GET",
      operation: "limits.get",
      summary: "Get the rate-limit configuration and live counters",
    },
    [workspaceGuard({ action: "limits.get", from: "path" })],
    configuration,
  );
  routes.route(
    {
      ...COMMON,
      method: "PUT",
      operation: "limits.set",
      summary: "Set the workspace's rate limits",
      description: [
        "Replaces the whole configuration and takes effect with the next request. Highest priority first: a rule for the",
        "request's method and path, one for `*` and its path, `default`, the preset of 1,000 per 60 s. A literal path beats",
        "a pattern. Each rule counts by itself. These settings routes always fall under the preset.",
      ].join("\n"),
      body: limitsBody(paths),
    },
    [workspaceGuard({ action: "limits.set", from: "path" })],
    (c, { body }) => replaceLimits(c, { default: body.default ?? null, rules: body.rules }),
  );
  routes.route(
    {
      ...COMMON,
      method: "DELETE",
      operation: "limits.delete",
      summary: "Remove the workspace's rate limits",
      description: "The preset applies again, from the next request on.",
    },
    [workspaceGuard({ action: "limits.set", from: "path" })],
    (c) => replaceLimits(c, NO_LIMITS),
  );
  return routes;
}

async function replaceLimits(c: Context<AppEnv>, limits: LimitConfiguration): Promise<Response> {
  const { userId } = c.get("user");
  await unwrapAnswer(
    c,
    await callWorkspace(c.env, c.get("workspaceId"), "replay-safe", (stub) =>
      stub.setLimits(userId, limits, originOf(c)),
    ),
  );
  c.get("log").rules = limits.rules.length;
  return configuration(c);
}

async function configuration(c: Context<AppEnv>): Promise<Response> {
  const { userId } = c.get("user");
  const { limits, live } = await unwrapAnswer(
    c,
    await callWorkspace(c.env, c.get("workspaceId"), "replay-safe", (stub) => stub.rateLimits(userId)),
  );
  const items = live.map(({ resetAt, ...counter }) => ({ ...counter, resetAt: new Date(resetAt).toISOString() }));
  return success({ ...limits, live: items }, c.get("requestId"));
}
