import { createHmac } from "node:crypto";
import { BASE62 } from "../ids.ts";
import { KEY_SECRET_LENGTH, type NewApiKey, newDemoKey } from "../keys/api-key.ts";
import { SCOPES } from "../keys/scopes.ts";
import { insertKey } from "../keys/store.ts";
import { RETENTION_DAYS } from "../logs/entry.ts";
import { buildBatch } from "../logs/ingest/build-batch.ts";
import type { Origin } from "../platform/origin.ts";
import { migrate } from "../platform/sql.ts";
import type { AdmissionContext } from "../workspace/admission.ts";
import { recordAudit } from "../workspace/audit.ts";
import { SYSTEM } from "../workspace/audit-actions.ts";
import { IngestGroup } from "../workspace/ingest.ts";
import { createProject, deleteProject } from "../workspace/projects.ts";
import { WORKSPACE_SCHEMA } from "../workspace/schema.ts";
import { demoEntries } from "./demo-entries.ts";
import { SANDBOX_WORKSPACE_ID } from "./sandbox.ts";

/**
 * The sandbox's key of an epoch: its secret part is HMAC-SHA256 over the epoch, keyed from the pepper. It is derived
 * again whenever somebody asks for it, and only its hash is stored, as of any key.
 */
export function demoKey(epoch: number, pepper: string): NewApiKey {
  const key = createHmac("sha256", pepper).update("taffrail sandbox key").digest();
  const mac = createHmac("sha256", key).update(String(epoch)).digest("hex");
  // The lowest 30 digits of 256 bits: how far they are from uniform is less than 2^-77.
  let rest = BigInt(`0x${mac}`);
  let secret = "";
  while (secret.length < KEY_SECRET_LENGTH) {
    secret += BASE62.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return newDemoKey(SANDBOX_WORKSPACE_ID, secret);
}

/** Milliseconds for which a dead key is known as revoked; later it is as unknown as any other text. */
const DEAD_KEY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The sandbox as it is on disk. */
export interface LiveSandbox {
  /** When it was made: the time its key was made at. No two are alike, and each is later than the one before. */
  epoch: number;
  /** Hex SHA-256 of its key. */
  keyHash: string;
  projectId: string;
  /** The project's `num`. */
  project: number;
}

/** Null where there has never been one. */
export function readSandbox(sql: SqlStorage): LiveSandbox | null {
  const live = sql
    .exec<{ epoch: number; keyHash: string; projectId: string; project: number }>(
      `SELECT k.created_at AS epoch, k.hash AS keyHash, p.id AS projectId, p.num AS project
       FROM keys k JOIN projects p ON p.num = k.project WHERE k.revoked_at IS NULL`,
    )
    .toArray()[0];
  return live ?? null;
}

/** The sandbox's workspace: an ordinary one without any member, so there is nobody who could see, change or delete it. */
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
 * Puts a new sandbox in the place of the one before, in the caller's transaction: all of it or nothing.
 *
 * It is a new project, and the old one is deleted as any project is: found by nobody from here on, its logs deleted by
 * and by. An id, a cursor or a `seq` of the old one can never come to mean something in the new.
 *
 * @returns how many demo entries it holds
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
  // Dead keys outlive their project, so that whoever still sends one is told that it has been revoked.
  sql.exec("UPDATE keys SET project = ?, revoked_at = COALESCE(revoked_at, ?)", project.num, now);
  if (old) deleteProject(sql, old.project, now);
  // No member sees it: it is for whoever can look into the object's storage.
  recordAudit(sql, { actor: SYSTEM, action: "sandbox.reset", target: project.id }, origin, now);
  const key = demoKey(epoch, pepper);
  const keyRow = { project: project.num, name: "Sandbox", scopes: SCOPES, expiresAt: null };
  insertKey(sql, { ...keyRow, createdBy: SANDBOX_WORKSPACE_ID }, key, epoch);
  return storeDemoEntries(admission, key.hash, project.id, now);
}

/** By the way that every batch takes. @returns how many were stored */
function storeDemoEntries(admission: AdmissionContext, keyHash: string, projectId: string, now: number): number {
  const built = buildBatch(demoEntries(now), { now, oldest: null });
  const group = new IngestGroup(admission, RETENTION_DAYS.default, null, now);
  const result = group.run({ keyHash, projectId, route: null, idempotency: null, oldest: null, ...built });
  if (!result.ok || result.receipt.rejectedCount > 0) throw new Error("The demo entries were not stored.");
  group.finish();
  return result.receipt.accepted;
}
