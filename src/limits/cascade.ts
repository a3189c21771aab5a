import { API_DEFAULT, type RouteRef } from "./state.ts";

/**
 * Normalizes the path of a rule: a route pattern (`/logger/:id/log`) or a literal path (`/logger/proj_x/log`). Every
 * parameter is renamed to `:id`, because names of parameters do not matter.
 */
export function normalizePath(path: string): string {
  return path.replace(/:[^/]+/g, ":id");
}

export function isPattern(path: string): boolean {
  return path.includes("/:");
}

/** One segment of a literal path: the characters of ids and route words. A `*` or a `%` would never match. */
const SEGMENT = "[A-Za-z0-9._~-]+";

/** Whether a rule's path is a pattern of one of these routes, or a literal path that one of them serves. */
export class RoutePaths {
  readonly #patterns: ReadonlySet<string>;
  readonly #literals: RegExp;

  constructor(patterns: readonly string[]) {
    this.#patterns = new Set(patterns.map(normalizePath));
    const alternatives = [...this.#patterns].map((pattern) =>
      pattern.replace(/[.]/g, "\\.").replaceAll(":id", SEGMENT),
    );
    this.#literals = new RegExp(`^(?:${alternatives.join("|")})$`);
  }

  has(path: string): boolean {
    return isPattern(path) ? this.#patterns.has(normalizePath(path)) : this.#literals.test(path);
  }
}

export interface Limit {
  limit: number;
  windowSeconds: number;
}

/** `*` is every method. A `HEAD` counts as the `GET` it is served by. */
export const RULE_METHODS = ["*", "GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export interface LimitRule extends Limit {
  method: (typeof RULE_METHODS)[number];
  /** A route pattern or a literal path. */
  path: string;
}

/** The limits that a workspace has configured. */
export interface LimitConfiguration {
  /** `null` if the preset applies to requests that no rule matches. */
  default: Limit | null;
  /** Unique by method and path. */
  rules: readonly LimitRule[];
}

/** The limit that applies to a request. */
export interface AppliedLimit extends Limit {
  /** Method and path of the rule as configured, `default`, or `API_DEFAULT`. */
  rule: string;
  /** Suffix of the counter's identifier; empty for the counter of requests that no rule matches. */
  suffix: string;
}

/** Routes to which the preset always applies, so that a user cannot lose the ability to change the limits. */
const SETTINGS_PATH = normalizePath("/workspaces/:id/rate-limits");

/** The rules of one path, by method. */
type ByMethod = ReadonlyMap<string, AppliedLimit>;

/** The part of the decision that depends only on a request's route, not on its literal path. */
interface RouteLimits {
  isSettings: boolean;
  rules: ByMethod | undefined;
}

/**
 * A configuration prepared for lookups: a few map accesses per request, whatever the number of rules.
 *
 * Highest priority first: the request's own method on its literal path, then on its route's pattern; any method on its
 * literal path, then on the pattern; the workspace's default; the preset.
 */
export class Cascade {
  readonly configuration: LimitConfiguration;
  /** Applies to requests that no rule matches. */
  readonly #rest: AppliedLimit;
  readonly #settings: AppliedLimit;
  readonly #literals: ReadonlyMap<string, ByMethod>;
  readonly #patterns: ReadonlyMap<string, ByMethod>;
  readonly #bySuffix = new Map<string, AppliedLimit>();
  /**
   * By pattern as registered. Normalizing the pattern for every request would cost more than the rest of the lookup.
   */
  readonly #routes = new Map<string, RouteLimits>();

  constructor(configuration: LimitConfiguration) {
    this.configuration = configuration;
    const preset = { ...API_DEFAULT, rule: "API_DEFAULT", suffix: "" };
    this.#rest = configuration.default ? { ...configuration.default, rule: "default", suffix: "" } : preset;
    // While the preset applies to all requests, the settings routes share its counter.
    this.#settings = configuration.default ? { ...preset, suffix: " API_DEFAULT" } : this.#rest;
    const literals = new Map<string, Map<string, AppliedLimit>>();
    const patterns = new Map<string, Map<string, AppliedLimit>>();
    for (const { method, path, limit, windowSeconds } of configuration.rules) {
      const normalized = normalizePath(path);
      const applied = { limit, windowSeconds, rule: `${method} ${path}`, suffix: ` ${method} ${normalized}` };
      const table = isPattern(path) ? patterns : literals;
      const own = table.get(normalized) ?? new Map<string, AppliedLimit>();
      table.set(normalized, own.set(method, applied));
      this.#bySuffix.set(applied.suffix, applied);
    }
    this.#literals = literals;
    this.#patterns = patterns;
  }

  limitOf({ method, pattern, path }: RouteRef): AppliedLimit {
    const route = this.#routes.get(pattern) ?? this.#learn(pattern);
    if (route.isSettings) return this.#settings;
    const literal = this.#literals.get(path);
    if (literal === undefined && route.rules === undefined) return this.#rest;
    return literal?.get(method) ?? route.rules?.get(method) ?? literal?.get("*") ?? route.rules?.get("*") ?? this.#rest;
  }

  /** Returns the limit of a counter by its suffix; `null` if the rule no longer exists. */
  limitOfCounter(suffix: string): AppliedLimit | null {
    if (suffix === "") return this.#rest;
    return suffix === this.#settings.suffix ? this.#settings : (this.#bySuffix.get(suffix) ?? null);
  }

  #learn(pattern: string): RouteLimits {
    const normalized = normalizePath(pattern);
    const route = { isSettings: normalized === SETTINGS_PATH, rules: this.#patterns.get(normalized) };
    this.#routes.set(pattern, route);
    return route;
  }
}
