import type { Env } from "../../env.ts";
import { nextMailAt } from "../../mail/pending-mails.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { settingsOf } from "../../settings.ts";
import { type AdmissionContext, admit } from "../../workspace/admission.ts";
import { type AuditNote, recordAudit } from "../../workspace/audit.ts";
import { hasDirectoryChanges } from "../../workspace/directory-changes.ts";
import { hasColdEntries, LATE_WRITES_MS } from "../../workspace/flush/flushed-ranges.ts";
import type { ReceiptCursor } from "../../workspace/ingest.ts";
import { removeDeletedUser } from "../../workspace/membership.ts";
import {
  type Action,
  type Denied,
  isAudited,
  PERMISSIONS,
  type Role,
  roleFor,
  unknownCaller,
} from "../../workspace/permissions.ts";
import type { ProjectRow } from "../../workspace/projects.ts";
import { deletedWorkspace, isProvisioned, markWorkspaceDeleted } from "../../workspace/provision.ts";
import { WorkspaceState } from "../../workspace/state.ts";
import { enqueueDueMails } from "../queues/mails.ts";
import { enqueueDueViolations } from "../queues/violations.ts";
import { Directory, wipeExternalData } from "./directory.ts";
import { Flush } from "./flush.ts";
import { ColdCleanup, runHousekeeping } from "./upkeep.ts";

/** Milliseconds from waking to the first alarm, for an object that has lost its own. */
const REARM_MS = 60_000;

/** Milliseconds until what D1 did not take is tried again, and to the next step of what one alarm did not finish. */
const RETRY_MS = 30_000;
const STEP_MS = 100;

export type Answer<T> = { ok: true; value: T } | Denied;

/** How a workspace object changes, one synchronous transaction at a time, and what follows outside it by and by. */
export class WorkspaceCore {
  readonly state: WorkspaceState;
  readonly directory: Directory;
  readonly flush: Flush;
  readonly coldCleanup: ColdCleanup;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #receiptSweep: ReceiptCursor | null = null;
  /** When the next round of housekeeping is due; at once after waking. */
  #nextHousekeepingAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    const { RECENT_MAX_AGE_SECONDS, RECENT_MAX_BYTES } = settingsOf(env);
    const bounds = { maxAgeMs: RECENT_MAX_AGE_SECONDS * 1000, maxBytes: RECENT_MAX_BYTES };
    this.state = new WorkspaceState(ctx.storage, bounds);
    this.directory = new Directory(this, env.DB);
    this.flush = new Flush(ctx, env, this.state);
    this.coldCleanup = new ColdCleanup(env, this.state);
    // The platform gives an alarm up after six failures; whoever wakes the object next gets it going again.
    if (this.state.row || deletedWorkspace(this.state.sql)) ctx.blockConcurrencyWhile(() => this.#rearm());
  }

  /**
   * Does `work` for a member, whose role is checked in the same turn. The request has been counted by `admit`.
   * Whatever it may have changed, the caches of keys, projects and settings are read again afterwards. What does change
   * something calls `note`, so that the audit has it with the change or not at all.
   */
  as<T>(
    userId: string,
    action: Action,
    projectId: string,
    work: (admission: AdmissionContext, project: ProjectRow, id: string, note: AuditNote) => T,
    origin?: Origin,
  ): Answer<T>;
  as<T>(
    userId: string,
    action: Action,
    projectId: null,
    work: (admission: AdmissionContext, role: Role, id: string, note: AuditNote) => T,
    origin?: Origin,
  ): Answer<T>;
  as<T>(
    userId: string,
    action: Action,
    projectId: string | null,
    work: (admission: AdmissionContext, subject: never, id: string, note: AuditNote) => T,
    origin?: Origin,
  ): Answer<T> {
    const caller = { kind: "user", userId } as const;
    const requirement = { scope: null, role: roleFor(action), projectId };
    const answer = this.state.transaction((admission, { id }): Answer<T> => {
      const admitted = admit(admission, caller, requirement, null, Date.now());
      if (!admitted.ok) return admitted;
      // SAFETY: by the overloads `work` takes the project where one is named, and the role where none is; both are there.
      const subject = (projectId === null ? admitted.role : admitted.project) as never;
      const note: AuditNote = (target, change = {}) => {
        if (!isAudited(action)) throw new Error("A read changes nothing.");
        recordAudit(admission.sql, { actor: userId, action, target, ...change }, originOrNew(origin), Date.now());
      };
      return { ok: true, value: work(admission, subject, id, note) };
    });
    if (PERMISSIONS[action].invalidates === "workspace") this.state.invalidateSettings();
    return answer ?? unknownCaller(caller);
  }

  /** What was written is to be worked off before the answer where that is quick, and by the alarm where it is not. */
  async runPendingWork(origin: Origin): Promise<void> {
    const { row, alarm, sql } = this.state;
    if (deletedWorkspace(sql)) return this.finishDeletion();
    if (!row) return;
    this.#enqueueDueMails(row.id, origin);
    if (!hasDirectoryChanges(sql)) return;
    alarm.by(Date.now() + RETRY_MS);
    await this.directory.update(origin);
  }

  /** A member's account is gone; see `membership.ts`. `runPendingWork` has to follow. */
  removeDeletedUser(userId: string, origin: Origin): void {
    const { state } = this;
    const what = state.transaction(({ sql }) => removeDeletedUser(sql, userId, origin, Date.now()));
    state.invalidateSettings();
    if (what === "workspace") state.alarm.by(Date.now());
  }

