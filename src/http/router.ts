import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * Literal paths by a map, all others by one regular expression. Hono's regular expression alone cannot hold a literal
 * path next to a pattern that begins alike (`/logger/query`, `/logger/:projectId/log`), and its default then takes a trie
 * for every route, which costs 40 us a request.
 */
export class LiteralFirstRouter<T> implements Router<T> {
  readonly name = "LiteralFirstRouter";
  readonly #patterns = new RegExpRouter<T>();
  /** Knows every route. Asked once for each literal path, as what handles it never changes. */
  readonly #all = new TrieRouter<T>();
  readonly #literals = new Map<string, Result<T> | null>();

  add(method: string, path: string, handler: T): void {
    this.#all.add(method, path, handler);
    if (/[:*]/.test(path)) this.#patterns.add(method, path, handler);
    else this.#literals.set(`${method} ${path}`, null);
  }

  match(method: string, path: string): Result<T> {
    const key = `${method} ${path}`;
    const known = this.#literals.get(key);
    if (known) return known;
    if (known === undefined) return this.#patterns.match(method, path);
    const result = this.#all.match(method, path);
    this.#literals.set(key, result);
    return result;
  }
}
