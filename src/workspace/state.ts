import { Limiter } from "../limits/limiter.ts";
import { counted, ViolationOutbox } from "../limits/violation-outbox.ts";
import { SharedAlarm } from "../platform/alarm.ts";
import { hostState } from "../platform/host.ts";
import { migrate } from "../platform/sql.ts";
import { type AdmissionContext, KeyProjectCache } from "./admission.ts";
import { AuditedSessions } from "./audited-sessions.ts";
import { type FlushBounds, FlushSchedule, UnflushedBatches } from "./flush/schedule.ts";
import { IngestGroup } from "./ingest.ts";
import {
  BUSY,
  type DoorCall,
  type DoorResult,
  type FullStorage,
  type IngestCall,
  type IngestResult,
  type StageCall,
  type StageResult,
} from "./ingest-calls.ts";
import { FrequentCounts } from "./ledger.ts";
import { isProvisioned } from "./provision.ts";
import { BatchIndex } from "./recent/batch-index.ts";
import { type CommittedBatch, lastReceivedAt } from "./recent/batches.ts";
import { hasStagingRoom } from "./recent/staged-batches.ts";
import { RecordIds } from "./record-ids.ts";
import { WORKSPACE_SCHEMA } from "./schema.ts";
import { readWorkspace, type WorkspaceRow } from "./settings.ts";
import { StorageRoom } from "./usage.ts";

/** The settings' defaults. */
const FLUSH_BOUNDS: FlushBounds = { maxAgeMs: 3_600_000, fullRangeAgeMs: 30_000, maxBytes: 16_777_216 };

/**
 * Maximum milliseconds to the next alarm while there are unflushed batches. A lower RECENT_MAX_AGE_SECONDS may be deployed
 * while the object hibernates, and the object applies it at its next alarm.
 */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;

/** The part of an object's storage that its state works on. */
export type StateStorage = Pick<DurableObjectStorage, "sql" | "transactionSync" | "getAlarm" | "setAlarm">;

/**
 * The memory of a workspace object: caches of its storage, and transactions that change both together.
 * A transaction that throws is rolled back, so every cache is dropped and read again.
 */
export class WorkspaceState {
  readonly sql: SqlStorage;
  readonly keyProjectCache: KeyProjectCache;
  readonly limiter: Limiter;
  readonly violations: ViolationOutbox;
  /** Counts of the ledger that are not written yet. */
  readonly frequent = new FrequentCounts();
  readonly sessions: AuditedSessions;
  readonly recordIds: RecordIds;
  readonly alarm: SharedAlarm;
  readonly index: BatchIndex;
  readonly waiting: UnflushedBatches;
  readonly schedule: FlushSchedule;
  /** Called with the batches of each commit after its transaction. */
  onCommit: (stored: readonly CommittedBatch[]) => void = () => {};
  /** Called with the same batches, after `onCommit`. */
  onStored: (stored: readonly CommittedBatch[]) => void = () => {};
  /** Called after keys, projects, members or the workspace's row may have changed. */
  onChange: () => void = () => {};
  readonly #room: StorageRoom;
  readonly #storage: StateStorage;
  #row: WorkspaceRow | null = null;
  #lastCommit: number | null = null;
  /** The latest time of the workspace; `null`: not read yet. */
  #time: number | null = null;

  constructor(storage: StateStorage, bounds = FLUSH_BOUNDS) {
    this.#storage = storage;
    this.sql = storage.sql;
    this.keyProjectCache = new KeyProjectCache(storage.sql);
    this.limiter = new Limiter(storage.sql);
    this.violations = new ViolationOutbox(storage.sql);
    this.sessions = new AuditedSessions(storage.sql);
    this.recordIds = new RecordIds(storage.sql);
    this.alarm = new SharedAlarm(storage);
    this.index = new BatchIndex(storage.sql);
    this.waiting = new UnflushedBatches(storage.sql);
    this.schedule = new FlushSchedule(bounds);
    this.#room = new StorageRoom(storage.sql);
    if (isProvisioned(storage.sql)) storage.transactionSync(() => migrate(storage.sql, WORKSPACE_SCHEMA));
  }

  /**
   * The workspace's row; `null` for a deleted workspace, and for an unprovisioned object, which a forged locator or id may
   * reach and which must not write anything.
   */
  get row(): WorkspaceRow | null {
    if (this.#row === null && isProvisioned(this.sql)) {
      const row = readWorkspace(this.sql);
      if (row.deletedAt === null) this.#row = row;
    }
    return this.#row;
  }

