import {
  BucketUse,
  type ChangedMutes,
  GROUP_WORK,
  type Groups,
  hitsAtOnceOf,
  type LeftOut,
  randomSeed,
  type StoredRun,
} from "./bucket.ts";
import { addEntries, advance, type Decision, end, type Group, isForgettable, newGroup } from "./group.ts";
import { GroupBuckets } from "./group-buckets.ts";
import { ALERT_LIMITS, type Run, stepOf, throughStep, type Watch } from "./rule.ts";
import { type Added, cellsOfSteps } from "./window-steps.ts";

/** Entries of one group and step that were received at about the same time. Plain data. */
export interface Hit extends Added {
  run: number;
  /** See `Group.key`. */
  key: string;
}

/** A decision, and the run that made it. */
export interface RunDecision extends Decision {
  run: number;
}

/** What a run holds. */
export interface RunState extends LeftOut {
  run: Run;
  groups: GroupBuckets;
  /** Of a full run: its groups that are due, to be advanced so that they may make room, and the step for which they are. */
  sweep: { step: number; due: Groups } | null;
  changedMutes: ChangedMutes | null;
  /** All decisions that are due at this step and before have been made. */
  decided: number;
}

/** Whether the workspace may have another group, and further values. */
export type HasRoom = (kind: "group" | "cells") => boolean;

/** Work units of a turn for which groups without entries are looked for to make room for others. */
const MAX_SWEEP_WORK = 20_000;
/** Work units of the decision of a step, and of the values that it reads. */
const STEP_WORK = 5;
const CELLS_OF_WORK = 20;

/** The groups of a project's runs. Takes entries in order of `seq` and makes decisions as time passes. */
export class Evaluator {
  readonly runs = new Map<number, RunState>();
  /** What the present turn has done. */
  readonly turn = new BucketUse(() => {
    for (const { groups } of this.runs.values()) groups.save();
  });
  #decisions: RunDecision[] = [];
  /** Work units of this turn that have looked for groups without entries. */
  #sweepWork = 0;
  readonly #hasRoom: HasRoom;
  readonly #decisionWork: (run: number) => number;

  /** @param decisionWork returns the work units of storing a decision of a run */
  constructor(hasRoom: HasRoom = () => true, decisionWork: (run: number) => number = () => 0) {
    this.#hasRoom = hasRoom;
    this.#decisionWork = decisionWork;
  }

  /** Whether a run has an end, or is to be ended. */
  get isEnding(): boolean {
    return this.#sum(({ run }) => (run.endAt === null ? 0 : 1)) > 0;
  }

  /** How many hits of groups may be written together. */
  get hitsAtOnce(): number {
    const extent = (of: "buckets" | "bytes") => this.#sum(({ groups }) => groups.extent[of]);
    return hitsAtOnceOf({ buckets: extent("buckets"), bytes: extent("bytes") });
  }

  /** The same of the hits of one run. */
  get hitsOfRun(): number {
    return Math.min(...[...this.runs.values()].map(({ groups }) => hitsAtOnceOf(groups.extent)));
  }

  /** Number of live groups. */
  get groups(): number {
    return this.#sum(({ groups }) => groups.size);
  }

  /** Values that all groups keep. */
  get cells(): number {
    return this.#sum(({ groups }) => groups.cells);
  }

