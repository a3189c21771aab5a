import fc from "fast-check";
import { type LimitConfiguration, type LimitRule, normalizePath, RULE_METHODS } from "../../../src/limits/cascade.ts";

/** Requests of a history; each is one route, with a placeholder for its project if it names one. */
export const REQUESTS = [
  { name: "ingest a", method: "POST", pattern: "/logger/:projectId/log", project: 0 },
  { name: "ingest b", method: "POST", pattern: "/logger/:projectId/log", project: 1 },
  { name: "context", method: "GET", pattern: "/logger/:projectId/log/:logId", project: 0 },
  { name: "query", method: "POST", pattern: "/logger/query", project: null },
  { name: "project", method: "GET", pattern: "/projects/:projectId", project: 0 },
  { name: "rename", method: "PATCH", pattern: "/projects/:projectId", project: 0 },
  { name: "settings", method: "GET", pattern: "/workspaces/:workspaceId/rate-limits", project: null },
] as const;

export const CALLERS = ["key 0", "key 1", "user"] as const;

/** A placeholder for the id of one of the two projects in a path. */
export const projectPlace = (number: 0 | 1) => `proj_${number}`;

const paths = [
  "/logger/:id/log",
  "/logger/:projectId/log",
  "/logger/:p/log/:l",
  "/logger/query",
  "/projects/:id",
  "/workspaces/:id/rate-limits",
  `/logger/${projectPlace(0)}/log`,
  `/logger/${projectPlace(1)}/log`,
  `/projects/${projectPlace(0)}`,
];

const limit = fc.record({
  limit: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }) },
    { weight: 1, arbitrary: fc.constant(1000) },
  ),
  windowSeconds: fc.constantFrom(1, 2, 60, 3600),
});

const rule: fc.Arbitrary<LimitRule> = fc
  .tuple(fc.constantFrom(...RULE_METHODS), fc.constantFrom(...paths), limit)
  .map(([method, path, bounds]) => ({ method, path, ...bounds }));

const configuration: fc.Arbitrary<LimitConfiguration> = fc.record({
  default: fc.option(limit),
  rules: fc.uniqueArray(rule, { maxLength: 6, selector: ({ method, path }) => `${method} ${normalizePath(path)}` }),
});

export type Step =
  | { do: "request"; caller: (typeof CALLERS)[number]; request: (typeof REQUESTS)[number] }
  | { do: "configure"; configuration: LimitConfiguration }
  | { do: "pass"; ms: number }
  | { do: "evict" }
  | { do: "sweep" }
  | { do: "look" };

const request: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("request" as const),
  caller: fc.constantFrom(...CALLERS),
  request: fc.constantFrom(...REQUESTS),
});

const pass = fc
  .oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 1500 }) },
    { weight: 2, arbitrary: fc.constantFrom(1, 999, 1000, 1001, 59_999, 60_000, 60_001) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3_700_000 }) },
    // Sets the machine's clock back.
    { weight: 2, arbitrary: fc.integer({ min: -100_000, max: -1 }) },
  )
  .map((ms): Step => ({ do: "pass", ms }));

const other: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: configuration.map((set): Step => ({ do: "configure", configuration: set })) },
  { weight: 9, arbitrary: pass },
  { weight: 3, arbitrary: fc.constant<Step>({ do: "evict" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "sweep" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: "look" }) },
);

/** A configuration, then runs of requests with other steps in between. */
export function history(maxLength: number): fc.Arbitrary<Step[]> {
  const run = fc.tuple(fc.array(request, { minLength: 1, maxLength: 8 }), other).map(([some, one]) => [...some, one]);
  return fc
    .tuple(configuration, fc.array(run, { minLength: 2, maxLength }))
    .map(([first, runs]) => [{ do: "configure", configuration: first }, ...runs.flat()]);
}
