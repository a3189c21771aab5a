import { type Mute, mutedUntil } from "./mutes.ts";
import { isBreached, isRecovered, onlyFalls, stepOf, stepsOf, valueIn, type Watch } from "./rule.ts";
import { type Added, addToSteps, type Step, trim, viewAt } from "./window-steps.ts";

/** The entries of one group of a rule, and the state that its decisions have led to. Plain data. */
export interface Group {
  /** JSON array of the JSON texts of its values: `[]` without grouping. */
  key: string;
  /** Steps with entries, in order. */
  steps: Step[];
  /** The time of the newest entry, epoch milliseconds; 0 without one. */
  lastAt: number;
  /** Only windows that begin at this time or later are decided, if a missing entry could make them breach. */
  wholeFrom: number;
  status: "ok" | "pending" | "firing";
  /** When the status began, epoch milliseconds. */
  since: number;
  /** Whether the firing group has been reported: a mute delays reports. */
  isReported: boolean;
  /** The step at which the next decision can differ from the last one; `null` if only an entry can change it. */
  due: number | null;
}

/** A change of a group's state, or the report of a firing group after a mute. */
export interface Decision {
  kind: "firing" | "resolved";
  key: string;
  /** The end of the window `(at - window, at]`, epoch milliseconds. */
  at: number;
  /** `null`: the field has no value in the window. */
  value: number | null;
  /** Whether the value is exact: percentiles and distinct counts of many values are not. */
  isExact: boolean;
  /** The entries that decided: of the window, or of both windows for `change`; `null` if there are none. */
  seqRange: { from: number; to: number } | null;
  /** Whether a notification is due. */
  isReported: boolean;
  /** Whether the group fired earlier, during a mute. */
  isLate: boolean;
  /** Whether the rule ended, so that the group recovers without a decision on its entries. */
  isEnded: boolean;
}

/** Milliseconds without an entry after which a group of an absence rule is forgotten. */
export const FORGET_MS = 7 * 24 * 60 * 60 * 1000;
/** @param startAt when its rule began, epoch milliseconds */
export function newGroup(watch: Watch, key: string, startAt: number): Group {
  const group: Group = {
    key,
    steps: [],
    lastAt: 0,
    wholeFrom: startAt,
    status: "ok",
    since: startAt,
    isReported: false,
    due: null,
  };
  group.due = nextDue(watch, group, Math.floor(startAt / stepOf(watch.windowMs)));
  return group;
}

/**
 * Adds entries. All decisions before must have been made.
 * @returns whether the group has changed: of a pattern, the rule takes the entries of the first step
 */
export function addEntries(watch: Watch, group: Group, added: Added): boolean {
  const { steps } = group;
  const { step, undecided } = added;
  const isSeen = group.lastAt > 0;
  if (watch.condition.kind === "new-pattern" && isSeen && steps.at(-1)?.at !== step) return false;
  // A group of an absence rule begins with its first entry.
  if (!isSeen && watch.isGrouped && watch.condition.kind === "absence") group.wholeFrom = added.firstAt;
  addToSteps(watch, steps, added);
  group.lastAt = Math.max(group.lastAt, added.lastAt);
  const due = Math.max(step, undecided);
  group.due = group.due === null ? due : Math.min(group.due, due);
  return true;
}

/**
 * Makes the decisions that are due. What they are follows from the entries alone, however often and for whatever times
 * this is called.
 * @param through all entries that windows up to this step may have, have been added
 * @returns how many steps were decided
 */
export function advance(watch: Watch, group: Group, through: number, decided: (decision: Decision) => void): number {
  let count = 0;
  while (group.due !== null && group.due <= through) {
    const due = group.due;
    decide(watch, group, due, decided);
    group.due = nextDue(watch, group, due);
    count++;
  }
  return count;
}

/** Ends a firing group because its rule ends. */
export function end(watch: Watch, group: Group, at: number, decided: (decision: Decision) => void): void {
  if (group.status !== "firing") return;
  const step = Math.floor((at - (watch.delayMs ?? 0)) / stepOf(watch.windowMs));
  decided(decisionOf(watch, group, step, "resolved", { at, isEnded: true }));
  group.status = "ok";
}

/** Whether a group has nothing to remember. */
export function isForgettable({ condition, isGrouped }: Watch, { steps, status, due }: Group): boolean {
  if (condition.kind === "new-pattern" || (condition.kind === "absence" && !isGrouped)) return false;
  return steps.length === 0 && status === "ok" && due === null;
}

