import { Limiter } from "../limits/limiter.ts";
import type { Gate } from "./admission.ts";
import { BatchIndex } from "./batch-index.ts";
import { Directory } from "./directory.ts";
import { type IngestCall, IngestGroup, type IngestResult } from "./ingest.ts";
import { isProvisioned } from "./provision.ts";
import { readWorkspace, type WorkspaceRow } from "./settings.ts";

/**
 * What a workspace object keeps in memory: caches of what is on disk, and the one way to change both together.
 * A transaction that throws leaves disk as it was, so every cache is dropped and read again.
 */
export class WorkspaceState {
  readonly sql: SqlStorage;
  readonly directory: Directory;
  readonly limiter: Limiter;
  readonly index: BatchIndex;
  readonly #storage: DurableObjectStorage;
  #row: WorkspaceRow | null = null;
  #lastCommit: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.sql = storage.sql;
    this.directory = new Directory(storage.sql);
    this.limiter = new Limiter(storage.sql);
    this.index = new BatchIndex(storage.sql);
  }

  /** Null for an object that was never provisioned: a forged locator or id reaches one, and must leave no trace. */
  get row(): WorkspaceRow | null {
    if (this.#row === null && isProvisioned(this.sql)) this.#row = readWorkspace(this.sql);
    return this.#row;
  }

  /** Runs `work` in one synchronous transaction and writes the limiter's counts with it; null without a workspace. */
  transaction<T>(work: (gate: Gate, row: WorkspaceRow) => T): T | null {
    const { row, sql, directory, limiter } = this;
    if (row === null) return null;
    directory.trim();
    try {
      return this.#storage.transactionSync(() => {
        const result = work({ sql, directory, limiter, limits: row.limits }, row);
        limiter.flush();
        return result;
      });
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** One group commit; null without a workspace. */
  ingest(calls: readonly IngestCall[]): IngestResult[] | null {
    const done = this.transaction((gate, row) => {
      const group = new IngestGroup(gate, row.retentionDays, this.#lastCommit, Date.now());
      const results = calls.map((call) => group.run(call));
      group.finish();
      return { group, results };
    });
    if (done === null) return null;
    this.#lastCommit = done.group.commit;
    for (const stored of done.group.stored) this.index.add(stored);
    return done.results;
  }

  /** To be called after a change of keys, projects or the workspace's own row: limits may have another window now. */
  settingsChanged(): void {
    this.#row = null;
    this.directory.clear();
    this.limiter.forget();
  }

  /** Drops every cache: after a rollback, and when everything has been deleted. */
  forget(): void {
    this.settingsChanged();
    this.#lastCommit = null;
    this.index.invalidate();
  }
}
