import { z } from "zod";
import type { Resource } from "../http/resource.ts";
import { RULE_METHODS } from "../limits/cascade.ts";
import { normalizePath, RoutePaths } from "../limits/route-path.ts";
import { LIMIT_BOUNDS } from "../workspace/limit-rules.ts";

const { limit, windowSeconds, product, rules, path } = LIMIT_BOUNDS;

/** The groups that count in a workspace; what is outside them no rule can limit. */
const GROUPS = /^\/(logger|projects|workspaces)(\/|$)/;

/** The paths of all routes that a rule may name. */
export function limitedPaths(resources: readonly Resource[]): RoutePaths {
  const patterns = resources.flatMap(({ specs }) => specs.map((spec) => spec.path));
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

/** @param paths asked for with the first body: the routes are not all known while they are being made */
export function limitsBody(paths: () => RoutePaths) {
  const known = ruleSchema
    .refine((rule) => paths().has(rule.path), {
      error: "No route of /logger, /projects or /workspaces has this path.",
      path: ["path"],
    })
    .refine(bounded.check, bounded.params);
  return z
    .strictObject({
      default: limitSchema.nullish().describe("What no rule matches; without it the preset of 1,000 per 60 s."),
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
  default: limitSchema.nullable().describe("Null: the preset of 1,000 requests per 60 s applies."),
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
    .describe("Counters that hold requests now; at most 1,000."),
});
