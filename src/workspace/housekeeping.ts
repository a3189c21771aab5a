import type { Limiter } from "../limits/limiter.ts";
import { sweepAudit } from "./audit.ts";
import { deleteSomeBatches } from "./batches.ts";
import { markProjectCleared, nextProjectToClear } from "./flush/doomed.ts";
import { deleteSomeReceipts, type ReceiptCursor, sweepReceipts } from "./receipts.ts";

/** Milliseconds between two rounds while there is nothing urgent: a row written an hour. */
const ROUND_MS = 60 * 60 * 1000;
/** Milliseconds to the next step of work that did not fit into one turn. */
const STEP_MS = 100;

export interface RoundResult {
  /** Commit numbers of deleted batches, for the index of recent batches. */
  deleted: number[];
  /** Where the sweep of receipts goes on. */
  receipts: ReceiptCursor | null;
  /** Epoch milliseconds of the next alarm. */
  nextAt: number;
}

/** One bounded step of the work that nobody waits for: expired counters, receipts and audit items, logs of deleted projects. */
export function runHousekeeping(
  sql: SqlStorage,
  limiter: Limiter,
  from: ReceiptCursor | null,
  now: number,
): RoundResult {
  const sweepAt = limiter.sweep(now) ?? Number.POSITIVE_INFINITY;
  const receipts = sweepReceipts(sql, from, now);
  let urgent = sweepAudit(sql, now) || receipts !== null;
  const deleted: number[] = [];
  const doomed = nextProjectToClear(sql);
  if (doomed !== null) {
    urgent = true;
    const step = deleteSomeBatches(sql, doomed);
    deleted.push(...step.commits);
    if (step.done && deleteSomeReceipts(sql, doomed)) markProjectCleared(sql, doomed);
  }
  return { deleted, receipts, nextAt: Math.min(sweepAt, now + (urgent ? STEP_MS : ROUND_MS)) };
}
