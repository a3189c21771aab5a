import type { Env } from "../../env.ts";
import { nextMailAt } from "../../mail/pending-mails.ts";
import type { Duty } from "../../platform/alarm.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { compactorOf } from "../../rpc/call.ts";
import type { CallOf } from "../../rpc/management.ts";
import { fail, type Result } from "../../rpc/result.ts";
import { settingsOf } from "../../settings.ts";
import { type AdmissionContext, admit } from "../../workspace/admission.ts";
import { type AuditNote, recordAudit } from "../../workspace/audit.ts";
import { directoryVersion } from "../../workspace/directory-changes.ts";
import { hasColdEntries, LATE_WRITES_MS, nextProjectToClear } from "../../workspace/flush/flushed-ranges.ts";
import { writeFrequent } from "../../workspace/ledger.ts";
import {
  type Action,
  type Caller,
  isAudited,
  PERMISSIONS,
  type Role,
  roleFor,
  scopeFor,
  unknownCaller,
} from "../../workspace/permissions.ts";
import type { ProjectRow } from "../../workspace/projects.ts";
import { deletedWorkspace, isProvisioned, markWorkspaceDeleted } from "../../workspace/provision.ts";
import type { WorkspaceRow } from "../../workspace/settings.ts";
import { WorkspaceState } from "../../workspace/state.ts";
import { enqueueDueMails, mailDuty } from "../queues/mails.ts";
import { violationDuty } from "../queues/violations.ts";
import { Alerts } from "./alerts.ts";
import { Cleanup, Housekeeping } from "./cleanup.ts";
import { Compaction, IS_COMPACTING } from "./compaction.ts";
import { Deliveries } from "./deliveries.ts";
import { Directory, wipeExternalData } from "./directory.ts";
import { Flush } from "./flush.ts";

/** Milliseconds from the start of an object to its first alarm, if the object has lost its own. */
const REARM_MS = 60_000;

/** Milliseconds until the alarm repeats what D1 did not take. */
const RETRY_MS = 30_000;
/** Milliseconds to the next step of work that one alarm did not finish. */
const STEP_MS = 100;

/**
 * Work on behalf of an admitted caller.
 * @param subject the project that the call names, or the member's role
 * @param id id of the workspace
 * @param actor id of the user or of the key
 */
type AdmittedWork<S, T> = (
  admission: AdmissionContext,
  subject: S,
  id: string,
  note: AuditNote,
  actor: string,
) => Result<T>;

/** The workspace as it was before a change. */
interface BeforeChange {
  row: WorkspaceRow;
  directoryVersion: number;
}

/** Applies changes to a workspace object in synchronous transactions and does the pending work that follows. */
export class WorkspaceCore {
  readonly state: WorkspaceState;
  readonly directory: Directory;
  readonly flush: Flush;
  readonly cleanup: Cleanup;
  readonly compaction: Compaction;
  readonly violations: Duty;
  readonly housekeeping: Housekeeping;
  readonly mails: Duty;
  readonly deliveries: Deliveries;
  readonly alerts: Alerts;
  /** Sets the alarm itself, because a request starts it. */
  readonly deletion: Duty = { name: "deletion", dueAt: () => null, run: () => this.finishDeletion() };
  readonly #ctx: DurableObjectState;
  readonly #env: Env;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    const { RECENT_MAX_AGE_SECONDS, RECENT_FULL_AGE_SECONDS, RECENT_MAX_BYTES } = settingsOf(env);
    const bounds = {
      maxAgeMs: RECENT_MAX_AGE_SECONDS * 1000,
      fullRangeAgeMs: RECENT_FULL_AGE_SECONDS * 1000,
      maxBytes: RECENT_MAX_BYTES,
    };
    this.state = new WorkspaceState(ctx.storage, bounds);
    this.directory = new Directory(this, env.DB);
    this.flush = new Flush(ctx, env, this.state);
    this.cleanup = new Cleanup(env, this.state);
    this.compaction = new Compaction(this.state, () => ctx.storage.sync(), {
      isOn: IS_COMPACTING,
      compact: (call) => compactorOf(env, call.workspaceId).compact(call),
      log: (level, origin, fields) => this.log(level, origin, fields),
    });
    const owner = () => this.state.row?.id ?? "";
    const violations = violationDuty(env, this.state.violations, owner);
    // Every request beyond the limit makes this duty due, so its count in the ledger waits no longer than the violation.
    this.violations = {
      ...violations,
      run: (now, ...rest) => {
        writeFrequent(this.state.sql, this.state.frequent, now);
        return violations.run(now, ...rest);
      },
    };
    this.mails = mailDuty(env, this.state.sql, owner);
    this.deliveries = new Deliveries(env, this.state);
    this.alerts = new Alerts(ctx, env, this.state, this.deliveries);
    this.housekeeping = new Housekeeping(this.state, [this.violations, this.deliveries, this.alerts, this.flush]);
    // The platform drops an alarm after six failures. The constructor sets it again.
    if (this.state.row || deletedWorkspace(this.state.sql)) ctx.blockConcurrencyWhile(() => this.#rearm());
  }

