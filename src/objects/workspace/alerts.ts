import { HELD_BYTES } from "../../alerts/bucket.ts";
import type { Matched } from "../../alerts/match-range.ts";
import { ProjectAlerts } from "../../alerts/project-alerts.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import { advanceRules, type Step, type StepContext } from "../../alerts/step.ts";
import type { Env } from "../../env.ts";
import { untilIdle } from "../../logs/query/budget.ts";
import type { Duty } from "../../platform/alarm.ts";
import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { flushMemory } from "../../platform/isolate-memory.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { mapRows } from "../../platform/sql.ts";
import { settingsOf } from "../../settings.ts";
import { findProjectByNum } from "../../workspace/projects.ts";
import type { CommittedBatch } from "../../workspace/recent/batches.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import type { Deliveries } from "./deliveries.ts";
import { Matching } from "./matching.ts";

/**
 * Milliseconds between two steps of a project whose rules have counted what there was. Decisions are due at multiples of
 * it, so a step begins soon after one: at most so many milliseconds, not all objects at the same time.
 */
const STEP_MS = 1000;
const SPREAD_MS = 100;
/** Milliseconds that the object stays awake for the next decision. For a later one it sets the alarm. */
const LINGER_MS = 5000;
/** Milliseconds until the alarm resumes work that ended with its object. */
const WATCHDOG_MS = 5000;
const AFTER_FAULT: Backoff = { firstMs: 1000, maxMs: 60_000 };

/** Projects whose steps are made at the same time, so that a slow one does not hold the others. */
const AT_ONCE = 4;

interface Project {
  /** `null`: to be read from disk. */
  alerts: ProjectAlerts | null;
  /** Live groups of its rules on disk when the object started. */
  groups: number;
  /** The step that is being made. */
  step: Promise<void> | null;
  /** Whether members may have changed the rules since the last step. */
  isChanged: boolean;
  /** No step is made before this time, epoch milliseconds. */
  notBefore: number;
  faults: number;
}

/**
 * Passes the entries of each project to its alert rules, in order of `seq`, each once. Entries are matched beside the
 * object; what they change is one transaction of it. After an interruption, the next step continues at the position on
 * disk.
 */
