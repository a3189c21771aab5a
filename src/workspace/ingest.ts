import { type Charge, type ChargedCall, COUNTED, chargeOf, type LimitState } from "../limits/state.ts";
import type { Batch } from "../logs/batch.ts";
import { INGEST_LIMITS } from "../logs/entry.ts";
import type { Rejection } from "../logs/ingest/rejection.ts";
import { maybe } from "../platform/sql.ts";
import { type Failure, fail } from "../rpc/result.ts";
import { type AdmissionContext, admit } from "./admission.ts";
import type { ProjectRow } from "./projects.ts";
import { insertBatch, lastCommit } from "./recent/batches.ts";
import { ingestCutoff } from "./settings.ts";
import { dayOf } from "./usage.ts";

/** The result of an accepted request, which a repetition gets again. */
export interface Receipt {
  accepted: number;
  rejected: Rejection[];
  rejectedCount: number;
  firstSeq: number;
  lastSeq: number;
  /** `true` if an earlier request with the same key stored the entries. */
  duplicate: boolean;
}

/** SHA-256 of a request's `Idempotency-Key`, and of its media type and decompressed body. */
export interface Idempotency {
  key: Uint8Array;
  body: Uint8Array;
}

export type Lookup = { found: "none" } | { found: "conflict" } | { found: "receipt"; receipt: Receipt };

export function findReceipt(sql: SqlStorage, project: number, { key, body }: Idempotency, now: number): Lookup {
  const row = maybe(sql, "SELECT * FROM receipts WHERE project = ? AND key_hash = ?", project, key);
  if (!row || Number(row.created_at) <= now - INGEST_LIMITS.idempotencyMs) return { found: "none" };
  // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
  if (!sameBytes(new Uint8Array(row.body_hash as ArrayBuffer), body)) return { found: "conflict" };
  const firstSeq = Number(row.first_seq);
  const accepted = Number(row.accepted);
  return {
    found: "receipt",
    receipt: {
      accepted,
      // SAFETY: the text was written by `insertReceipt` from a list of rejections.
      rejected: row.rejected === null ? [] : (JSON.parse(String(row.rejected)) as Rejection[]),
      rejectedCount: Number(row.rejected_count),
      firstSeq,
      lastSeq: firstSeq + accepted - 1,
      duplicate: true,
    },
  };
}

