import { type AppliedLimit, Cascade, type LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { API_DEFAULT, type RouteRef } from "../../../../../src/limits/state.ts";

/** One of the four sources of a limit, highest priority first. */
export interface Level {
  kind: "method" | "any-method" | "default" | "preset";
  /** The limit that this source sets for the request, or `null`. */
  limit: Pick<AppliedLimit, "rule" | "limit" | "windowSeconds"> | null;
  applies: boolean;
}

export interface Explanation {
  applied: Pick<AppliedLimit, "rule" | "limit" | "windowSeconds">;
  levels: readonly Level[];
  /** Why no configuration applies to this request, or `null`. */
  exception: "settings" | "outside" | null;
}

const PRESET = { ...API_DEFAULT, rule: "API_DEFAULT" };
const NOTHING: LimitConfiguration = { default: null, rules: [] };

/** Requests to this path are counted per user and belong to no workspace. */
const OUTSIDE = "/workspaces";
/** With this configuration, only requests that no configuration applies to are under the preset. */
const EVERYTHING: LimitConfiguration = { default: { limit: 1, windowSeconds: 1 }, rules: [] };

/** Explains which limit applies to a request, with the cascade of the service. */
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