export class Alerts implements Duty {
  readonly name = "alerts";
  readonly #env: Env;
  readonly #matching: Matching;
  readonly #state: WorkspaceState;
  readonly #deliveries: Pick<Deliveries, "start">;
  /** Projects with rules by `num`; `null`: to be read from disk. */
  #projects: Map<number, Project> | null = null;
  #running: Promise<void> | null = null;
  /** When the alarm checks that the loop still runs, epoch milliseconds. */
  #watchdogAt = 0;
  /** When steps begin after a multiple of `STEP_MS`. */
  readonly #phaseMs = 1 + Math.floor(Math.random() * SPREAD_MS);
  #origin = newAlarmOrigin();

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState, deliveries: Pick<Deliveries, "start">) {
    this.#env = env;
    this.#matching = new Matching(ctx, env, state);
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
    const groups = "SELECT COALESCE(SUM(n.groups), 0) FROM alert_runs n WHERE n.project = p.project";
    const select = `SELECT p.project, (${groups}) AS groups FROM alert_positions p ORDER BY p.project`;
    this.#projects ??= new Map(
      mapRows(
        this.#state.sql,
        ({ project, groups }: Record<"project" | "groups", number>): [number, Project] => [
          project,
          { alerts: null, groups, step: null, isChanged: false, notBefore: 0, faults: 0 },
        ],
        select,
      ),
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
      const steps = [...this.#known().values()].flatMap(({ step }) => step ?? []);
      const next = this.#nextAt();
      const now = Date.now();
      const isIdle = next === null || next > now + LINGER_MS;
      if (isIdle && steps.length === 0) return;
      if (this.#watchdogAt <= now) this.#watchdogAt = now + WATCHDOG_MS;
      this.#state.alarm.by(this.#watchdogAt);
      // A pause in any case: it lets requests run between two steps.
      const wait = isIdle || steps.length >= AT_ONCE ? [] : [scheduler.wait(Math.max(0, next - now))];
      await Promise.race([...steps, ...wait]);
      let free = AT_ONCE - [...this.#known().values()].filter(({ step }) => step !== null).length;
      for (const [num, project] of this.#known()) {
        const dueAt = this.#dueAt(num, project);
        if (free <= 0 || dueAt === null || dueAt > Date.now()) continue;
        free--;
        project.step = this.#step(num, project).finally(() => {
          project.step = null;
        });
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

  /** Returns when the next step of a project is due; `null` if only its present one, an entry or a member makes one due. */
  #dueAt(num: number, project: Project): number | null {
    const { alerts, step, isChanged, notBefore } = project;
    if (step !== null) return null;
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
      project.notBefore = step?.isDone ? (Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS + this.#phaseMs : 0;
      if (step !== null && !step.isOver) return;
      project.alerts?.evaluator.close();
      this.#projects?.delete(num);
    } catch (error) {
      // The transaction was rolled back, and the state in memory was not.
      project.alerts?.evaluator.close();
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
    const alerts = project.alerts ?? (await this.#load(num));
    if (alerts === null) return null;
    project.alerts = alerts;
    project.isChanged = false;
    while (!alerts.sync(sql)) await untilIdle();
    const parts = alerts.position.seq < found.lastSeq ? await this.#matching.match(row, found, alerts) : [];
    // Without memory, each turn writes what it has changed.
    const lease = parts.length === 0 ? null : flushMemory.tryTakeAhead(HELD_BYTES);
    try {
      for (;;) {
        lease?.renew();
        const turn = { stepSeq: found.lastSeq, mayHold: lease?.isLive ?? false };
        const step = this.#turn(num, project, alerts, parts, turn);
        if (step !== null && step.decisions > 0) this.#deliveries.start(Date.now(), this.#origin);
        if (step === null || step.isOver || step.isDone) return step;
        // Requests come first, also before the next step: thousands of groups may fire at the same time.
        await untilIdle();
        if (step.isWritten && parts.length === 0) return step;
      }
    } finally {
      lease?.release();
    }
  }

  /** Reads the rules of a project in turns. @returns `null` if it has none */
  async #load(num: number): Promise<ProjectAlerts | null> {
    const { sql } = this.#state;
    const alerts = ProjectAlerts.open(sql, num, (kind) => this.#hasRoom(kind));
    if (alerts === null) return null;
    for (;;) {
      const isLoaded = this.#state.transaction(() => alerts.loadSome(sql));
      if (isLoaded !== false) return isLoaded && alerts;
      await untilIdle();
    }
  }

  /** Makes a part of a step that fits one turn. */
  #turn(
    num: number,
    project: Project,
    alerts: ProjectAlerts,
    parts: Matched[],
    turn: Pick<StepContext, "stepSeq" | "mayHold">,
  ): Step | null {
    const { sql } = this.#state;
    return this.#state.transaction((_, { id }) => {
      const current = findProjectByNum(sql, num);
      // The project was deleted meanwhile, or its last rule.
      if (current === null || this.#projects?.get(num) !== project) return null;
      const place = { origin: settingsOf(this.#env).FRONTEND_URL, workspaceId: id, projectId: current.id };
      const { lastSeq } = current;
      return advanceRules(sql, alerts, parts, { place, lastSeq, now: this.#state.now(), ...turn });
    });
  }

  #hasRoom(kind: "group" | "cells"): boolean {
    let sum = 0;
    for (const { alerts, groups } of this.#known().values())
      sum += kind === "group" ? (alerts?.evaluator.groups ?? groups) : (alerts?.evaluator.cells ?? 0);
    return sum < (kind === "group" ? ALERT_LIMITS.allGroups : ALERT_LIMITS.allCells);
  }

  #failed(num: number | null, error: unknown): void {
    const { row, sql } = this.#state;
    const projectId = num === null || row === null ? undefined : findProjectByNum(sql, num)?.id;
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "workspace.alerts", outcome: "failed", workspaceId: row?.id, projectId, fault };
    logObjectEvent(this.#env, "workspace", this.#origin, "error", line);
  }
}
