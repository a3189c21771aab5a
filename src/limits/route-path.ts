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