  /** Deletions of projects are waiting. */
  scheduleSweep(): void {
    this.#nextHousekeepingAt = 0;
    this.state.alarm.by(Date.now());
  }

  /** Ends a workspace that has been deleted: everything outside the object, then the object. */
  async finishDeletion(): Promise<void> {
    const ended = deletedWorkspace(this.state.sql);
    if (!ended) return;
    const { id, deletedAt, requestId } = ended;
    const cause = requestId === null ? newAlarmOrigin() : { requestId };
    // Before anything is waited for: a crash must leave an alarm.
    this.state.alarm.by(Date.now() + RETRY_MS);
    const now = Date.now();
    let isDone = false;
    try {
      isDone = await wipeExternalData(this.#env, id);
    } catch (error) {
      return this.failed("workspace.wipe", error, cause, id);
    }
    if (!isDone) return this.state.alarm.by(Date.now() + STEP_MS);
    // Another call may have come to the end first.
    if (!deletedWorkspace(this.state.sql)) return;
    // A writer may still be at work for the workspace: what it brings is wiped when it can bring nothing more.
    const endsAt = deletedAt + LATE_WRITES_MS;
    if (now < endsAt && hasColdEntries(this.state.sql)) return this.state.alarm.by(endsAt);
    await this.destroy();
    this.log("info", cause, { event: "workspace.wipe", outcome: "ok", workspaceId: id });
  }

  /** Everything goes: at once where it is all in this object, by and by where some of it is in the cold tier. */
  async end(origin: Origin): Promise<void> {
    const { sql } = this.state;
    if (!isProvisioned(sql) || !hasColdEntries(sql)) return this.destroy();
    this.state.transaction((admission) => markWorkspaceDeleted(admission.sql, origin, Date.now()));
    this.state.forget();
    await this.finishDeletion();
  }

  async destroy(): Promise<void> {
    this.state.forget();
    this.state.alarm.onFired();
    await this.#ctx.storage.deleteAlarm();
    await this.#ctx.storage.deleteAll();
    // A call that came between may have read the row again, whose tables are gone now.
    this.state.forget();
  }

  async alarm(run: Origin): Promise<void> {
    const { alarm, violations, row, sql } = this.state;
    alarm.onFired();
    if (deletedWorkspace(sql)) return this.finishDeletion();
    if (row === null) return;
    const now = Date.now();
    // A flood of refusals is looked at every few seconds, and a flush goes in steps; that is no reason to sweep every table.
    const isForOthers = (violations.dueAt !== null && violations.dueAt <= now) || this.flush.isDue(now);
    enqueueDueViolations(this.#env, violations, row.id, now, run);
    if (!isForOthers || now >= this.#nextHousekeepingAt) this.#runHousekeeping(now);
    this.#enqueueDueMails(row.id, run);
    alarm.by(Math.min(this.#nextHousekeepingAt, violations.dueAt ?? Number.POSITIVE_INFINITY));
    await this.directory.update(run);
    await this.#resolveCreation(now, run);
    await this.directory.repairIfDue(now, run);
    // Last, as it may wait for D1 for long.
    await this.flush.step(run);
    await this.coldCleanup.step(run);
    this.flush.arm(Date.now());
    this.coldCleanup.arm(Date.now());
  }

  /** What was begun by a request that never said how it ended: listed, it is a workspace; not listed in time, it goes. */
  async #resolveCreation(now: number, run: Origin): Promise<void> {
    const resolveAt = this.state.row?.resolveAt ?? null;
    if (resolveAt === null) return;
    try {
      // `now` is from before the directory is asked: only an answer from after `resolveAt` proves that nothing follows.
      if ((await this.directory.slug()) !== null) return;
      if (now >= resolveAt) return await this.end(run);
      this.state.alarm.by(resolveAt);
    } catch (error) {
      this.failed("workspace.settle", error, run);
      this.state.alarm.by(Date.now() + RETRY_MS);
    }
  }

  #enqueueDueMails(id: string, origin: Origin): void {
    const { sql, alarm } = this.state;
    enqueueDueMails(this.#env, sql, id, Date.now(), origin);
    const at = nextMailAt(sql);
    if (at !== null) alarm.by(at);
  }

  #runHousekeeping(now: number): void {
    const round = this.state.transaction((admission) =>
      runHousekeeping(admission.sql, this.state.limiter, this.#receiptSweep, now),
    );
    if (!round) return;
    this.#receiptSweep = round.receipts;
    this.state.index.remove(round.deleted);
    this.#nextHousekeepingAt = round.nextAt;
  }

  async #rearm(): Promise<void> {
    const now = Date.now();
    if ((await this.state.alarm.load()) === null) this.state.alarm.by(now + REARM_MS);
    // The settings may have changed since the alarm was set.
    this.flush.arm(now);
  }

  /** Logs the failure of a step that the alarm repeats. */
  failed(event: string, error: unknown, origin: Pick<Origin, "requestId">, workspaceId = this.state.row?.id): void {
    const fault = error instanceof Error ? error.name : "unknown";
    this.log("error", origin, { event, outcome: "failed", workspaceId, fault });
  }

  log(level: EventLevel, origin: Pick<Origin, "requestId">, fields: EventFields): void {
    logObjectEvent(this.#env, "workspace", origin, level, fields);
  }
}
