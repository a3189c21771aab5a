import { INGEST_LIMITS } from "../logs/entry.ts";
import type { Rejection } from "../logs/ingest/rejection.ts";
import { maybe } from "../platform/sql.ts";

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

/** Number of the entries that a request with an idempotency key has sent, and its body hash; `null` without such a request. */
export function findStored(
  sql: SqlStorage,
  project: number,
  key: Uint8Array,
  now: number,
): { entries: number; body: Uint8Array } | null {
  const row = maybe(sql, "SELECT * FROM receipts WHERE project = ? AND key_hash = ?", project, key);
  if (!row || Number(row.created_at) <= now - INGEST_LIMITS.idempotencyMs) return null;
  // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
  const body = new Uint8Array(row.body_hash as ArrayBuffer);
  return { entries: Number(row.accepted) + Number(row.rejected_count), body };
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
