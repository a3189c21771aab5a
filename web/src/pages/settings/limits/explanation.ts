import { type AppliedLimit, Cascade, type LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { API_DEFAULT, type RouteRef } from "../../../../../src/limits/state.ts";

/** One of the four places where a limit can come from, highest priority first. */
export interface Level {
  kind: "method" | "any-method" | "default" | "preset";
  /** What is set there for the request; null: nothing. */
  limit: Pick<AppliedLimit, "rule" | "limit" | "windowSeconds"> | null;
  applies: boolean;
}

export interface Explanation {
  applied: Pick<AppliedLimit, "rule" | "limit" | "windowSeconds">;
  levels: readonly Level[];
  /** Why no rule can be about this request; null for all the others. */
  exception: "settings" | "outside" | null;
}

const PRESET = { ...API_DEFAULT, rule: "API_DEFAULT" };
const NOTHING: LimitConfiguration = { default: null, rules: [] };

/** Requests of these count for the person, in no workspace. */
const OUTSIDE = "/workspaces";
/** Under this only what no configuration reaches is still under the preset. */
const EVERYTHING: LimitConfiguration = { default: { limit: 1, windowSeconds: 1 }, rules: [] };

/** Which limit a request falls under, and why: asked of the cascade that the service itself decides by. */
export function explain(configuration: LimitConfiguration, request: RouteRef): Explanation {
  const exception = exceptionOf(request);
  const limitUnder = (part: LimitConfiguration): AppliedLimit => new Cascade(part).limitOf(request);
  const applied = exception === "outside" ? PRESET : limitUnder(configuration);
  const ruleAmong = (rules: LimitConfiguration["rules"]): AppliedLimit | null => {
    const found = limitUnder({ ...NOTHING, rules });
    return found.rule === PRESET.rule ? null : found;
  };
  const { rules } = configuration;
  const found: Omit<Level, "applies">[] = [
    { kind: "method", limit: ruleAmong(rules.filter(({ method }) => method !== "*")) },
    { kind: "any-method", limit: ruleAmong(rules.filter(({ method }) => method === "*")) },
    { kind: "default", limit: configuration.default && { ...configuration.default, rule: "default" } },
    { kind: "preset", limit: PRESET },
  ];
  return {
    applied,
    exception,
    levels: found.map((level) => ({ ...level, applies: level.limit?.rule === applied.rule })),
  };
}

function exceptionOf(request: RouteRef): Explanation["exception"] {
  if (request.pattern === OUTSIDE) return "outside";
  return new Cascade(EVERYTHING).limitOf(request).rule === PRESET.rule ? "settings" : null;
}
