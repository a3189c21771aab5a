import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuseFields } from "../../http/errors.ts";
import { pageOf, pageQuery } from "../../http/paging.ts";
import { type Resource, resource } from "../../http/resource.ts";
import { type LimitConfiguration, normalizePath, RoutePaths, RULE_METHODS } from "../../limits/cascade.ts";
import { listViolations, type Violation, type ViolationCursor } from "../../limits/violations.ts";
import { LIMIT_BOUNDS, NO_LIMITS } from "../../workspace/settings.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const { limit, windowSeconds, product, rules, path } = LIMIT_BOUNDS;

/** Groups that count in a workspace. Rules cannot limit routes outside them. */
const GROUPS = /^\/(logger|projects|workspaces)(\/|$)/;

/** The paths of all routes that a rule may name. */
export function limitedPaths(resources: readonly Resource[]): RoutePaths {
  // Routes without a caller count by client IP.
  const counted = resources.flatMap(({ specs }) => specs.filter(({ security }) => security !== "none"));
  const patterns = counted.map((spec) => spec.path);
  return new RoutePaths(patterns.filter((pattern) => GROUPS.test(pattern)));
}

const limitShape = {
  limit: z.int().min(limit.min).max(limit.max),
  windowSeconds: z.int().min(windowSeconds.min).max(windowSeconds.max).default(windowSeconds.default),
};

const bounded = {
  check: (value: { limit: number; windowSeconds: number }) => value.limit * value.windowSeconds <= product,
  params: { error: `limit * windowSeconds must be at most ${product}.`, path: ["limit"] },
};

const limitSchema = z.strictObject(limitShape).refine(bounded.check, bounded.params);

const ruleSchema = z.strictObject({
  method: z.enum(RULE_METHODS),
  path: z.string().max(path).describe("A route pattern (`/logger/:id/log`) or a literal path (`/logger/proj_x/log`)."),
  ...limitShape,
});

/** @param paths called with the first body, because not all routes exist while this one is defined */
export function limitsBody(paths: () => RoutePaths) {
  const known = ruleSchema
    .refine((rule) => paths().has(rule.path), {
      error: "No route of /logger, /projects or /workspaces has this path.",
      path: ["path"],
    })
    .refine(bounded.check, bounded.params);
  return z
    .strictObject({
      default: limitSchema
        .nullish()
        .describe("Applies to requests that match no rule. Without it, the preset of 1,000 per 60 s applies."),
      rules: z.array(known).max(rules).default([]),
    })
    .superRefine((body, context) => {
      const seen = new Map<string, number>();
      body.rules.forEach((rule, index) => {
        const name = `${rule.method} ${normalizePath(rule.path)}`;
        const first = seen.get(name);
        if (first === undefined) seen.set(name, index);
        else {
          const message = `rules.${first} has the same method and path; names of parameters do not matter.`;
          context.addIssue({ code: "custom", path: ["rules", index, "path"], message });
        }
      });
    });
}

export const limitsSchema = z.object({
  default: limitSchema.nullable().describe("`null` if the preset of 1,000 requests per 60 s applies."),
  rules: z.array(ruleSchema),
  live: z
    .array(
      z.object({
        identifier: z.string().describe("`key:<keyId>` or `user:<userId>`."),
        rule: z.string().describe("Method and path of the rule, `default`, or `API_DEFAULT`."),
        limit: z.int(),
        remaining: z.int(),
        resetAt: z.iso.datetime(),
      }),
    )
    .describe("Counters with requests in the window, at most 1,000."),
});

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
        "a pattern. Each rule has a separate counter. These settings routes always fall under the preset.",
      ].join("\n"),
      body: limitsBody(paths),
      example: {
        default: { limit: 600, windowSeconds: 60 },
        rules: [{ method: "POST", path: "/logger/:projectId/log", limit: 300, windowSeconds: 60 }],
      },
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
  await manage(c, "setLimits", limits);
  c.get("log").rules = limits.rules.length;
  return configuration(c);
}

async function configuration(c: Context<AppEnv>): Promise<Response> {
  const { limits, live } = await manage(c, "rateLimits");
  const items = live.map(({ resetAt, ...counter }) => ({ ...counter, resetAt: new Date(resetAt).toISOString() }));
  return success({ ...limits, live: items }, c.get("requestId"));
}

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
  return refuseFields([
    { path: "query.cursor", code: "invalid_format", message: "Invalid cursor. Send nextCursor of the previous page." },
  ]);
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
      "Newest first, one item per identifier, rule and minute, for 30 days. A refusal is listed after a few seconds.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(violationSchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "violations.list", from: "path", admits: "first" })],
  async (c, { query: { cursor, limit } }) => {
    const page = await listViolations(c.env.DB, c.get("workspaceId"), cursorOf(cursor), limit, Date.now());
    const nextCursor = page.next && `${page.next.firstAt}.${page.next.id}`;
    return success({ items: page.items.map(violationData), nextCursor }, c.get("requestId"));
  },
);
