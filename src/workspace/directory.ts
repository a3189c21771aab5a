import { findKeyByHash, type KeyRow } from "./keys.ts";
import { findProject, findProjectByNum, type ProjectRow } from "./projects.ts";

/** Keys and projects kept in memory between two transactions at most; past it all are read again. */
const MAX_CACHED = 10_000;

/**
 * Keys and projects as the hot path reads them: a cache of their rows, one shared object per project.
 *
 * The object is their only writer, so the cache is exact as long as every change of a key or project is followed by
 * `clear`, and every rolled back transaction too. `lastSeq` alone is changed in place, by the commit that writes it.
 */
export class KeyProjectCache {
  readonly #sql: SqlStorage;
  readonly #keys = new Map<string, KeyRow>();
  readonly #projects = new Map<number, ProjectRow>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  key(hash: string): KeyRow | null {
    const known = this.#keys.get(hash);
    if (known) return known;
    const key = findKeyByHash(this.#sql, hash);
    if (key) this.#keys.set(hash, key);
    return key;
  }

  projectByNum(num: number): ProjectRow | null {
    const known = this.#projects.get(num);
    if (known) return known;
    const project = findProjectByNum(this.#sql, num);
    if (project) this.#projects.set(num, project);
    return project;
  }

  projectById(id: string): ProjectRow | null {
    return findProject(this.#sql, id);
  }

  /**
   * Bounds memory. Only between two transactions: within one a project's row is the only place that knows the `lastSeq`
   * it has risen to.
   */
  trim(): void {
    if (this.#keys.size + this.#projects.size > MAX_CACHED) this.clear();
  }

  clear(): void {
    this.#keys.clear();
    this.#projects.clear();
  }
}
