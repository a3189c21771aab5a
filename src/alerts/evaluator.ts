import { addEntries, advance, type Decision, end, type Group, isForgettable, newGroup } from "./group.ts";
import { ALERT_LIMITS, stepOf, type Watch } from "./rule.ts";

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

/** Entries of one group that were received at the same time. */
export interface Hit {
  run: number;
  /** See `Group.key`. */
  key: string;
  /** Epoch milliseconds. */
  receivedAt: number;
  count: number;
  firstSeq: number;
  lastSeq: number;
}

/** A decision, and the run that made it. */
export interface RunDecision extends Decision {
  run: number;
}

/** What a run holds. */
export interface RunState {
  run: Run;
  groups: Map<string, Group>;
  /** Entries whose group had no room. */
  overflow: number;
  /** Through when all groups of a full run were last advanced. */
  sweptThrough: number;
}

/** The groups of a project's runs. Takes entries in order of `seq` and makes decisions as time passes. */
export class Evaluator {
  readonly runs = new Map<number, RunState>();
  /** Groups that have changed since `takeChanged`, with their run, and those that are gone. */
  #changed = new Map<Group, number>();
  #gone = new Set<Group>();
  #decisions: RunDecision[] = [];
  readonly #hasRoom: () => boolean;

  /** @param hasRoom whether the workspace may have another group */
  constructor(hasRoom: () => boolean = () => true) {
    this.#hasRoom = hasRoom;
  }

  /** Number of live groups. */
  get groups(): number {
    let sum = 0;
    for (const { groups } of this.runs.values()) sum += groups.size;
    return sum;
  }

  /** Adds a run that begins: an absence rule without groups watches from then on. */
  begin(run: Run): void {
    const state = this.restore(run, []);
    if (run.watch.condition.kind !== "absence" || run.watch.isGrouped) return;
    const group = newGroup(run.watch, "[]", run.startAt);
    state.groups.set(group.key, group);
    this.#changed.set(group, run.num);
  }

  /** Adds a run with the groups that it had. */
  restore(run: Run, groups: Iterable<Group>, overflow = 0): RunState {
    const state: RunState = { run, groups: new Map(), overflow, sweptThrough: 0 };
    for (const group of groups) state.groups.set(group.key, group);
    this.runs.set(run.num, state);
    return state;
  }

  /** Replaces a run's members that no decision depends on, and those of `Watch.mutes`. */
  update(run: Run): void {
    const state = this.runs.get(run.num);
    if (state === undefined) return;
    state.run = run;
    // A mute may have ended earlier than it did before.
    for (const group of state.groups.values()) {
      if (group.status !== "firing" || group.isReported) continue;
      group.due = Math.floor(group.since / stepOf(run.watch.windowMs)) + 1;
      this.#changed.set(group, run.num);
    }
  }

  /** Adds entries. Hits must come in order of receipt. */
  add(hit: Hit): void {
    const state = this.runs.get(hit.run);
    if (state === undefined) return;
    const { watch, startAt } = state.run;
    const known = state.groups.get(hit.key);
    if (known !== undefined) {
      this.#advance(state, known, hit.receivedAt - 1);
      this.#forget(state, known);
    }
    let group = state.groups.get(hit.key);
    if (group === undefined) {
      if (!this.#makeRoom(state, hit.receivedAt - 1)) {
        state.overflow += hit.count;
        return;
      }
      group = newGroup(watch, hit.key, startAt);
      state.groups.set(hit.key, group);
    }
    addEntries(watch, group, hit);
    this.#changed.set(group, hit.run);
  }

  /**
   * Makes decisions that are due, until enough have been made.
   * @param through epoch milliseconds; all entries received until then have been added
   * @returns whether all have been made
   */
  advance(through: number, maxDecisions: number): boolean {
    for (const state of this.runs.values()) {
      for (const group of state.groups.values()) {
        if (this.#decisions.length >= maxDecisions) return false;
        this.#advance(state, group, through);
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
      for (const group of [...state.groups.values()]) {
        if (this.#decisions.length >= maxDecisions) return ended;
        // A group that never fired visibly recovers silently, too.
        end(watch, group, endAt, (decision) => this.#decisions.push({ run: num, ...decision }));
        this.#remove(state, group);
      }
      this.runs.delete(num);
      ended.push(num);
    }
    return ended;
  }

  /** Returns the earliest time for which a decision is due, epoch milliseconds; `null` if none is. */
  dueAt(): number | null {
    let due: number | null = null;
    for (const { run, groups } of this.runs.values()) {
      if (run.endAt !== null) due = Math.min(due ?? run.endAt, run.endAt);
      const step = stepOf(run.watch.windowMs);
      for (const group of groups.values()) {
        if (group.due !== null && (due === null || group.due * step < due)) due = group.due * step;
      }
    }
    return due;
  }

  /** Returns the decisions since the last call. */
  takeDecisions(): RunDecision[] {
    const decisions = this.#decisions;
    this.#decisions = [];
    return decisions;
  }

  /** Returns the groups that have changed since the last call, and those that are gone. */
  takeChanged(): { changed: ReadonlyMap<Group, number>; gone: ReadonlySet<Group> } {
    const taken = { changed: this.#changed, gone: this.#gone };
    this.#changed = new Map();
    this.#gone = new Set();
    return taken;
  }

  #advance({ run }: RunState, group: Group, through: number): void {
    const until = run.endAt === null ? through : Math.min(through, run.endAt);
    const hasChanged = advance(run.watch, group, until, (decision) =>
      this.#decisions.push({ run: run.num, ...decision }),
    );
    if (hasChanged) this.#changed.set(group, run.num);
  }

  #forget(state: RunState, group: Group): void {
    if (isForgettable(state.run.watch, group)) this.#remove(state, group);
  }

  #remove({ groups }: RunState, group: Group): void {
    groups.delete(group.key);
    this.#changed.delete(group);
    this.#gone.add(group);
  }

  /** Whether a run may have another group. Groups whose time is over make room. */
  #makeRoom(state: RunState, through: number): boolean {
    const isFull = () => state.groups.size >= ALERT_LIMITS.groups || !this.#hasRoom();
    if (!isFull()) return true;
    if (state.sweptThrough < through) {
      state.sweptThrough = through;
      for (const group of [...state.groups.values()]) {
        this.#advance(state, group, through);
        this.#forget(state, group);
      }
    }
    return !isFull();
  }
}