  /**
   * Changes the workspace: runs `work` in one transaction, invalidates the caches in the same turn, and does the pending
   * work that is on disk afterwards. Every change by a member or another object goes through here, so that no method has
   * to start its pending work.
   * @param hasChanged whether `work` has changed anything but counters; if not, there is nothing to invalidate or to do
   * @returns the result of `work`; `null` if this object is not a workspace
   */
  async change<T>(
    origin: Origin,
    work: (admission: AdmissionContext, row: WorkspaceRow) => T,
    hasChanged: (result: T) => boolean = () => true,
  ): Promise<T | null> {
    const { state } = this;
    const before = state.row && { row: state.row, directoryVersion: directoryVersion(state.sql) };
    const result = state.transaction(work);
    if (result !== null && !hasChanged(result)) return result;
    state.invalidateSettings();
    await this.#runPendingWork(before, origin);
    return result;
  }

  /**
   * Admits a caller, counts the request and runs `work`, in one transaction. An action that changes something is run by
   * `change`, and `work` calls `note`, so that the change and its audit item are committed together.
   */
  as<T>(by: CallOf<Caller>, action: Action, projectId: string, work: AdmittedWork<ProjectRow, T>): Promise<Result<T>>;
  as<T>(by: CallOf<Caller>, action: Action, projectId: null, work: AdmittedWork<Role, T>): Promise<Result<T>>;
  async as<T>(
    { caller, charge, origin }: CallOf<Caller>,
    action: Action,
    projectId: string | null,
    work: AdmittedWork<never, T>,
  ): Promise<Result<T>> {
    const requirement = { scope: scopeFor(action), role: roleFor(action), projectId };
    if (caller.kind !== "user" && (requirement.scope === null || projectId === null))
      return fail("FORBIDDEN", "Only members may do this.");
    const run = (admission: AdmissionContext, { id }: WorkspaceRow): Result<T> => {
      const admitted = admit(admission, caller, requirement, charge, Date.now());
      if (!admitted.ok) return admitted;
      // SAFETY: by the overloads `work` takes the project if one is named, and the role otherwise; both are there.
      const subject = (projectId === null ? admitted.role : admitted.project) as never;
      const note: AuditNote = (target, change = {}) => {
        if (!isAudited(action)) throw new Error("A read changes nothing.");
        recordAudit(admission.sql, { actor: admitted.actor, action, target, ...change }, origin, Date.now());
      };
      const result = work(admission, subject, id, note, admitted.actor);
      return admitted.limit === null ? result : { ...result, limit: admitted.limit };
    };
    const isChange = PERMISSIONS[action].invalidates === "workspace";
    const result = isChange ? await this.change(origin, run, ({ ok }) => ok) : this.state.transaction(run);
    return result ?? unknownCaller(caller);
  }