  #sum(of: (state: RunState) => number): number {
    let sum = 0;
    for (const state of this.runs.values()) sum += of(state);
    return sum;
  }

  /** Adds a run that begins: an absence rule without groups watches from then on. */
  begin(run: Run, stored?: StoredRun): RunState {
    const state = this.restore(run, stored);
    if (run.watch.condition.kind === "absence" && !run.watch.isGrouped)
      state.groups.set(newGroup(run.watch, "[]", run.startAt));
    return state;
  }

  /** Adds a run with the groups that it had. */
  restore(run: Run, stored?: StoredRun): RunState {
    const { seed, storage, buckets, ...rest } = stored ?? { ...NOT_STORED, seed: randomSeed() };
    const watch = () => this.runs.get(run.num)?.run.watch ?? run.watch;
    const groups = new GroupBuckets(watch, run.startAt, seed, storage, buckets, this.turn);
    const state: RunState = { run, groups, ...rest, sweep: null, decided: Number.NEGATIVE_INFINITY };
    this.runs.set(run.num, state);
    return state;
  }

  /** Replaces a run's members that no decision depends on, and those of `Watch.mutes`. */
  update(run: Run, changedMutes: ChangedMutes | null): void {
    const state = this.runs.get(run.num);
    if (state !== undefined) Object.assign(state, { run, changedMutes });
  }

  /**
   * Has groups that fire and are not reported decided at the time of a change of mutes, which may end earlier than those
   * before, until a turn has done enough. No time may pass before it has returned `true`.
   * @returns whether all are checked
   */
  checkMutes(): boolean {
    for (const state of this.runs.values()) {
      const { run, groups, changedMutes: changed } = state;
      if (changed === null) continue;
      this.turn.isPartlyWritten = true;
      const step = throughStep(run, changed.at - 1) + 1;
      for (; changed.from < groups.extent.buckets; changed.from++) {
        if (this.turn.isSpent) return false;
        for (const group of groups.firingIn(changed.from))
          if (!group.isReported) groups.set({ ...group, due: Math.min(group.due ?? step, step) });
        state.decided = Math.min(state.decided, step - 1);
      }
      state.changedMutes = null;
    }
    return true;
  }

  /** Adds entries. Those of a run must come in the order in which they were received. */
  add(hit: Hit): void {
    const state = this.runs.get(hit.run);
    if (state === undefined) return;
    const { groups, run } = state;
    const known = groups.get(hit.key);
    if (known !== undefined) {
      this.#advance(state, known, hit.undecided - 1);
      this.#forget(state, known);
    }
    let group = groups.get(hit.key);
    if (group === undefined) {
      if (!this.#makeRoom(state, hit.undecided - 1)) {
        state.overflow += hit.count;
        return;
      }
      group = newGroup(run.watch, hit.key, run.startAt);
    } else if (this.#isFull(run.watch, group)) {
      state.overflow += hit.count;
      return;
    }
    // By their own time, entries may belong to windows that ended before the run began.
    const first = Math.floor(run.startAt / stepOf(run.watch.windowMs)) + 1;
    const added = hit.undecided < first ? { ...hit, undecided: first } : hit;
    if (!addEntries(run.watch, group, added)) return;
    groups.set(group);
    if (group.due !== null) state.decided = Math.min(state.decided, group.due - 1);
  }

  /** Counts entries of a run that were received too late. */
  addLate(num: number, count: number): void {
    const state = this.runs.get(num);
    if (state !== undefined) state.late += count;
  }

  /**
   * Makes decisions that are due, until enough have been made.
   * @param through epoch milliseconds; all entries received until then have been added
   * @returns whether all have been made
   */
  advance(through: number, maxDecisions: number): boolean {
    for (const state of this.runs.values()) {
      const step = throughStep(state.run, through);
      if (step <= state.decided) continue;
      for (const group of state.groups.due(step)) {
        if (this.#decisions.length >= maxDecisions || this.turn.isSpent || this.turn.isFull) return false;
        this.#advance(state, group, step);
        this.#forget(state, group);
      }
      state.decided = step;
    }
    return true;
  }

  /**
   * Ends the groups of runs that have ended, and removes those runs, until enough decisions have been made.
   * @param through as of `advance`, which must have returned `true`
   * @param seq all entries up to this `seq` have been added
   * @returns the runs that are gone
   */
  endRuns(through: number, seq: number, maxDecisions: number): number[] {
    const ended: number[] = [];
    for (const state of [...this.runs.values()]) {
      const { num, watch, endAt, endSeq } = state.run;
      if (endAt === null || endAt > through || (endSeq !== null && endSeq > seq)) continue;
      this.turn.isPartlyWritten = true;
      // Only groups that fire have anything to end.
      for (const group of state.groups.firing()) {
        if (this.#decisions.length >= maxDecisions || this.turn.isSpent) return ended;
        end(watch, group, endAt, (decision) => this.#decided(num, decision));
        state.groups.delete(group);
      }
      while (!state.groups.removeSome()) if (this.turn.isSpent) return ended;
      state.groups.close();
      this.runs.delete(num);
      ended.push(num);
    }
    return ended;
  }

  /** Writes the groups that have changed, and prepares `dueAt`. */
  save(): void {
    this.turn.save();
  }

  /** Frees the memory of groups that stay stored. Nothing may be called afterwards. */
  close(): void {
    for (const { groups } of this.runs.values()) groups.close();
  }

  /** Returns the earliest time for which a decision is due, epoch milliseconds; `null` if none is. Call it after `save`. */
  dueAt(): number | null {
    let due: number | null = null;
    for (const { run, groups } of this.runs.values()) {
      const { windowMs, delayMs } = run.watch;
      const step = groups.dueAt();
      const at = step === null ? null : step * stepOf(windowMs) + (delayMs ?? 0);
      for (const time of [run.endAt, at]) if (time !== null && (due === null || time < due)) due = time;
    }
    return due;
  }

  /** Returns the decisions since the last call. A turn ends with it. */
  takeDecisions(): RunDecision[] {
    const decisions = this.#decisions.splice(0);
    this.endTurn();
    return decisions;
  }

  endTurn(): void {
    this.turn.endTurn();
    this.#sweepWork = 0;
  }

  #advance({ run, groups }: RunState, group: Group, through: number): void {
    const until = run.endAt === null ? through : Math.min(through, throughStep(run, run.endAt));
    const before = group.steps.length;
    const steps = advance(run.watch, group, until, (decision) => this.#decided(run.num, decision));
    this.turn.work += steps * (STEP_WORK + before / 5 + cellsOfSteps(run.watch, group.steps) / CELLS_OF_WORK);
    if (steps > 0) groups.set(group);
  }

  #decided(run: number, decision: Decision): void {
    this.#decisions.push({ run, ...decision });
    this.turn.unwritten += this.#decisionWork(run);
  }

  #forget({ run, groups }: RunState, group: Group): void {
    if (isForgettable(run.watch, group)) groups.delete(group);
  }

  #isFull(watch: Watch, group: Group): boolean {
    if (watch.measure === null) return false;
    return cellsOfSteps(watch, group.steps) >= ALERT_LIMITS.groupCells || !this.#hasRoom("cells");
  }

  /** Whether a run may have another group. Groups whose time is over make room. */
  #makeRoom(state: RunState, through: number): boolean {
    if (state.run.watch.measure !== null && !this.#hasRoom("cells")) return false;
    const isFull = () => state.groups.size >= ALERT_LIMITS.groups || !this.#hasRoom("group");
    if (!isFull()) return true;
    if ((state.sweep?.step ?? 0) < through) state.sweep = { step: through, due: state.groups.due(through) };
    while (isFull() && this.#sweepWork < MAX_SWEEP_WORK) {
      const before = this.turn.work + this.turn.unwritten;
      const group = state.sweep?.due.next().value;
      if (group === undefined) return false;
      this.#advance(state, group, through);
      this.#forget(state, group);
      // What has changed may have been written in between.
      this.#sweepWork += Math.max(GROUP_WORK, this.turn.work + this.turn.unwritten - before);
    }
    return !isFull();
  }
}

const NOT_STORED = { storage: null, buckets: [], overflow: 0, late: 0, changedMutes: null };