export function insertReceipt(
  sql: SqlStorage,
  project: number,
  { key, body }: Idempotency,
  receipt: Receipt,
  now: number,
): void {
  sql.exec(
    `INSERT OR REPLACE INTO receipts (project, key_hash, body_hash, first_seq, accepted, rejected_count, rejected, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    project,
    key,
    body,
    receipt.firstSeq,
    receipt.accepted,
    receipt.rejectedCount,
    receipt.rejected.length === 0 ? null : JSON.stringify(receipt.rejected),
    now,
  );
}

/** Maximum rows that one sweep scans. */
const SWEEP_ROWS = 5000;

/** Position at which a sweep continues: the primary key of the last scanned row. */
export type ReceiptCursor = { project: number; key: ArrayBuffer };

/**
 * Deletes expired receipts in bounded steps. There is no index by age, because each ingest would write its rows. A
 * sweep scans the table in key order instead, and a read costs a thousandth of a write.
 * @returns where to continue, or null after the whole table was scanned
 */
export function sweepReceipts(sql: SqlStorage, from: ReceiptCursor | null, now: number): ReceiptCursor | null {
  const rows = sql
    .exec(
      `SELECT project, key_hash, created_at FROM receipts WHERE (project, key_hash) > (?, ?)
       ORDER BY project, key_hash LIMIT ?`,
      from?.project ?? 0,
      from?.key ?? new ArrayBuffer(0),
      SWEEP_ROWS,
    )
    .toArray();
  for (const row of rows) {
    if (Number(row.created_at) > now - INGEST_LIMITS.idempotencyMs) continue;
    sql.exec("DELETE FROM receipts WHERE project = ? AND key_hash = ?", row.project, row.key_hash);
  }
  const last = rows.at(-1);
  // SAFETY: `key_hash` is `BLOB NOT NULL` in a STRICT table.
  return rows.length < SWEEP_ROWS || !last
    ? null
    : { project: Number(last.project), key: last.key_hash as ArrayBuffer };
}

/**
 * Deletes some of a deleted project's receipts: a day may have millions.
 * @returns whether none is left
 */
export function deleteSomeReceipts(sql: SqlStorage, project: number): boolean {
  const rows = sql.exec("SELECT key_hash FROM receipts WHERE project = ? LIMIT ?", project, SWEEP_ROWS).toArray();
  for (const { key_hash } of rows) {
    sql.exec("DELETE FROM receipts WHERE project = ? AND key_hash = ?", project, key_hash);
  }
  return rows.length < SWEEP_ROWS;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** One ingest request, parsed and checked by the router. */
export interface IngestCall extends ChargedCall {
  keyHash: string;
  projectId: string;
  idempotency: Idempotency | null;
  /** `null` if no entry is valid: the request still counts, and an earlier receipt is still returned. */
  batch: Batch | null;
  rejected: Rejection[];
  rejectedCount: number;
  /** The age bound that an earlier call returned as `tooOld`, so that the second call cannot fail on a later one. */
  oldest: number | null;
}

export type IngestResult =
  | { ok: true; limit: LimitState | null; receipt: Receipt }
  /** No entry is valid and no receipt exists: a 400, which leaves no receipt. */
  | { ok: false; code: "VALIDATION_ERROR"; limit: LimitState | null }
  /**
   * Some entry is older than the retention. Nothing was counted: build the batch without these entries and call again.
   */
  | { ok: false; code: "TOO_OLD"; oldest: number }
  /** The sandbox accepts no more for now. `retryAfter` in milliseconds. */
  | { ok: false; code: "SANDBOX_FULL"; retryAfter: number }
  /** The object's storage is nearly full, because its batches do not move to the cold tier. */
  | { ok: false; code: "STORAGE_FULL"; limit: LimitState | null }
  /** The disk of the machine is nearly full. */
  | { ok: false; code: "DISK_FULL"; limit: LimitState | null }
  /** Waiting calls use all the memory. Nothing was counted: call again soon. */
  | { ok: false; code: "SERVICE_UNAVAILABLE"; message: string; limit: null }
  | Failure;

/** Maximum bytes of a call besides its batch. */
const CALL_BYTES = 1024;

/** Bytes that a call uses in memory until its commit. */
export function sizeOfCall({ batch, rejected }: IngestCall): number {
  const entries = batch === null ? 0 : batch.body.length + batch.summary.length;
  return CALL_BYTES + entries + rejected.length * CALL_BYTES;
}

/** What is full: the object's storage, or the disk of all objects. */
export type FullStorage = "STORAGE_FULL" | "DISK_FULL";

/** A stored batch for the object's index of recent batches. */
export interface CommittedBatch {
  commit: number;
  project: number;
  firstSeq: number;
  batch: Batch;
  receivedAt: number;
}

/**
 * Stores the batches of one group commit. All calls run in one synchronous turn in the caller's transaction, so that
 * admission, deduplication, `seq` and rows are decided and written together or not at all.
 */
export class IngestGroup {
  readonly #admission: AdmissionContext;
  readonly #retentionDays: number;
  readonly #now: number;
  readonly #full: FullStorage | null;
  #commit: number;
  /** Projects whose `last_seq` has risen. Written once at the end: one row, however many batches share the commit. */
  readonly #risen = new Set<ProjectRow>();
  readonly stored: CommittedBatch[] = [];

  /** @param full why no further batch can be stored; `null` if it can */
  constructor(
    admission: AdmissionContext,
    retentionDays: number,
    commit: number | null,
    now: number,
    full: FullStorage | null = null,
  ) {
    this.#admission = admission;
    this.#retentionDays = retentionDays;
    this.#now = now;
    this.#full = full;
    this.#commit = commit ?? lastCommit(admission.sql);
  }

  /** The newest commit number so far. */
  get commit(): number {
    return this.#commit;
  }

  run(call: IngestCall): IngestResult {
    const tooOld = this.#tooOld(call);
    if (tooOld !== null) {
      // Not counted: the caller repeats the request without its old entries. A late retry gets its receipt instead.
      const known = this.#admit(call, COUNTED);
      if (!known.ok) return known;
      if (this.#lookup(call, known.project.num).found === "none") return { ok: false, code: "TOO_OLD", oldest: tooOld };
    }
    const admitted = this.#admit(call, chargeOf(call));
    if (!admitted.ok) return admitted;
    const { project, limit } = admitted;
    const known = this.#lookup(call, project.num);
    if (known.found === "receipt") return { ok: true, limit, receipt: known.receipt };
    if (known.found === "conflict") {
      const message = "This Idempotency-Key has been used with another body.";
      return fail("IDEMPOTENCY_CONFLICT", message, { limit });
    }
    if (call.batch === null) return { ok: false, code: "VALIDATION_ERROR", limit };
    if (this.#full !== null) return { ok: false, code: this.#full, limit };
    return { ok: true, limit, receipt: this.#store(call, call.batch, project) };
  }

  /** Writes the rows that are written once for the whole group. */
  finish(): void {
    for (const project of this.#risen) {
      this.#admission.sql.exec(
        `UPDATE projects SET last_seq = ?, day = ?, day_seq = ?, waiting_batches = ?, waiting_entries = ?,
           waiting_bytes = ? WHERE num = ?`,
        project.lastSeq,
        project.day,
        project.daySeq,
        project.unflushedBatches,
        project.unflushedEntries,
        project.unflushedBytes,
        project.num,
      );
    }
  }

  #admit(call: IngestCall, charge: Charge): { ok: true; limit: LimitState | null; project: ProjectRow } | Failure {
    const caller = { kind: "key", hash: call.keyHash } as const;
    const requirement = { scope: "logs:write", role: "owner", projectId: call.projectId } as const;
    const admitted = admit(this.#admission, caller, requirement, charge, this.#now);
    if (!admitted.ok) return admitted;
    if (admitted.project === null) throw new Error("An admitted key has a project.");
    return { ok: true, limit: admitted.limit, project: admitted.project };
  }

  #lookup(call: IngestCall, project: number): Lookup {
    return call.idempotency
      ? findReceipt(this.#admission.sql, project, call.idempotency, this.#now)
      : { found: "none" };
  }

  #store(call: IngestCall, batch: Batch, project: ProjectRow): Receipt {
    const { sql } = this.#admission;
    const firstSeq = project.lastSeq + 1;
    const lastSeq = project.lastSeq + batch.count;
    const commit = this.#commit + 1;
    insertBatch(sql, commit, project.num, firstSeq, batch, this.#now);
    this.#commit = commit;
    const day = dayOf(this.#now);
    if (day > project.day) {
      project.day = day;
      project.daySeq = project.lastSeq;
    }
    project.lastSeq = lastSeq;
    project.unflushedBatches++;
    project.unflushedEntries += batch.count;
    project.unflushedBytes += batch.body.length;
    this.#risen.add(project);
    this.stored.push({ commit, project: project.num, firstSeq, batch, receivedAt: this.#now });
    const { rejected, rejectedCount } = call;
    const receipt: Receipt = { accepted: batch.count, rejected, rejectedCount, firstSeq, lastSeq, duplicate: false };
    if (call.idempotency) insertReceipt(sql, project.num, call.idempotency, receipt, this.#now);
    return receipt;
  }

  /** The retention cutoff if some entry of the batch is older than it, otherwise `null`. */
  #tooOld(call: IngestCall): number | null {
    const bound = Math.min(ingestCutoff(this.#retentionDays, this.#now), call.oldest ?? Number.POSITIVE_INFINITY);
    return call.batch !== null && call.batch.minTimestamp < bound ? bound : null;
  }
}