  /**
   * Does what a change left to be done outside its transaction, before the response. The alarm repeats what fails. Waits for
   * D1 only if this change concerns the directory: other changes must not wait while D1 fails.
   */
  async #runPendingWork(before: BeforeChange | null, origin: Origin): Promise<void> {
    const { row, alarm, sql } = this.state;
    if (deletedWorkspace(sql)) return this.finishDeletion();
    if (row === null || before === null) return;
    if (row.retentionDays < before.row.retentionDays) this.cleanup.expireSoon();
    if (nextProjectToClear(sql) !== null) this.housekeeping.startNow();
    enqueueDueMails(this.#env, sql, row.id, Date.now(), origin);
    const mailAt = nextMailAt(sql);
    if (mailAt !== null) alarm.by(mailAt);
    this.deliveries.start(Date.now(), origin);
    this.alerts.changed();
    if (directoryVersion(sql) === before.directoryVersion) return;
    alarm.by(Date.now() + RETRY_MS);
    await this.directory.update(origin);
  }

  /** Continues the deletion of the workspace: first everything outside the object, then the object. */
  async finishDeletion(): Promise<void> {
    const deleted = deletedWorkspace(this.state.sql);
    if (!deleted) return;
    const { id, deletedAt, requestId } = deleted;
    const cause = requestId === null ? newAlarmOrigin() : { requestId };
    // Set before the first await, so that a crash leaves an alarm.
    this.state.alarm.by(Date.now() + RETRY_MS);
    const now = Date.now();
    let isDone = false;
    try {
      isDone = await wipeExternalData(this.#env, id);
    } catch (error) {
      return this.failed("workspace.wipe", error, cause, { workspaceId: id });
    }
    if (!isDone) return this.state.alarm.by(Date.now() + STEP_MS);
    // Another call may have finished the deletion during the await.
    if (!deletedWorkspace(this.state.sql)) return;
    // A cold writer may still insert segments. Wait until its deadline has passed, then delete them.
    const endsAt = deletedAt + LATE_WRITES_MS;
    if (now < endsAt && hasColdEntries(this.state.sql)) return this.state.alarm.by(endsAt);
    await this.destroy();
    this.log("info", cause, { event: "workspace.wipe", outcome: "ok", workspaceId: id });
  }

  /** Deletes the workspace: immediately if all data is in this object, otherwise in steps that also clear the cold tier. */
  async deleteWorkspace(origin: Origin): Promise<void> {
    const { sql } = this.state;
    if (!isProvisioned(sql) || !hasColdEntries(sql)) return this.destroy();
    this.state.transaction((admission) => markWorkspaceDeleted(admission.sql, origin, Date.now()));
    this.state.forget();
    await this.finishDeletion();
  }

  async destroy(): Promise<void> {
    this.state.forget();
    this.state.alarm.forget();
    await this.#ctx.storage.deleteAlarm();
    await this.#ctx.storage.deleteAll();
    // A call during the awaits may have read the row again, and its tables are deleted now.
    this.state.forget();
  }

  async #rearm(): Promise<void> {
    const now = Date.now();
    if ((await this.state.alarm.load()) === null) this.state.alarm.by(now + REARM_MS);
    // The settings may have changed since the alarm was set.
    const flushAt = this.flush.dueAt(now);
    if (flushAt !== null) this.state.alarm.by(flushAt);
    // Deliveries that wait for a free place may have none: earlier versions set it only when an attempt ended.
    const deliveryAt = this.deliveries.dueAt(now);
    if (deliveryAt !== null) this.state.alarm.by(Math.max(deliveryAt, now));
  }

  /** Logs the failure of a step that the alarm repeats. */
  failed(event: string, error: unknown, origin: Pick<Origin, "requestId">, more: Record<string, string> = {}): void {
    const fault = error instanceof Error ? error.name : "unknown";
    this.log("error", origin, { event, outcome: "failed", workspaceId: this.state.row?.id, ...more, fault });
  }

  log(level: EventLevel, origin: Pick<Origin, "requestId">, fields: EventFields): void {
    logObjectEvent(this.#env, "workspace", origin, level, fields);
  }
}
