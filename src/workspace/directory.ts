import { findKeyByHash, type KeyRow } from "./keys.ts";
import { findProject, findProjectByNum, type ProjectRow } from "./projects.ts";

/** Keys and projects kept in memory at most; past it all are read again. */
const MAX_CACHED = 10_000;

/**
 * Keys and projects as the hot path reads them: a cache of their rows, one shared object per project.
 *
 * The object is their only writer, so the cache is exact as long as every change of a key or project is followed by
 * `clear`, and every rolled back transaction too. `lastSeq` alone is changed in place, by the commit that writes it.
 */
export class Directory {
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
    if (key) remember(this.#keys, hash, key);
    return key;
  }

  projectByNum(num: number): ProjectRow | null {
    const known = this.#projects.get(num);
    if (known) return known;
    const project = findProjectByNum(this.#sql, num);
    if (project) remember(this.#projects, num, project);
    return project;
  }

  projectById(id: string): ProjectRow | null {
    return findProject(this.#sql, id);
  }

  clear(): void {
    this.#keys.clear();
    this.#projects.clear();
  }
}

function remember<K, V>(cache: Map<K, V>, key: K, value: V): void {
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, value);
}
