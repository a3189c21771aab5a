import type { MatchCall, Matched } from "../../alerts/match-range.ts";
import { ProjectAlerts } from "../../alerts/project-alerts.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import { advanceRules, type Step } from "../../alerts/step.ts";
import type { Env } from "../../env.ts";
import type { Duty } from "../../platform/alarm.ts";
import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { mapRows } from "../../platform/sql.ts";
import { settingsOf } from "../../settings.ts";
import { findProjectByNum, type ProjectRow } from "../../workspace/projects.ts";
import type { CommittedBatch } from "../../workspace/recent/batches.ts";
import { nextBySeq } from "../../workspace/recent/reader.ts";
import type { WorkspaceRow } from "../../workspace/settings.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import type { AlertMatcher } from "./alert-matcher.ts";
import type { Deliveries } from "./deliveries.ts";

/** Milliseconds between two steps of a project whose rules have all entries. */
const STEP_MS = 1000;
/** Milliseconds that the object stays awake for the next decision. For a later one it sets the alarm. */
const LINGER_MS = 5000;
/** Milliseconds until the alarm resumes work that ended with its object. */
const WATCHDOG_MS = 5000;
/** Milliseconds after which the answer of a matching call is not awaited any longer. */
const ANSWER_MS = 60_000;
const AFTER_FAULT: Backoff = { firstMs: 1000, maxMs: 60_000 };

interface Project {
  /** `null`: to be read from disk. */
  alerts: ProjectAlerts | null;
  /** Whether members may have changed the rules since the last step. */
  isChanged: boolean;
  /** No step is made before this time, epoch milliseconds. */
  notBefore: number;
  faults: number;
}

/**
 * Hands the entries of each project to its alert rules, in order of `seq`, each once. Entries are matched beside the
 * object; what they change is one transaction of it. After an interruption, the next step continues at the position on
 * disk.
 */
