import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Batch } from "../../../src/logs/batch.ts";
import type { Level } from "../../../src/logs/entry.ts";
import { buildBatch } from "../../../src/logs/ingest/build-batch.ts";
import { ALL_CATEGORIES_MASK, ALL_LEVELS_MASK } from "../../../src/logs/query/filter.ts";
import type { RecentScan } from "../../../src/logs/query/recent-feed.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { provision } from "../../../src/workspace/provision.ts";

export const OWNER = "usr_000000000001";
export const EVERYTHING: RecentScan = {
  asOf: null,
  from: null,
  to: null,
  levelMask: ALL_LEVELS_MASK,
  categoryMask: ALL_CATEGORIES_MASK,
  order: "desc",
  position: null,
  maxBytes: 4 * 1024 * 1024,
};

export interface SimpleEntry {
  timestamp: number;
  message: string;
  level?: Level;
  category?: string;
  session?: string;
  traceId?: string;
  data?: Record<string, unknown>;
}

/** A batch as the router builds it. */
export function batchOf(entries: readonly SimpleEntry[]): Batch {
  // Received when its last entry happened, so that no entry is too old.
  const now = Math.max(...entries.map(({ timestamp }) => timestamp));
  const { batch, rejected } = buildBatch(entries, { now, oldest: null });
  if (batch === null || rejected.length > 0) throw new Error(`The entries are not valid: ${JSON.stringify(rejected)}`);
  return batch;
}

export function workspaceStub(id: string) {
  return env.WORKSPACES.get(env.WORKSPACES.idFromName(id));
}

/** Runs `work` on the SQLite of a new workspace object. */
export function inWorkspace<T>(
  id: string,
  work: (sql: SqlStorage, storage: DurableObjectStorage) => T | Promise<T>,
): Promise<T> {
  return runInDurableObject(workspaceStub(id), (_, { storage }) => {
    provision(storage.sql, { id, name: "Test", personal: true, ownerId: OWNER }, newAlarmOrigin(), 0);
    return work(storage.sql, storage);
  });
}

export function addProject(sql: SqlStorage, id: string): number {
  const row = sql.exec("INSERT INTO projects (id, name, created_at) VALUES (?, 'p', 0) RETURNING num", id).one();
  return Number(row.num);
}
