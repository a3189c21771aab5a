// Placeholder until the query engine's index lands; the query engine owns this file and replaces it.
import type { StoredBatchRef } from "./ingest.ts";

export class BatchIndex {
  readonly sql: SqlStorage;
  constructor(sql: SqlStorage) {
    this.sql = sql;
  }
  add(_stored: StoredBatchRef): void {}
  remove(_commit: number): void {}
  invalidate(): void {}
}