export class Alerts implements Duty {
  readonly name = "alerts";
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  readonly #deliveries: Pick<Deliveries, "start">;
  /** Projects with rules by `num`; `null`: to be read from disk. */
  #projects: Map<number, Project> | null = null;
  #running: Promise<void> | null = null;
  /** When the alarm checks that the loop still runs, epoch milliseconds. */
  #watchdogAt = 0;
  #origin = newAlarmOrigin();

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState, deliveries: Pick<Deliveries, "start">) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
    this.#deliveries = deliveries;
    state.onStored = (stored) => this.#stored(stored);
  }

  /** While the loop runs, the alarm only has to resume it after a crash. */
  dueAt(): number | null {
    return this.#running === null ? this.#nextAt() : this.#watchdogAt;
  }

  /** Starts the loop if a step is due. It ends when nothing is due soon. */
  run(now: number, origin: Origin): void {
    this.#watchdogAt = now + WATCHDOG_MS;
    if (this.#running !== null) return;
    this.#origin = origin;
    const next = this.#nextAt();
    if (next !== null && next <= now + LINGER_MS) this.#start();
  }

  /** Takes changes of rules and projects. Call after a change. */
  changed(): void {
    if (this.#state.row === null) return;
    const known = this.#projects;
    this.#projects = null;
    const projects = this.#known();
    for (const num of projects.keys()) {
      const before = known?.get(num);
      if (before !== undefined) projects.set(num, Object.assign(before, { isChanged: true }));
    }
    this.#wake();
  }

  /** Resolves when the loop has ended. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  #stored(stored: readonly CommittedBatch[]): void {
    if (this.#running !== null || stored.length === 0) return;
    const projects = this.#known();
    if (projects.size > 0 && stored.some(({ project }) => projects.has(project))) this.#wake();
  }

  #known(): Map<number, Project> {
    const select = "SELECT project FROM alert_positions ORDER BY project";
    this.#projects ??= new Map(
      mapRows(this.#state.sql, ({ project }: { project: number }) => project, select).map((num) => [
        num,
        { alerts: null, isChanged: false, notBefore: 0, faults: 0 },
      ]),
    );
    return this.#projects;
  }

  /** Starts the loop, or sets the alarm for the next decision. */
  #wake(): void {
    if (this.#running !== null) return;
    const next = this.#nextAt();
    if (next === null) return;
    if (next <= Date.now() + LINGER_MS) this.#start();
    else this.#state.alarm.by(next);
  }

  #start(): void {
    this.#running = this.#loop()
      .catch((error: unknown) => this.#failed(null, error))
      .finally(() => {
        this.#running = null;
        const next = this.#nextAt();
        if (next !== null) this.#state.alarm.by(Math.max(next, Date.now()));
      });
  }

  async #loop(): Promise<void> {
    for (;;) {
      const next = this.#nextAt();
      const now = Date.now();
      if (next === null || next > now + LINGER_MS) return;
      if (this.#watchdogAt <= now) this.#watchdogAt = now + WATCHDOG_MS;
      this.#state.alarm.by(this.#watchdogAt);
      // A pause in any case: it lets requests run between two steps.
      await scheduler.wait(Math.max(0, next - now));
      for (const [num, project] of this.#known()) {
        const dueAt = this.#dueAt(num, project);
        if (dueAt !== null && dueAt <= Date.now()) await this.#step(num, project);
      }
    }
  }

  #nextAt(): number | null {
    if (this.#state.row === null) return null;
    let next: number | null = null;
    for (const [num, project] of this.#known()) {
      const dueAt = this.#dueAt(num, project);
      if (dueAt !== null && (next === null || dueAt < next)) next = dueAt;
    }
    return next;
  }

  /** Returns when the next step of a project is due; `null` if only an entry or a member can make one due. */
  #dueAt(num: number, project: Project): number | null {
    const { alerts, isChanged, notBefore } = project;
    if (alerts === null || isChanged) return notBefore;
    const lastSeq = this.#state.keyProjectCache.projectByNum(num)?.lastSeq ?? null;
    if (lastSeq === null || alerts.position.seq < lastSeq) return notBefore;
    const due = alerts.evaluator.dueAt();
    // A time is over when a later one has come.
    return due === null ? null : Math.max(notBefore, due + 1);
  }

  /** Makes one step of a project. Throws nothing. */
  async #step(num: number, project: Project): Promise<void> {
    try {
      const step = await this.#advance(num, project);
      project.faults = 0;
      project.notBefore = step?.isDone ? Date.now() + STEP_MS : 0;
      if (step === null || step.isOver) this.#projects?.delete(num);
      if (step !== null && step.decisions > 0) this.#deliveries.start(Date.now(), this.#origin);
    } catch (error) {
      // The transaction was rolled back, and the state in memory was not.
      project.alerts = null;
      project.notBefore = Date.now() + delayOf(AFTER_FAULT, project.faults++);
      this.#failed(num, error);
    }
  }

  /** @returns `null` if the project or its rules are gone */
  async #advance(num: number, project: Project): Promise<Step | null> {
    const { row, sql } = this.#state;
    const found = row && findProjectByNum(sql, num);
    if (!row || !found) return null;
    project.alerts ??= ProjectAlerts.load(sql, num, () => this.#hasRoom());
    const { alerts } = project;
    if (alerts === null) return null;
    project.isChanged = false;
    alerts.sync(sql);
    const matched = alerts.position.seq < found.lastSeq ? await this.#match(row, found, alerts) : null;
    return this.#state.transaction((_, { id }) => {
      const current = findProjectByNum(sql, num);
      // The project was deleted meanwhile, or its last rule.
      if (current === null || this.#projects?.get(num) !== project) return null;
      const place = { origin: settingsOf(this.#env).FRONTEND_URL, workspaceId: id, projectId: current.id };
      return advanceRules(sql, alerts, matched, { place, lastSeq: current.lastSeq, now: this.#state.now() });
    });
  }

  async #match(row: WorkspaceRow, project: ProjectRow, alerts: ProjectAlerts): Promise<Matched> {
    const { sql, index } = this.#state;
    const { seq: after } = alerts.position;
    const next = nextBySeq(sql, index, project, 0, after);
    const call = { workspaceId: row.id, projectId: project.id, rules: alerts.counted() };
    if (next.tier === "cold") return this.#call({ ...call, range: { after, until: next.until }, batches: null });
    const { through, batches } = next.page;
    const matched = await this.#call({ ...call, range: { after, until: through }, batches });
    // The matcher has received copies.
    for (const { body } of batches) detachBuffer(body);
    return matched;
  }

  async #call(call: MatchCall): Promise<Matched> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), ANSWER_MS);
    });
    try {
      // SAFETY: worker.ts exports the class under this name, and the runtime gives every export a loopback binding.
      const exports = this.#ctx.exports as unknown as { AlertMatcher: Pick<AlertMatcher, "match"> };
      const matched = await Promise.race([exports.AlertMatcher.match(call), late]);
      if (matched === null) throw new Error("Matching has no memory or takes too long.");
      return matched;
    } finally {
      clearTimeout(timer);
    }
  }

  #hasRoom(): boolean {
    let groups = 0;
    for (const { alerts } of this.#known().values()) groups += alerts?.evaluator.groups ?? 0;
    return groups < ALERT_LIMITS.allGroups;
  }

  #failed(num: number | null, error: unknown): void {
    const { row, sql } = this.#state;
    const projectId = num === null || row === null ? undefined : findProjectByNum(sql, num)?.id;
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "workspace.alerts", outcome: "failed", workspaceId: row?.id, projectId, fault };
    logObjectEvent(this.#env, "workspace", this.#origin, "error", line);
  }
}
