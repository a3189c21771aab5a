import { createHmac } from "node:crypto";
import { BASE62 } from "../ids.ts";
import { KEY_SECRET_LENGTH, type NewApiKey, newDemoKey } from "../keys/api-key.ts";
import { LOG_SCOPES } from "../keys/scopes.ts";
import { insertKey } from "../keys/store.ts";
import { COUNTED, chargeMembers } from "../limits/state.ts";
import { RETENTION_DAYS } from "../logs/entry.ts";
import { buildBatch } from "../logs/ingest/build-batch.ts";
import type { Origin } from "../platform/origin.ts";
import { maybe, migrate } from "../platform/sql.ts";
import type { AdmissionContext } from "../workspace/admission.ts";
import { recordAudit } from "../workspace/audit.ts";
import { SYSTEM } from "../workspace/audit-actions.ts";
import { IngestGroup } from "../workspace/ingest.ts";
import { createProject, deleteProject } from "../workspace/projects.ts";
import { WORKSPACE_SCHEMA } from "../workspace/schema.ts";
import { demoEntries } from "./demo-entries.ts";
import { SANDBOX_WORKSPACE_ID } from "./sandbox.ts";

/**
 * Returns the sandbox's key of an epoch. Its secret part is HMAC-SHA256 of the epoch, keyed from the pepper. The key is
 * derived for each request; only its hash is stored, as for every key.
 */
export function demoKey(epoch: number, pepper: string): NewApiKey {
  const key = createHmac("sha256", pepper).update("taffrail sandbox key").digest();
  const mac = createHmac("sha256", key).update(String(epoch)).digest("hex");
  // The lowest 30 digits of 256 bits differ from a uniform distribution by less than 2^-77.
  let rest = BigInt(`0x${mac}`);
  let secret = "";
  while (secret.length < KEY_SECRET_LENGTH) {
    secret += BASE62.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return newDemoKey(SANDBOX_WORKSPACE_ID, secret);
}

/** Milliseconds for which a key of an earlier sandbox is reported as revoked; after that it is unknown. */
const DEAD_KEY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The current sandbox as stored. */
export interface LiveSandbox {
  /**
   * Epoch milliseconds at which the sandbox and its key were created. Unique, and later than that of every earlier
   * sandbox.
   */
  epoch: number;
  /** Hex SHA-256 of the sandbox's key. */
  keyHash: string;
  projectId: string;
  /** The project's `num`. */
  project: number;
}

/** Returns the current sandbox; `null` before the first reset. */
export function readSandbox(sql: SqlStorage): LiveSandbox | null {
  return maybe<{ epoch: number; keyHash: string; projectId: string; project: number }>(
    sql,
    `SELECT k.created_at AS epoch, k.hash AS keyHash, p.id AS projectId, p.num AS project
     FROM keys k JOIN projects p ON p.num = k.project WHERE k.revoked_at IS NULL`,
  );
}

/**
 * Provisions the sandbox's workspace: an ordinary workspace without members, so that no user can see, change or delete
 * it.
 */
export function provisionSandbox(sql: SqlStorage, now: number): void {
  migrate(sql, WORKSPACE_SCHEMA);
  sql.exec(
    `INSERT OR IGNORE INTO workspace (one, id, name, personal, retention_days, created_at)
     VALUES (1, ?, 'Sandbox', 0, ?, ?)`,
    SANDBOX_WORKSPACE_ID,
    RETENTION_DAYS.default,
    now,
  );
}

/**
 * Replaces the sandbox in the caller's transaction.
 *
 * The new sandbox is a new project. The old one is deleted like any project: queries no longer find it, and its entries
 * are deleted in steps. Ids, cursors and `seq`s of the old one never refer to anything in the new one.
 *
 * @returns the number of demo entries stored
 */
export function resetSandbox(
  admission: AdmissionContext,
  epoch: number,
  pepper: string,
  origin: Origin,
  now: number,
): number {
  const { sql } = admission;
  const old = readSandbox(sql);
  const project = createProject(sql, "Sandbox", now);
  sql.exec("DELETE FROM keys WHERE revoked_at < ?", now - DEAD_KEY_KEPT_MS);
  // Revoked keys move to the new project, so that requests with one are refused as revoked, not as unknown.
  sql.exec("UPDATE keys SET project = ?, revoked_at = COALESCE(revoked_at, ?)", project.num, now);
  if (old) deleteProject(sql, old.project, now);
  // The sandbox has no members; this item is for operators who inspect the object's storage.
  recordAudit(sql, { actor: SYSTEM, action: "sandbox.reset", target: project.id }, origin, now);
  const key = demoKey(epoch, pepper);
  const keyRow = { project: project.num, name: "Sandbox", scopes: LOG_SCOPES, expiresAt: null };
  insertKey(sql, { ...keyRow, createdBy: SANDBOX_WORKSPACE_ID }, key, epoch);
  return storeDemoEntries(admission, key.hash, project.id, now);
}

/**
 * Stores the demo entries by the normal ingest path.
 * @returns the number of entries stored
 */
function storeDemoEntries(admission: AdmissionContext, keyHash: string, projectId: string, now: number): number {
  const built = buildBatch(demoEntries(now), { now, oldest: null });
  const group = new IngestGroup(admission, RETENTION_DAYS.default, null, now);
  const result = group.run({
    keyHash,
    projectId,
    ...chargeMembers(COUNTED),
    idempotency: null,
    oldest: null,
    ...built,
  });
  if (!result.ok || result.receipt.rejectedCount > 0) throw new Error("The demo entries were not stored.");
  group.finish();
  return result.receipt.accepted;
}
