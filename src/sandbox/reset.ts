import { SCOPES } from "../keys/scopes.ts";
import { RETENTION_DAYS } from "../logs/entry.ts";
import { buildBatch } from "../logs/ingest/build-batch.ts";
import { migrate } from "../sql/migrate.ts";
import type { Gate } from "../workspace/admission.ts";
import { IngestGroup } from "../workspace/ingest.ts";
import { insertKey } from "../workspace/keys.ts";
import { doomProject, findProject, insertProject } from "../workspace/projects.ts";
import { WORKSPACE_SCHEMA } from "../workspace/schema.ts";
import { demoEntries } from "./demo-entries.ts";
import { demoKey } from "./demo-key.ts";
import { SANDBOX } from "./sandbox.ts";

/** Milliseconds for which a dead key is known as revoked; later it is as unknown as any other text. */
const DEAD_KEY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The sandbox as it is on disk. */
export interface LiveSandbox {
  /** When it was made: the time its key was made at. No two are alike, and each is later than the one before. */
  epoch: number;
  /** Hex SHA-256 of its key. */
  keyHash: string;
}

/** Null where there has never been one. */
export function readSandbox(sql: SqlStorage): LiveSandbox | null {
  const row = sql
    .exec<{ epoch: number; keyHash: string }>(
      `SELECT k.created_at AS epoch, k.hash AS keyHash FROM keys k JOIN projects p ON p.num = k.project
       WHERE p.id = ? AND k.revoked_at IS NULL`,
      SANDBOX.projectId,
    )
    .toArray()[0];
  return row ?? null;
}

/** The sandbox's workspace: an ordinary one without any member, so there is nobody who could see, change or delete it. */
export function provisionSandbox(sql: SqlStorage, now: number): void {
  migrate(sql, WORKSPACE_SCHEMA);
  sql.exec(
    `INSERT OR IGNORE INTO workspace (one, id, name, personal, retention_days, created_at)
     VALUES (1, ?, 'Sandbox', 0, ?, ?)`,
    SANDBOX.workspaceId,
    RETENTION_DAYS.default,
    now,
  );
}

/**
 * Puts a new sandbox in the place of the one before, in the caller's transaction: all of it or nothing.
 *
 * The project is a new one under the old id. What the old one held is found by nobody from here on, and deleted in steps
 * as the logs of any deleted project. `seq` goes on where the old one ended, so no log id ever comes to mean another entry.
 */
export function resetSandbox(gate: Gate, epoch: number, pepper: string, now: number): number {
  const { sql } = gate;
  sql.exec("DELETE FROM keys WHERE revoked_at < ?", now - DEAD_KEY_KEPT_MS);
  sql.exec("UPDATE keys SET revoked_at = ? WHERE revoked_at IS NULL", now);
  const old = findProject(sql, SANDBOX.projectId);
  if (old) doomProject(sql, old.num, now);
  const { num } = insertProject(sql, { id: SANDBOX.projectId, name: "Sandbox", lastSeq: old?.lastSeq ?? 0 }, now);
  const key = demoKey(epoch, pepper);
  const keyRow = { project: num, name: "Sandbox", scopes: SCOPES, createdBy: SANDBOX.workspaceId, expiresAt: null };
  insertKey(sql, keyRow, key, epoch);
  return storeDemoEntries(gate, key.hash, now);
}

/** By the way that every batch takes. @returns how many were stored */
function storeDemoEntries(gate: Gate, keyHash: string, now: number): number {
  const values = demoEntries(now);
  const parsed = { values, exactValues: () => values, bodyBytes: 0, sizes: () => [] };
  const built = buildBatch(parsed, { now, oldest: null });
  const group = new IngestGroup(gate, RETENTION_DAYS.default, null, now);
  const call = { keyHash, projectId: SANDBOX.projectId, route: null, idempotency: null, oldest: null, ...built };
  const result = group.run(call);
  if (!result.ok || result.receipt.rejectedCount > 0) throw new Error("The demo entries were not stored.");
  group.finish();
  return result.receipt.accepted;
}
