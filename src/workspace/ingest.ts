import { type Charge, COUNTED, chargeOf, type LimitState } from "../limits/state.ts";
import type { Batch } from "../logs/batch.ts";
import { SharedRow } from "../logs/merge-batches.ts";
import { type Failure, fail } from "../rpc/result.ts";
import { type AdmissionContext, admit, unknownKey } from "./admission.ts";
import {
  batchesOf,
  type DoorCall,
  type DoorResult,
  type DoorTerms,
  entriesOf,
  type FullStorage,
  type IngestCall,
  type IngestResult,
  LOST_UPLOAD,
  reasonOf,
  type StageCall,
  type StageResult,
} from "./ingest-calls.ts";
import { LedgerCounts } from "./ledger.ts";
import type { Requirement } from "./permissions.ts";
import type { ProjectRow } from "./projects.ts";
import { findReceipt, findStored, insertReceipt, type Lookup, type Receipt } from "./receipts.ts";
import { type CommittedBatch, insertBatch, lastCommit } from "./recent/batches.ts";
import { commitStaged, findStaged, type StagedBatch, stageBatches } from "./recent/staged-batches.ts";
import { ingestCutoff } from "./settings.ts";
import { StreamReports } from "./streams.ts";
import { dayOf } from "./usage.ts";

const NO_BYTES = new Uint8Array();

/**
 * Stores the batches of one group commit. All calls run in one synchronous turn in the caller's transaction, so that
 * admission, deduplication, `seq` and rows are decided and written together or not at all.
 */
export class IngestGroup {
  readonly #admission: AdmissionContext;
  readonly #retentionDays: number;
  readonly #now: number;
  readonly #receivedAt: number;
  readonly #full: FullStorage | null;
  #commit: number;
  /** Projects whose `last_seq` has risen. Written once at the end: one row, however many batches share the commit. */
  readonly #risen = new Set<ProjectRow>();
  /** Rows that further small batches of the group may join, and the `seq` at which each begins. */
  readonly #open = new Map<ProjectRow, { row: SharedRow; firstSeq: number }>();
  readonly #ledger = new LedgerCounts();
  readonly #streams: StreamReports;
  readonly stored: CommittedBatch[] = [];

  /**
   * @param full why no further batch can be stored; `null` if it can
   * @param receivedAt the time of the workspace, which never falls, while limits and expiries follow the clock
   */
  constructor(
    admission: AdmissionContext,
    retentionDays: number,
    commit: number | null,
    now: number,
    full: FullStorage | null = null,
    receivedAt = now,
  ) {
    this.#admission = admission;
    this.#retentionDays = retentionDays;
    this.#now = now;
    this.#receivedAt = receivedAt;
    this.#full = full;
    this.#commit = commit ?? lastCommit(admission.sql);
    this.#streams = new StreamReports(admission.sql, now, this.#ledger);
  }

  /** The newest commit number so far. */
  get commit(): number {
    return this.#commit;
  }

  run(call: IngestCall): IngestResult {
    const result = this.#run(call);
    this.#note(call, result);
    return result;
  }

