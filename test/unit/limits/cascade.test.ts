import { describe, expect, it } from "vitest";
import { Cascade, type Limit, type LimitRule, RoutePaths } from "../../../src/limits/cascade.ts";

const INGEST = { method: "POST", pattern: "/logger/:projectId/log", path: "/logger/proj_a/log" };
const QUERY = { method: "POST", pattern: "/logger/query", path: "/logger/query" };
const SETTINGS = {
  method: "PUT",
  pattern: "/workspaces/:workspaceId/rate-limits",
  path: "/workspaces/ws_a/rate-limits",
};

/** A distinct limit for each rule, to identify it. */
const RULES = {
  ownLiteral: { method: "POST", path: "/logger/proj_a/log", limit: 1, windowSeconds: 60 },
  ownPattern: { method: "POST", path: "/logger/:id/log", limit: 2, windowSeconds: 60 },
  anyLiteral: { method: "*", path: "/logger/proj_a/log", limit: 3, windowSeconds: 60 },
  anyPattern: { method: "*", path: "/logger/:whatever/log", limit: 4, windowSeconds: 60 },
} satisfies Record<string, LimitRule>;
const DEFAULT: Limit = { limit: 5, windowSeconds: 60 };

const LEVELS = ["ownLiteral", "ownPattern", "anyLiteral", "anyPattern"] as const;

/** Rules that do not match the request. */
const OTHERS: LimitRule[] = [
  { method: "GET", path: "/logger/proj_a/log", limit: 91, windowSeconds: 60 },
  { method: "GET", path: "/logger/:id/log", limit: 92, windowSeconds: 60 },
  { method: "POST", path: "/logger/proj_b/log", limit: 93, windowSeconds: 60 },
  { method: "*", path: "/logger/:id/log/:log", limit: 94, windowSeconds: 60 },
  { method: "POST", path: "/logger/query", limit: 95, windowSeconds: 60 },
  { method: "*", path: "/workspaces/:id/rate-limits", limit: 96, windowSeconds: 60 },
  { method: "PUT", path: "/workspaces/ws_a/rate-limits", limit: 97, windowSeconds: 60 },
];

describe("the cascade", () => {
  // Every set of the four kinds of rule, with and without a default, with and without other rules.
  const sets = Array.from({ length: 16 }, (_, bits) => LEVELS.filter((_, at) => bits & (1 << at)));
  const cases = sets.flatMap((set) =>
    [DEFAULT, null].flatMap((rest) => [[], OTHERS].map((others) => ({ set, rest, others }))),
  );

  it.each(cases)("picks the highest of $set over $rest beside $others.length others", ({ set, rest, others }) => {
    const rules = [...others, ...set.map((name) => RULES[name])];
    const highest = LEVELS.find((name) => set.includes(name));
    const expected = highest ? RULES[highest].limit : (rest?.limit ?? 1000);
    // The order of the rules does not matter.
    for (const order of [rules, rules.toReversed()]) {
      const cascade = new Cascade({ default: rest, rules: order });
      expect(cascade.limitOf(INGEST).limit).toBe(expected);
      // Again, now that the route is cached.
      expect(cascade.limitOf(INGEST).limit).toBe(expected);
    }
  });

  it("matches a literal by the whole path and a pattern by the whole route", () => {
    const cascade = new Cascade({ default: null, rules: OTHERS });
    expect(cascade.limitOf({ ...INGEST, path: "/logger/proj_b/log" }).limit).toBe(93);
    expect(cascade.limitOf({ ...INGEST, method: "GET", path: "/logger/proj_c/log" }).limit).toBe(92);
    expect(cascade.limitOf(QUERY).limit).toBe(95);
    const context = { method: "GET", pattern: "/logger/:projectId/log/:logId", path: "/logger/proj_a/log/log_1" };
    expect(cascade.limitOf(context).limit).toBe(94);
    expect(cascade.limitOf({ method: "GET", pattern: "/projects", path: "/projects" }).limit).toBe(1000);
  });

  it("keeps the settings routes under the preset, whatever is configured", () => {
    for (const rest of [DEFAULT, null]) {
      const cascade = new Cascade({ default: rest, rules: OTHERS });
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { limit, windowSeconds } = cascade.limitOf({ ...SETTINGS, method });
        expect([limit, windowSeconds]).toEqual([1000, 60]);
      }
    }
  });

  it("gives each rule its own counter, and one counter to all other requests", () => {
    const cascade = new Cascade({ default: DEFAULT, rules: [RULES.ownPattern, RULES.anyLiteral, ...OTHERS] });
    expect(cascade.limitOf(INGEST)).toMatchObject({ rule: "POST /logger/:id/log", suffix: " POST /logger/:id/log" });
    expect(cascade.limitOf({ ...INGEST, method: "PUT" }).suffix).toBe(" * /logger/proj_a/log");
    expect(cascade.limitOf({ method: "GET", pattern: "/projects", path: "/projects" })).toMatchObject({
      rule: "default",
      suffix: "",
    });
    expect(cascade.limitOf(SETTINGS)).toMatchObject({ rule: "API_DEFAULT", suffix: " API_DEFAULT" });
    // If the preset applies to all requests, its counter needs no separate name.
    expect(new Cascade({ default: null, rules: OTHERS }).limitOf(SETTINGS)).toMatchObject({
      rule: "API_DEFAULT",
      suffix: "",
    });
  });

  it("finds a limit by its counter's name, and none for a removed rule", () => {
    const cascade = new Cascade({ default: DEFAULT, rules: [RULES.anyPattern] });
    expect(cascade.limitOfCounter("")?.limit).toBe(5);
    // Returned as it was set. The counter's name ignores the names of parameters.
    expect(cascade.limitOfCounter(" * /logger/:id/log")).toMatchObject({ rule: "* /logger/:whatever/log", limit: 4 });
    expect(cascade.limitOfCounter(" POST /logger/:id/log")).toBeNull();
  });
});

describe("a rule's path", () => {
  const paths = new RoutePaths(["/logger/query", "/logger/:projectId/log", "/projects/:projectId/keys/:keyId"]);

  it.each([
    "/logger/query",
    "/logger/:id/log",
    "/logger/:projectId/log",
    "/logger/proj_x/log",
    "/projects/:a/keys/:b",
    "/projects/proj_x/keys/key_y",
  ])("%s is that of a route", (path) => expect(paths.has(path)).toBe(true));

  it.each([
    "",
    "/",
    "/logger",
    "/logger/",
    "/logger/query/",
    "/logger/:id",
    "/logger/:id/log/",
    "/logger/proj_x/logs",
    "/logger//log",
    "/logger/a/b/log",
    "/logger/*/log",
    "/logger/{id}/log",
    "/logger/proj%5Fx/log",
    "/logger/proj_x/log?a=1",
    "/logger/proj x/log",
    "/logger/:/log",
    "logger/proj_x/log",
    " /logger/query",
    "/logger/query\n",
    "/projects/proj_x/keys/:keyId",
    "/projects/:id/keys/key_y",
    "https://example.com/logger/query",
  ])("%j is that of none", (path) => expect(paths.has(path)).toBe(false));
});