  /** Runs `work` in one synchronous transaction, which also writes the counters; `null` without a workspace. */
  transaction<T>(work: (admission: AdmissionContext, row: WorkspaceRow) => T): T | null {
    const { row, sql, keyProjectCache, limiter, violations, sessions, frequent, recordIds } = this;
    if (row === null) return null;
    keyProjectCache.trim();
    try {
      const admission = {
        sql,
        keyProjectCache,
        limiter,
        violations,
        limits: row.limits,
        sessions,
        frequent,
        recordIds,
      };
      const done = this.#storage.transactionSync(() => counted(limiter, violations, () => work(admission, row)));
      if (violations.dueAt !== null) this.alarm.by(violations.dueAt);
      return done;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /**
   * Returns the time of the workspace, epoch milliseconds: the clock's, unless that has been set back. Entries are received
   * at this time, so the order of receipt is that of `seq`, and alerts decide on times that are over.
   */
  now(): number {
    this.#time = Math.max(this.#time ?? lastReceivedAt(this.sql), Date.now());
    return this.#time;
  }

  /** Runs one group commit; `null` without a workspace. */
  ingest(calls: readonly IngestCall[]): IngestResult[] | null {
    const now = Date.now();
    const full = fullStore(this.#room);
    const done = this.transaction((admission, row) => {
      const group = new IngestGroup(admission, row.retentionDays, this.#lastCommit, now, full, this.now());
      const results = calls.map((call) => group.run(call));
      group.finish();
      if (group.stored.length > 0) this.index.pack(group.stored.length);
      return { group, results };
    });
    if (done === null) return null;
    this.#lastCommit = done.group.commit;
    this.index.add(done.group.stored);
    for (const stored of done.group.stored) {
      const { project, bodyBytes: bytes } = stored;
      this.schedule.add({ project, count: stored.batch.count, bytes }, now);
      this.#room.took(bytes);
    }
    if (done.group.stored.length > 0) this.scheduleFlush(now);
    this.onCommit(done.group.stored);
    this.onStored(done.group.stored);
    return done.results;
  }

  /** Stores batches of a request whose other batches are still arriving; `null` without a workspace. */
  stage(call: StageCall): StageResult | null {
    const now = Date.now();
    const full = fullStore(this.#room);
    return this.transaction((admission, row) => {
      if (!hasStagingRoom(admission.sql, now)) return BUSY;
      return new IngestGroup(admission, row.retentionDays, this.#lastCommit, now, full).stage(call);
    });
  }

  /** Admits a request in the protocol of another client; `null` without a workspace. */
  admitDoor(call: DoorCall): DoorResult | null {
    const now = Date.now();
    return this.transaction((admission, row) => {
      const group = new IngestGroup(admission, row.retentionDays, this.#lastCommit, now);
      const result = group.admitDoor(call);
      if (call.drops) group.finish();
      return result;
    });
  }

  /** Sets the alarm for the next flush. */
  scheduleFlush(now: number): void {
    const at = this.flushDueAt(now, false);
    if (at !== null) this.alarm.by(at);
  }

  /**
   * Returns when the alarm must fire for the next flush, epoch milliseconds, at least `now`; `null` if nothing waits.
   * @param isOpen whether a flush is in progress
   */
  flushDueAt(now: number, isOpen: boolean): number | null {
    if (!this.schedule.isLoaded) this.schedule.load(this.waiting.summary());
    const at = this.schedule.dueAt(isOpen);
    return at === null ? null : Math.max(now, Math.min(at, now + LONGEST_SLEEP_MS));
  }

  /** Drops the caches of settings. Call after a change of keys, projects or the workspace's row: windows may have changed. */
  invalidateSettings(): void {
    this.#row = null;
    this.keyProjectCache.clear();
    this.limiter.forget();
    this.schedule.unload();
    this.onChange();
  }

  /** Drops every cache. Call after a rollback, and after all data has been deleted. */
  forget(): void {
    this.invalidateSettings();
    this.violations.forget();
    this.frequent.clear();
    this.sessions.forget();
    this.recordIds.forget();
    this.#lastCommit = null;
    this.#time = null;
    this.index.invalidate();
    this.waiting.forget();
  }
}

function fullStore(room: StorageRoom): FullStorage | null {
  if (hostState.disk === "low") return "DISK_FULL";
  return room.isFull() ? "STORAGE_FULL" : null;
}
