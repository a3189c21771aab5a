import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import type { LimitConfiguration } from "../limits/cascade.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import type { Violation } from "../limits/violation.ts";
import { type Admitted, admit, type Gate, unknownKey } from "../workspace/admission.ts";
import { type Caller, type Denied, type Need, nobody, type Role } from "../workspace/caller.ts";
import { GroupCommit } from "../workspace/group-commit.ts";
import { houseKeep } from "../workspace/housekeeping.ts";
import type { IngestCall, IngestResult } from "../workspace/ingest.ts";
import {
  createKey,
  getKeys,
  type KeyPage,
  type KeyRequest,
  type MadeKey,
  removeKey,
  rotateKey,
} from "../workspace/key-actions.ts";
import { revokeKeysBy } from "../workspace/keys.ts";
import { writeLimits } from "../workspace/limit-rules.ts";
import { type LiveCounter, liveCounters } from "../workspace/live-counters.ts";
import { createProject, deleteProject, listProjects, type ProjectRow, renameProject } from "../workspace/projects.ts";
import { type NewWorkspace, provision } from "../workspace/provision.ts";
import type { ReceiptCursor } from "../workspace/receipts.ts";
import { type RecentPage, type RecentScan, readRecent } from "../workspace/recent-reader.ts";
import { WorkspaceState } from "../workspace/state.ts";
import { handOverViolations } from "./violation-hand-over.ts";

/** Milliseconds from waking to housekeeping, for an object that has lost its alarm. */
const REARM_MS = 60_000;

export type Answer<T> = { ok: true; value: T } | Denied;

/** A read of recent batches. `route` is null for a later page of one request: it is not counted again. */
export interface RecentCall {
  caller: Caller;
  route: RouteRef | null;
  projectId: string | null;
  scan: RecentScan;
}

export type RecentResult = { ok: true; limit: LimitState | null; page: RecentPage } | Denied;

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn. An object that was never provisioned answers
 * like a workspace that knows nobody, and writes nothing.
 */
