import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cascade, type LimitConfiguration, RULE_METHODS } from "../../../src/limits/cascade.ts";
import {
  configurationOf,
  draftErrorsOf,
  draftOf,
  FIRST_DEFAULT,
  isChanged,
  isSame,
  newRule,
} from "../../../web/src/pages/settings/limits/draft.ts";
import { explain } from "../../../web/src/pages/settings/limits/explanation.ts";
import { PATTERNS, pathOf, ROUTES } from "../../../web/src/pages/settings/limits/routes.ts";

const IDS = { workspaceId: "ws_a", projectId: "proj_a", keyId: "key_a", logId: "log_a", userId: "usr_a" };

const limit = fc.record({ limit: fc.integer({ min: 1, max: 1000 }), windowSeconds: fc.integer({ min: 1, max: 60 }) });
const rule = fc
  .tuple(fc.constantFrom(...RULE_METHODS), fc.constantFrom(...PATTERNS), fc.boolean(), limit)
  .map(([method, pattern, isLiteral, bounds]) => ({
    method,
    path: isLiteral ? pathOf(pattern, IDS) : pattern,
    ...bounds,
  }));
const configuration: fc.Arbitrary<LimitConfiguration> = fc.record({
  default: fc.option(limit),
  rules: fc.uniqueArray(rule, { selector: ({ method, path }) => `${method} ${path}`, maxLength: 12 }),
});

describe("explain", () => {
  it("returns the limit of the cascade and exactly one of the four levels as its source", () => {
    fc.assert(
      fc.property(configuration, fc.constantFrom(...ROUTES), (limits, { method, pattern }) => {
        const request = { method, pattern, path: pathOf(pattern, IDS) };
        const { applied, levels, exception } = explain(limits, request);
        const [source, ...more] = levels.filter((level) => level.applies);
        expect(more).toEqual([]);
        expect(source?.limit).toMatchObject({ rule: applied.rule, limit: applied.limit });
        // Requests without a workspace are always under the preset.
        if (exception !== "outside") expect(new Cascade(limits).limitOf(request)).toEqual(applied);
        else expect(applied.rule).toBe("API_DEFAULT");
        // No level above the source is set, except for routes that no configuration applies to.
        const above = levels.slice(0, source && levels.indexOf(source)).filter((level) => level.limit !== null);
        if (exception === null) expect(above).toEqual([]);
      }),
    );
  });

  it("reports the two exceptions", () => {
    const limits = { default: { limit: 1, windowSeconds: 1 }, rules: [] };
    const exceptionOf = (pattern: string): string | null =>
      explain(limits, { method: "GET", pattern, path: pathOf(pattern, IDS) }).exception;
    expect(PATTERNS.filter((pattern) => exceptionOf(pattern) === "settings")).toEqual([
      "/workspaces/:workspaceId/rate-limits",
    ]);
    expect(PATTERNS.filter((pattern) => exceptionOf(pattern) === "outside")).toEqual(["/workspaces"]);
  });
});

describe("a draft", () => {
  it("equals the configuration that it started from", () => {
    fc.assert(
      fc.property(configuration, (limits) => {
        const draft = draftOf(limits);
        expect(isSame(configurationOf(draft), limits)).toBe(true);
        expect([draftErrorsOf(draft).size, isChanged(draft, limits)]).toEqual([0, false]);
      }),
    );
  });

  it("reports a missing path", () => {
    const draft = { default: null, rules: [{ ...newRule(), path: " ", limit: "5" }] };
    expect([...draftErrorsOf(draft)]).toEqual([["rules.0.path", "Enter a path."]]);
  });

  it("reports invalid numbers by the path that the API would report", () => {
    const draft = {
      default: { ...FIRST_DEFAULT, windowSeconds: "" },
      rules: [
        { ...newRule(), path: "/logger/query", limit: "5" },
        { ...newRule(), path: "/logger/query", limit: "1e3" },
      ],
    };
    expect([...draftErrorsOf(draft).keys()]).toEqual(["default.windowSeconds", "rules.1.limit"]);
    expect(configurationOf(draft).rules).toHaveLength(1);
    expect(isChanged(draft, { default: null, rules: [] })).toBe(true);
  });
});
