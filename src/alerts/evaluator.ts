import { addEntries, advance, type Decision, end, type Group, isForgettable, newGroup } from "./group.ts";
import { type BucketCounts, type BucketStorage, GroupBuckets } from "./group-buckets.ts";
import { ALERT_LIMITS, stepOf, type Watch } from "./rule.ts";
import { type Added, cellsOfSteps } from "./window-steps.ts";

/**
 * The life of a rule without a change of what it decides: from when it was created or changed to when it was changed
 * again or deleted. It counts entries with `startSeq < seq <= endSeq` and decides for `startAt < t <= endAt`.
 */
export interface Run {
  /** Its number in the workspace. */
  num: number;
  watch: Watch;
  startSeq: number;
  /** Epoch milliseconds. */
  startAt: number;
  /** `null` while the rule runs. */
  endSeq: number | null;
  endAt: number | null;
}

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

/** What a run has left out. */
export interface LeftOut {
  /** Entries whose group had no room. */
  overflow: number;
  /** Entries that were received after a window with their time was decided. */
  late: number;
}

/** What a run holds. */
export interface RunState extends LeftOut {
  run: Run;
  groups: GroupBuckets;
  /** Through when all groups of a full run were last advanced. */
  sweptThrough: number;
}

/** Whether the workspace may have another group, and further values. */
export type HasRoom = (kind: "group" | "cells") => boolean;

/** What is stored of a run. */
export interface StoredRun extends LeftOut {
  seed: number;
  storage: BucketStorage | null;
  buckets: readonly BucketCounts[];
}

/** Steps of groups that one call decides. The decisions of measures with many values count more. */
const MAX_WORK = 20_000;
/** Values whose reading costs as much as a step without any. */
const CELLS_OF_WORK = 50;

/** The groups of a project's runs. Takes entries in order of `seq` and makes decisions as time passes. */
export class Evaluator {
  readonly runs = new Map<number, RunState>();
  #decisions: RunDecision[] = [];
  #work = 0;
  readonly #hasRoom: HasRoom;

  constructor(hasRoom: HasRoom = () => true) {
    this.#hasRoom = hasRoom;
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
    const { seed, storage, buckets, overflow, late } = stored ?? { ...NOT_STORED, seed: randomSeed() };
    const watch = () => this.runs.get(run.num)?.run.watch ?? run.watch;
    const groups = new GroupBuckets(watch, run.startAt, seed, storage, buckets);
    const state: RunState = { run, groups, overflow, late, sweptThrough: 0 };
    this.runs.set(run.num, state);
    return state;
  }

  /** Replaces a run's members that no decision depends on, and those of `Watch.mutes`. */
  update(run: Run): void {
    const state = this.runs.get(run.num);
    if (state === undefined) return;
    state.run = run;
    // A mute may have ended earlier than it did before.
    for (const group of state.groups.firing()) {
      if (group.isReported) continue;
      group.due = Math.floor(group.since / stepOf(run.watch.windowMs)) + 1;
      state.groups.set(group);
    }
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
    if (addEntries(run.watch, group, added)) groups.set(group);
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
    this.#work = 0;
    for (const state of this.runs.values()) {
      const step = throughStep(state.run, through);
      for (const group of state.groups.due(step)) {
        if (this.#decisions.length >= maxDecisions || this.#work >= MAX_WORK) return false;
        this.#advance(state, group, step);
        this.#forget(state, group);
      }
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
      // Only groups that fire have anything to end.
      for (const group of state.groups.firing()) {
        if (this.#decisions.length >= maxDecisions) return ended;
        end(watch, group, endAt, (decision) => this.#decisions.push({ run: num, ...decision }));
        state.groups.delete(group);
      }
      state.groups.close();
      this.runs.delete(num);
      ended.push(num);
    }
    return ended;
  }

  /** Writes the groups that have changed, and prepares `dueAt`. */
  save(): void {
    for (const { groups } of this.runs.values()) groups.save();
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

  /** Returns the decisions since the last call. */
  takeDecisions(): RunDecision[] {
    const decisions = this.#decisions;
    this.#decisions = [];
    return decisions;
  }

  #advance({ run, groups }: RunState, group: Group, through: number): void {
    const until = run.endAt === null ? through : Math.min(through, throughStep(run, run.endAt));
    const steps = advance(run.watch, group, until, (decision) => this.#decisions.push({ run: run.num, ...decision }));
    this.#work += steps * (1 + cellsOfSteps(run.watch, group.steps) / CELLS_OF_WORK);
    if (steps > 0) groups.set(group);
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
    if (state.sweptThrough < through) {
      state.sweptThrough = through;
      for (const group of state.groups.due(through)) {
        this.#advance(state, group, through);
        this.#forget(state, group);
      }
    }
    return !isFull();
  }
}

const NOT_STORED = { storage: null, buckets: [], overflow: 0, late: 0 };

/** Returns the last step that can be decided when all entries received until a time have been added. */
function throughStep({ watch, endAt }: Run, through: number): number {
  const until = endAt === null ? through : Math.min(through, endAt);
  return Math.floor((until - (watch.delayMs ?? 0)) / stepOf(watch.windowMs));
}

export function randomSeed(): number {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1));
  return seed;
}