export class WorkspaceObject extends DurableObject<Env> {
  readonly #state: WorkspaceState;
  readonly #ingest: GroupCommit<IngestCall, IngestResult>;
  #receiptSweep: ReceiptCursor | null = null;
  /** When the next round of housekeeping is due; at once after waking. */
  #roundAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#state = new WorkspaceState(ctx.storage);
    this.#ingest = new GroupCommit(
      (calls) => this.#state.ingest(calls) ?? calls.map(unknownKey),
      () => ctx.storage.sync(),
    );
    // The platform gives an alarm up after six failures; whoever wakes the object next gets it going again.
    if (this.#state.row) ctx.blockConcurrencyWhile(() => this.#rearm());
  }

  /** Makes the workspace exist, with the alarm that keeps it tidy. Safe to repeat with the same values. */
  async provision(workspace: NewWorkspace): Promise<void> {
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, Date.now()));
    this.#state.alarm.by(Date.now() + 1000);
  }

  /** Deletes everything. For a registration that lost the race for its address, and for account deletion. */
  async destroy(): Promise<void> {
    this.#state.forget();
    this.#state.alarm.wentOff();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  /** Decides on a request and counts it: what every request of a user begins with, and all that a bad body gets. */
  async admit(caller: Caller, need: Need, route: RouteRef): Promise<Admitted | Denied> {
    return this.#state.transaction((gate) => admit(gate, caller, need, route, Date.now())) ?? nobody(caller);
  }

  /** Stores one batch, together with those that arrive with it. */
  async ingest(call: IngestCall): Promise<IngestResult> {
    return this.#state.row ? this.#ingest.submit(call) : unknownKey();
  }

  /** Gives the recent batches that a query may need, some at a time. */
  async recent(call: RecentCall): Promise<RecentResult> {
    const need = { scope: "logs:read", role: "viewer", projectId: call.projectId } as const;
    const result = this.#state.transaction((gate, row): RecentResult => {
      const admitted = admit(gate, call.caller, need, call.route, Date.now());
      if (!admitted.ok) return admitted;
      const { limit, project } = admitted;
      const projects = project ? [project] : listProjects(gate.sql, 0, Number.MAX_SAFE_INTEGER);
      const scope = { name: project?.id ?? row.id, projects };
      return { ok: true, limit, page: readRecent(gate.sql, this.#state.index, call.scan, scope) };
    });
    return result ?? nobody(call.caller);
  }

  async createProject(userId: string, name: string): Promise<Answer<ProjectRow>> {
    return this.#as(userId, "member", null, ({ sql }) => createProject(sql, name, Date.now()));
  }

  async listProjects(userId: string, cursor: number, limit: number): Promise<Answer<ProjectRow[]>> {
    return this.#as(userId, "viewer", null, ({ sql }) => listProjects(sql, cursor, limit));
  }

  async getProject(userId: string, projectId: string): Promise<Answer<ProjectRow>> {
    return this.#as(userId, "viewer", projectId, (_, project) => project);
  }

  async renameProject(userId: string, projectId: string, name: string): Promise<Answer<ProjectRow>> {
    return this.#as(userId, "member", projectId, ({ sql }, project) => {
      renameProject(sql, project.num, name);
      return { ...project, name };
    });
  }

  /** Its keys are dead with this turn; its logs are found by no query any more and deleted in steps by the alarm. */
  async deleteProject(userId: string, projectId: string): Promise<Answer<true>> {
    const answer = this.#as(userId, "member", projectId, ({ sql }, project) => {
      deleteProject(sql, project.num);
      return true as const;
    });
    if (answer.ok) {
      this.#roundAt = 0;
      this.#state.alarm.by(Date.now());
    }
    return answer;
  }

  async createKey(userId: string, projectId: string, request: KeyRequest): Promise<Answer<MadeKey>> {
    return this.#as(userId, "admin", projectId, ({ sql }, { num }, workspaceId) =>
      createKey(sql, workspaceId, num, userId, request, Date.now()),
    );
  }

  async listKeys(
    userId: string,
    projectId: string,
    cursor: string | null,
    limit: number,
  ): Promise<Answer<KeyPage | null>> {
    return this.#as(userId, "viewer", projectId, ({ sql }, project) => getKeys(sql, project.num, cursor, limit));
  }

  /** Null where the project has no such key, or one that is dead already. */
  async rotateKey(
    userId: string,
    projectId: string,
    keyId: string,
    overlapSeconds: number,
  ): Promise<Answer<MadeKey | null>> {
    return this.#as(userId, "admin", projectId, ({ sql }, { num }, workspaceId) =>
      rotateKey(sql, workspaceId, num, userId, keyId, overlapSeconds, Date.now()),
    );
  }

  /** False where the project has no such key. Revoking a revoked key changes nothing. */
  async revokeKey(userId: string, projectId: string, keyId: string): Promise<Answer<boolean>> {
    return this.#as(userId, "admin", projectId, ({ sql }, { num }) => removeKey(sql, num, keyId, Date.now()));
  }

  /** Ends the keys that a user made by `until`: of one who leaves, or whose account was somebody else's until then. */
  async revokeKeysOf(userId: string, until: number): Promise<void> {
    this.#state.transaction(({ sql }) => revokeKeysBy(sql, userId, until, Date.now()));
    this.#state.settingsChanged();
  }

  async rateLimits(userId: string): Promise<Answer<{ limits: LimitConfiguration; live: LiveCounter[] }>> {
    return this.#as(userId, "viewer", null, (gate) => ({
      limits: gate.limits.configuration,
      live: liveCounters(gate, Date.now()),
    }));
  }

  /** Replaces the configuration; the next request falls under the new one. */
  async setLimits(userId: string, limits: LimitConfiguration): Promise<Answer<true>> {
    return this.#as(userId, "admin", null, ({ sql }) => {
      writeLimits(sql, limits);
      return true as const;
    });
  }

  /** The consumer of the violations queue has written these to D1. */
  async violationsStored(violations: readonly Violation[]): Promise<void> {
    if (this.#state.row) this.#state.violations.stored(violations, Date.now());
  }

  override async alarm(): Promise<void> {
    const { alarm, violations, row } = this.#state;
    alarm.wentOff();
    if (row === null) return;
    const now = Date.now();
    // A flood of refusals is looked at every few seconds; that is no reason to sweep every table.
    const isForViolations = violations.dueAt !== null && violations.dueAt <= now && now < this.#roundAt;
    handOverViolations(this.env, violations, row.id, now);
    if (!isForViolations) this.#houseKeep(now);
    alarm.by(Math.min(this.#roundAt, violations.dueAt ?? Number.POSITIVE_INFINITY));
  }

  #houseKeep(now: number): void {
    const round = this.#state.transaction((gate) => houseKeep(gate.sql, this.#state.limiter, this.#receiptSweep, now));
    if (!round) return;
    this.#receiptSweep = round.receipts;
    for (const commit of round.deleted) this.#state.index.remove(commit);
    this.#roundAt = round.nextAt;
  }

  async #rearm(): Promise<void> {
    if ((await this.#state.alarm.load()) === null) this.#state.alarm.by(Date.now() + REARM_MS);
  }

  /**
   * Does `work` for a member, whose role is checked in the same turn. The request has been counted by `admit`.
   * Whatever it changed, the caches of keys, projects and settings are read again afterwards.
   */
  #as<T>(
    userId: string,
    role: Role,
    projectId: string,
    work: (gate: Gate, project: ProjectRow, id: string) => T,
  ): Answer<T>;
  #as<T>(userId: string, role: Role, projectId: null, work: (gate: Gate) => T): Answer<T>;
  #as<T>(
    userId: string,
    role: Role,
    projectId: string | null,
    work: (gate: Gate, project: ProjectRow, id: string) => T,
  ): Answer<T> {
    const caller = { kind: "user", userId } as const;
    const answer = this.#state.transaction((gate, { id }): Answer<T> => {
      const admitted = admit(gate, caller, { scope: null, role, projectId }, null, Date.now());
      // SAFETY: a named project is there once admitted; without one, `work` takes no project.
      return admitted.ok ? { ok: true, value: work(gate, admitted.project as ProjectRow, id) } : admitted;
    });
    this.#state.settingsChanged();
    return answer ?? nobody(caller);
  }
}