function decide(watch: Watch, group: Group, step: number, decided: (decision: Decision) => void): void {
  const at = step * stepOf(watch.windowMs);
  trim(group.steps, step - stepsOf(watch));
  const view = viewAt(watch, group.steps, step);
  const isGone = isForgotten(watch, group, at);
  const isBreach = !isGone && isWhole(watch, group, at) && isBreached(watch, view) && isNewAt(watch, group, step);
  if (group.status === "ok" && isBreach) enter(group, "pending", at);
  if (group.status === "pending") {
    if (!isBreach) enter(group, "ok", at);
    else if (at - group.since >= watch.forMs) {
      enter(group, "firing", at);
      group.isReported = mutedUntil(watch.mutes, at) === null;
      decided(decisionOf(watch, group, step, "firing"));
    }
  } else if (group.status === "firing") {
    if (isGone || isRecovered(watch, view)) {
      decided(decisionOf(watch, group, step, "resolved"));
      enter(group, "ok", at);
    } else if (!group.isReported && mutedUntil(watch.mutes, at) === null) {
      group.isReported = true;
      decided(decisionOf(watch, group, step, "firing", { isLate: true }));
    }
  }
}

function enter(group: Group, status: Group["status"], at: number): void {
  group.status = status;
  group.since = at;
}

function decisionOf(
  watch: Watch,
  group: Group,
  step: number,
  kind: Decision["kind"],
  more: Partial<Pick<Decision, "at" | "isLate" | "isEnded">> = {},
): Decision {
  const { key, steps, isReported } = group;
  const view = viewAt(watch, group.steps, step);
  const inView = steps.filter(({ at }) => at <= step && at > step - stepsOf(watch));
  const from = Math.min(...inView.map(({ firstSeq }) => firstSeq));
  const to = Math.max(...inView.map(({ lastSeq }) => lastSeq));
  return {
    ...{ kind, key, at: step * stepOf(watch.windowMs), value: valueIn(watch, view) },
    isExact: view.current.isExact && (watch.condition.kind !== "change" || view.before.isExact),
    seqRange: inView.length > 0 ? { from, to } : null,
    ...{ isReported, isLate: false, isEnded: false, ...more },
  };
}

/** Whether the windows of a decision lie in the time in which the rule counted, or has learned its patterns. */
function isWhole({ condition, windowMs }: Watch, { wholeFrom }: Group, at: number): boolean {
  if (condition.kind === "absence" || condition.kind === "new-pattern") return at - windowMs >= wholeFrom;
  return condition.kind !== "change" || at - 2 * windowMs >= wholeFrom;
}

/** Whether a pattern has its first entries in a step. */
function isNewAt({ condition }: Watch, { steps }: Group, step: number): boolean {
  return condition.kind !== "new-pattern" || steps.at(-1)?.at === step;
}

function isForgotten({ condition, isGrouped }: Watch, { lastAt }: Group, at: number): boolean {
  return condition.kind === "absence" && isGrouped && at - lastAt >= FORGET_MS;
}

/** Returns the first step after `step` whose decision can differ without further entries; `null` if there is none. */
function nextDue(watch: Watch, group: Group, step: number): number | null {
  const { condition, windowMs, forMs, isGrouped } = watch;
  const { steps, status, since, isReported, wholeFrom, lastAt } = group;
  const length = stepOf(windowMs);
  let due: number | null = null;
  const consider = (next: number) => {
    if (next > step && (due === null || next < due)) due = next;
  };
  const at = (time: number) => Math.ceil(time / length);
  const view = stepsOf(watch);
  // By their own time, entries of later windows may be here already.
  for (const entries of steps) consider(entries.at);
  if (status === "ok" && onlyFalls(watch)) {
    // What remains is to forget the group.
    const newest = steps.at(-1);
    if (newest !== undefined) consider(newest.at + view);
    return due;
  }
  for (const entries of steps) {
    consider(entries.at + view);
    if (condition.kind === "change") consider(entries.at + view / 2);
  }
  if (status === "pending") consider(at(since + forMs));
  if (status === "firing" && !isReported) consider(reportAt(watch.mutes, step, length));
  if (condition.kind === "change" && steps.length > 0) consider(at(wholeFrom + 2 * windowMs));
  if (condition.kind === "absence" && (!isGrouped || lastAt > 0)) {
    consider(at(wholeFrom + windowMs));
    if (isGrouped) consider(at(lastAt + FORGET_MS));
  }
  return due;
}

/** Returns the step in which the mutes that are in effect end. */
function reportAt(mutes: readonly Mute[], step: number, length: number): number {
  return Math.ceil((mutedUntil(mutes, step * length) ?? 0) / length);
}
