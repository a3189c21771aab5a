import { isBreached, isRecovered, mutedUntil, stepOf, stepsOf, valueIn, type Watch } from "./rule.ts";

/** The entries of one group of a rule, and the state that its decisions have led to. Plain data. */
export interface Group {
  /** JSON array of the JSON texts of its values: `[]` without grouping. */
  key: string;
  /**
   * Triples of numbers, in order: a step after `origin`, the entries received in it, and `seq` of the first of them. Step
   * `k` holds what was received in `(k - 1, k]` times the length of a step. Small numbers take half the memory.
   */
  steps: number[];
  /** The step in which its rule began. */
  origin: number;
  /** `seq` of the newest entry, and when it was received, epoch milliseconds; 0 without one. */
  lastSeq: number;
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
  value: number;
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

const WIDTH = 3;

/** @param startAt when its rule began, epoch milliseconds */
export function newGroup(watch: Watch, key: string, startAt: number): Group {
  const group: Group = {
    key,
    steps: [],
    origin: Math.floor(startAt / stepOf(watch.windowMs)),
    lastSeq: 0,
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

/** Adds entries that were received at the same time. All decisions before must have been made. */
export function addEntries(
  watch: Watch,
  group: Group,
  { receivedAt, count, firstSeq, lastSeq }: { receivedAt: number; count: number; firstSeq: number; lastSeq: number },
): void {
  const { steps } = group;
  const step = Math.ceil(receivedAt / stepOf(watch.windowMs));
  // A group of an absence rule begins with its first entry.
  if (group.lastSeq === 0 && watch.isGrouped && watch.condition.kind === "absence") group.wholeFrom = receivedAt;
  const at = steps.length - WIDTH;
  if (at >= 0 && stepAt(group, at) === step) steps[at + 1] = (steps[at + 1] ?? 0) + count;
  else steps.push(step - group.origin, count, firstSeq);
  group.lastSeq = lastSeq;
  group.lastAt = receivedAt;
  group.due = group.due === null ? step : Math.min(group.due, step);
}

/**
 * Makes the decisions that are due. What they are follows from the entries alone, however often and for whatever times
 * this is called.
 * @param through epoch milliseconds; all entries received until then have been added
 * @returns whether the group has changed
 */
export function advance(watch: Watch, group: Group, through: number, decided: (decision: Decision) => void): boolean {
  const step = stepOf(watch.windowMs);
  const before = group.due;
  while (group.due !== null && group.due * step <= through) {
    const due = group.due;
    decide(watch, group, due, decided);
    group.due = nextDue(watch, group, due);
  }
  return group.due !== before;
}

/** Ends a firing group because its rule ends. */
export function end(watch: Watch, group: Group, at: number, decided: (decision: Decision) => void): void {
  if (group.status !== "firing") return;
  decided(decisionOf(watch, group, Math.floor(at / stepOf(watch.windowMs)), "resolved", { at, isEnded: true }));
  group.status = "ok";
}

/** Whether a group has nothing to remember. */
export function isForgettable({ condition, isGrouped }: Watch, { steps, status, due }: Group): boolean {
  if (condition.kind === "absence" && !isGrouped) return false;
  return steps.length === 0 && status === "ok" && due === null;
}

function stepAt({ steps, origin }: Group, index: number): number {
  return (steps[index] ?? 0) + origin;
}

/** Returns the step of the newest entry; there must be one. */
function newestStep(group: Group): number {
  return stepAt(group, group.steps.length - WIDTH);
}

function decide(watch: Watch, group: Group, step: number, decided: (decision: Decision) => void): void {
  const at = step * stepOf(watch.windowMs);
  trim(group, step - stepsOf(watch));
  const counts = countsAt(watch, group, step);
  const isGone = isForgotten(watch, group, at);
  const isBreach = !isGone && isWhole(watch, group, at) && isBreached(watch, counts);
  if (group.status === "ok" && isBreach) enter(group, "pending", at);
  if (group.status === "pending") {
    if (!isBreach) enter(group, "ok", at);
    else if (at - group.since >= watch.forMs) {
      enter(group, "firing", at);
      group.isReported = mutedUntil(watch.mutes, at) === null;
      decided(decisionOf(watch, group, step, "firing"));
    }
  } else if (group.status === "firing") {
    if (isGone || isRecovered(watch, counts)) {
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
  const { key, steps, lastSeq, isReported } = group;
  const counts = countsAt(watch, group, step);
  const inView = steps.length > 0 && newestStep(group) > step - stepsOf(watch);
  const seqRange = inView ? { from: firstSeqAfter(group, step - stepsOf(watch)), to: lastSeq } : null;
  const at = step * stepOf(watch.windowMs);
  return { kind, key, at, value: valueIn(watch, counts), seqRange, isReported, isLate: false, isEnded: false, ...more };
}

function firstSeqAfter(group: Group, step: number): number {
  const { steps } = group;
  for (let at = 0; at < steps.length; at += WIDTH) if (stepAt(group, at) > step) return steps[at + 2] ?? 0;
  return 0;
}

/** Whether the windows of a decision lie in the time in which the rule counted. */
function isWhole({ condition, windowMs }: Watch, { wholeFrom }: Group, at: number): boolean {
  if (condition.kind === "absence") return at - windowMs >= wholeFrom;
  return condition.kind !== "change" || at - 2 * windowMs >= wholeFrom;
}

function isForgotten({ condition, isGrouped }: Watch, { lastAt }: Group, at: number): boolean {
  return condition.kind === "absence" && isGrouped && at - lastAt >= FORGET_MS;
}

function countsAt(watch: Watch, group: Group, step: number): { current: number; before: number } {
  const { steps } = group;
  const counts = { current: 0, before: 0 };
  const window = watch.condition.kind === "change" ? stepsOf(watch) / 2 : stepsOf(watch);
  for (let at = 0; at < steps.length; at += WIDTH) {
    const age = step - stepAt(group, at);
    if (age < window) counts.current += steps[at + 1] ?? 0;
    else if (age < 2 * window) counts.before += steps[at + 1] ?? 0;
  }
  return counts;
}

/** Drops the entries of a step and before. */
function trim(group: Group, step: number): void {
  const { steps } = group;
  let gone = 0;
  while (gone < steps.length && stepAt(group, gone) <= step) gone += WIDTH;
  if (gone > 0) steps.splice(0, gone);
}

/** Returns the first step after `step` whose decision can differ without further entries; `null` if there is none. */
function nextDue(watch: Watch, group: Group, step: number): number | null {
  const { condition, windowMs, forMs, mutes, isGrouped } = watch;
  const { steps, status, since, isReported, wholeFrom, lastAt, lastSeq } = group;
  const length = stepOf(windowMs);
  let due: number | null = null;
  const consider = (next: number) => {
    if (next > step && (due === null || next < due)) due = next;
  };
  const at = (time: number) => Math.ceil(time / length);
  const view = stepsOf(watch);
  if (status === "ok" && (condition.kind === "threshold" || condition.kind === "rate")) {
    // Without further entries the count only falls. What remains is to forget the group.
    if (steps.length > 0) consider(newestStep(group) + view);
    return due;
  }
  for (let index = 0; index < steps.length; index += WIDTH) {
    consider(stepAt(group, index) + view);
    if (condition.kind === "change") consider(stepAt(group, index) + view / 2);
  }
  if (status === "pending") consider(at(since + forMs));
  if (status === "firing" && !isReported) consider(at(mutedUntil(mutes, step * length) ?? 0));
  if (condition.kind === "change" && steps.length > 0) consider(at(wholeFrom + 2 * windowMs));
  if (condition.kind === "absence" && (!isGrouped || lastSeq > 0)) {
    consider(at(wholeFrom + windowMs));
    if (isGrouped) consider(at(lastAt + FORGET_MS));
  }
  return due;
}