  /** Returns what a router must know of a key, and counts the request if it has not been counted. */
  admitDoor({ keyHash, isOpenKey, receipt, drops, ...charge }: DoorCall): DoorResult {
    const door = { settingsVersion: null, isOpenKey, isDerived: false };
    const admitted = this.#admit({ keyHash, projectId: null, door }, chargeOf(charge));
    if (!admitted.ok) return admitted;
    const terms = this.#terms(keyHash);
    if (terms === null) return unknownKey();
    const { project, limit } = admitted;
    const key = drops && this.#admission.keyProjectCache.key(keyHash);
    if (key) this.#ledger.addDrops(key, drops);
    const stored = receipt === undefined ? null : findStored(this.#admission.sql, project.num, receipt, this.#now);
    return { ok: true, limit, ...terms, ...(stored && { stored }) };
  }

  #run(call: IngestCall): IngestResult {
    const stale = this.#stale(call);
    if (stale !== null) return stale;
    const again = this.#again(call);
    if (again !== null) return again;
    const admitted = this.#admit(call, chargeOf(call));
    if (!admitted.ok) return admitted;
    const { project, limit } = admitted;
    const known = this.#lookup(call, project.num);
    if (known.found === "receipt") return { ok: true, limit, receipt: known.receipt };
    if (known.found === "conflict") {
      const message = "This Idempotency-Key has been used with another body.";
      return fail("IDEMPOTENCY_CONFLICT", message, { limit });
    }
    const staged = call.staged ? findStaged(this.#admission.sql, call.staged, project.num) : [];
    if (staged === null) return LOST_UPLOAD;
    if (staged.length === 0 && batchesOf(call).length === 0) {
      if (!call.mergedCount) return { ok: false, code: "VALIDATION_ERROR", limit };
      return { ok: true, limit, receipt: receiptOf(call, project.lastSeq + 1, project.lastSeq) };
    }
    if (this.#full !== null) return { ok: false, code: this.#full, limit };
    return { ok: true, limit, receipt: this.#store(call, staged, project) };
  }

  /** Stores batches of a request whose other batches are still arriving. The first of these calls counts the request. */
  stage(call: StageCall): StageResult {
    const tooOld = this.#tooOld(call.batches, call.oldest);
    const admitted = this.#admit(call, tooOld === null ? chargeOf(call) : COUNTED);
    if (!admitted.ok) return admitted;
    if (tooOld !== null) return { ok: false, code: "TOO_OLD", oldest: tooOld };
    const { project, limit } = admitted;
    const known = this.#known(call, project.num);
    if (known.length > 0) return { ok: false, code: "KNOWN_RECORDS", known, oldest: this.#oldest(call.oldest) };
    if (this.#full !== null) return { ok: false, code: this.#full, limit };
    const { sql } = this.#admission;
    stageBatches(sql, call.upload, project.num, call.batches, this.#now);
    return { ok: true, limit, oldest: this.#oldest(call.oldest) };
  }

  /**
   * Returns why the router has to call again with other entries; `null` if it has not. Nothing is counted then. A late retry
   * gets its receipt instead.
   */
  #again(call: IngestCall): IngestResult | null {
    const tooOld = this.#tooOld(batchesOf(call), call.oldest);
    if (tooOld === null && call.recordIds === undefined) return null;
    const admitted = this.#admit(call, COUNTED);
    if (!admitted.ok) return tooOld === null ? null : admitted;
    if (this.#lookup(call, admitted.project.num).found !== "none") return null;
    if (tooOld !== null) return { ok: false, code: "TOO_OLD", oldest: tooOld };
    const known = this.#known(call, admitted.project.num);
    return known.length === 0 ? null : { ok: false, code: "KNOWN_RECORDS", known, oldest: this.#oldest(call.oldest) };
  }

  /** Numbers of the records that are stored already. */
  #known({ recordIds }: Pick<IngestCall, "recordIds">, project: number): number[] {
    return recordIds === undefined ? [] : this.#admission.recordIds.known(project, recordIds, this.#now);
  }

  /** The settings of a call's key, if its entries were read with others. */
  #stale({ keyHash, door }: IngestCall): IngestResult | null {
    const version = door?.settingsVersion ?? null;
    const terms = version === null ? null : this.#terms(keyHash);
    return terms === null || terms.settingsVersion === version ? null : { ok: false, code: "STALE_SETTINGS", ...terms };
  }

  #terms(keyHash: string): DoorTerms | null {
    const key = this.#admission.keyProjectCache.key(keyHash);
    return key && { settings: key.settings, settingsVersion: key.settingsVersion, oldest: this.#oldest(null) };
  }

  /** Counts the entries of a call that are not stored, and notes the numbers of those that are. */
  #note(call: IngestCall, result: IngestResult): void {
    const reason = reasonOf(call, result);
    const receipt = result.ok && !result.receipt.duplicate ? result.receipt : null;
    const mergedCount = call.mergedCount ?? 0;
    const isPartial = call.rejectedCount + mergedCount > 0 || call.stream || call.drops;
    const isNoted = reason !== null || (receipt !== null && isPartial);
    const key = isNoted ? this.#admission.keyProjectCache.key(call.keyHash) : null;
    if (key === null) return;
    if (reason !== null) this.#ledger.add(key.project, key.id, reason, entriesOf(call));
    if (call.drops && (receipt !== null || reason === "rejected")) this.#ledger.addDrops(key, call.drops);
    if (receipt === null) return;
    if (call.rejectedCount > 0) this.#ledger.add(key.project, key.id, "rejected", call.rejectedCount);
    if (mergedCount > 0) this.#ledger.add(key.project, key.id, "merged", mergedCount);
    if (call.stream) this.#streams.add(key.project, key.id, call.stream, receipt.firstSeq);
  }

  /** Writes the rows that are written once for the whole group. */
  finish(): void {
    this.#streams.write();
    this.#admission.recordIds.write(this.#now);
    this.#ledger.write(this.#admission.sql, this.#admission.frequent, this.#now);
    for (const project of [...this.#open.keys()]) this.#close(project);
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

  #admit(
    { keyHash, projectId, door }: Pick<IngestCall, "keyHash" | "projectId" | "door">,
    charge: Charge,
  ): { ok: true; limit: LimitState | null; project: ProjectRow } | Failure {
    const caller = { kind: "key", hash: keyHash } as const;
    const requirement: Requirement = { scope: "logs:write", role: "owner", projectId };
    if (door?.isOpenKey) requirement.isOnlyScope = true;
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

  #store(call: IngestCall, staged: readonly StagedBatch[], project: ProjectRow): Receipt {
    const { sql } = this.#admission;
    const firstSeq = project.lastSeq + 1;
    const day = dayOf(this.#now);
    if (day > project.day) {
      project.day = day;
      project.daySeq = project.lastSeq;
    }
    if (staged.length > 0) this.#close(project);
    for (const batch of staged) {
      const first = project.lastSeq + 1;
      project.lastSeq += batch.count;
      commitStaged(sql, this.#commit + 1, project.num, first, batch, this.#receivedAt);
      this.#stored({ ...batch, summary: NO_BYTES, body: NO_BYTES }, first, batch.bodyBytes, true, project);
    }
    for (const batch of batchesOf(call)) this.#add(batch, project);
    const receipt = receiptOf(call, firstSeq, project.lastSeq);
    if (call.recordIds) this.#admission.recordIds.add(project.num, call.recordIds, this.#now);
    if (call.idempotency) insertReceipt(sql, project.num, call.idempotency, receipt, this.#now);
    return receipt;
  }

  /** Numbers the entries of a batch. A small batch shares a row with those before and after it in the group. */
  #add(batch: Batch, project: ProjectRow): void {
    const open = this.#open.get(project);
    const mayShare = SharedRow.mayShare(batch);
    if (open && !(mayShare && open.row.hasRoomFor(batch))) this.#close(project);
    const firstSeq = project.lastSeq + 1;
    project.lastSeq += batch.count;
    if (mayShare) {
      const shared = this.#open.get(project) ?? { row: new SharedRow(), firstSeq };
      this.#open.set(project, shared);
      shared.row.add(batch);
    } else this.#insert(batch, firstSeq, project);
  }

  /** Writes a project's shared row, if there is one. */
  #close(project: ProjectRow): void {
    const open = this.#open.get(project);
    if (open === undefined) return;
    this.#open.delete(project);
    this.#insert(open.row.merged(), open.firstSeq, project);
  }

  #insert(batch: Batch, firstSeq: number, project: ProjectRow): void {
    insertBatch(this.#admission.sql, this.#commit + 1, project.num, firstSeq, batch, this.#receivedAt);
    this.#stored(batch, firstSeq, batch.body.length, false, project);
  }

  /** Counts a batch that was inserted under the next commit number. */
  #stored(batch: Batch, firstSeq: number, bodyBytes: number, wasStaged: boolean, project: ProjectRow): void {
    const commit = ++this.#commit;
    project.unflushedBatches++;
    project.unflushedEntries += batch.count;
    project.unflushedBytes += bodyBytes;
    this.#risen.add(project);
    const { num } = project;
    const receivedAt = this.#receivedAt;
    this.stored.push({ commit, project: num, firstSeq, batch, bodyBytes, wasStaged, receivedAt });
  }

  /** The retention cutoff if some entry of the batches is older than it, otherwise `null`. */
  #tooOld(batches: readonly Batch[], known: number | null): number | null {
    const bound = this.#oldest(known);
    return batches.some(({ minTimestamp }) => minTimestamp < bound) ? bound : null;
  }

  #oldest(known: number | null): number {
    return Math.min(ingestCutoff(this.#retentionDays, this.#now), known ?? Number.POSITIVE_INFINITY);
  }
}

function receiptOf({ rejected, rejectedCount }: IngestCall, firstSeq: number, lastSeq: number): Receipt {
  return { accepted: lastSeq - firstSeq + 1, rejected, rejectedCount, firstSeq, lastSeq, duplicate: false };
}
