import { API_DEFAULT, type RouteRef } from "./state.ts";

/**
 * Paths as rules name them: a route pattern (`/logger/:id/log`) or one literal path (`/logger/proj_x/log`). Names of
 * parameters do not matter, so every parameter is written `:id` before patterns are compared.
 */
export function normalizePath(path: string): string {
  return path.replace(/:[^/]+/g, ":id");
}

export function isPattern(path: string): boolean {
  return path.includes("/:");
}

/** One segment of a literal path: what ids and route words are made of. A `*` or a `%` would never match anything. */
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

/** What a workspace has set itself. */
export interface LimitConfiguration {
  /** Null: the preset applies to what no rule matches. */
  default: Limit | null;
  /** No two with the same method and path. */
  rules: readonly LimitRule[];
}

/** The limit that a request falls under. */
export interface AppliedLimit extends Limit {
  /** Method and path of the rule as they were set, `default`, or `API_DEFAULT`. */
  rule: string;
  /** What the counter's identifier ends with; empty for the counter of everything that no rule matches. */
  suffix: string;
}

/** These routes fall under the preset whatever is set, so that nobody locks himself out of changing the limits. */
const SETTINGS_PATH = normalizePath("/workspaces/:id/rate-limits");

/** The rules of one path, by method. */
type ByMethod = ReadonlyMap<string, AppliedLimit>;

/** What is decided by a request's route alone, whatever its literal path. */
interface RouteLimits {
  isSettings: boolean;
  rules: ByMethod | undefined;
}

/**
 * A configuration, ready to be asked for every request: some map lookups, however many rules there are.
 *
 * Highest priority first: the request's own method on its literal path, then on its route's pattern; any method on its
 * literal path, then on the pattern; the workspace's default; the preset.
 */
export class Cascade {
  readonly configuration: LimitConfiguration;
  /** What no rule matches. */
  readonly #rest: AppliedLimit;
  readonly #settings: AppliedLimit;
  readonly #literals: ReadonlyMap<string, ByMethod>;
  readonly #patterns: ReadonlyMap<string, ByMethod>;
  readonly #bySuffix = new Map<string, AppliedLimit>();
  /** By pattern as registered: normalizing it for every request would cost more than all the rest. */
  readonly #routes = new Map<string, RouteLimits>();

  constructor(configuration: LimitConfiguration) {
    this.configuration = configuration;
    const preset = { ...API_DEFAULT, rule: "API_DEFAULT", suffix: "" };
    this.#rest = configuration.default ? { ...configuration.default, rule: "default", suffix: "" } : preset;
    // While the preset applies to everything, the settings count with everything.
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

  /** The limit that a counter's name belongs to; null for a rule that is gone. */
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
