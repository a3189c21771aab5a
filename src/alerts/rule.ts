import { type Condition, isLow } from "./condition.ts";
import type { MeasureFunction } from "./measure.ts";
import type { Mute } from "./mutes.ts";
import { GROUP_CHARACTERS } from "./template.ts";

/** What a rule counts, when it fires and when it recovers. */

/** Bounds of rules and of their groups. */
export const ALERT_LIMITS = {
  /** Rules of a workspace. */
  rules: 100,
  /** Fields of a group. */
  fields: 2,
  /** Live groups of a rule. Entries of further groups are counted as such. */
  groups: 10_000,
  /** Live groups of all rules of a workspace. */
  allGroups: 50_000,
  /**
   * Values of `count_distinct` and of percentiles that are kept, of one group and of all: different values by step of the
   * window. Entries with further ones are counted as such.
   */
  groupCells: 20_000,
  allCells: 1_000_000,
  /** Values of one field that an entry adds. The rest of a longer array is left out. */
  entryValues: 1000,
  /** Windows by which decisions by the entries' own time may be delayed. */
  delayWindows: 5,
  groupValue: GROUP_CHARACTERS,
  /** Items of an array whose groups an entry counts in. */
  groupItems: 5,
  mutes: 20,
  labels: 20,
  destinations: 10,
  /** Characters. */
  label: 200,
  message: 2000,
} as const;

/** Steps of a window: a decision is due at each multiple of a sixtieth of the window. */
const STEPS = 60;

/** What decisions depend on besides the entries. */
export interface Watch {
  condition: Condition;
  /** What is computed of a field's values; `null`: the number of entries. */
  measure: MeasureFunction | null;
  /**
   * Windows are by the entries' own time, and decided so many milliseconds later; `null`: windows are by time of receipt.
   */
  delayMs: number | null;
  /** Milliseconds; whole minutes. */
  windowMs: number;
  /** Milliseconds for which a group must breach before it fires. */
  forMs: number;
  /**
   * The value below which a firing group recovers (for `absence`: from which on; for `change`: percent). `null`: when
   * it no longer breaches.
   */
  recovery: number | null;
  isGrouped: boolean;
  mutes: readonly Mute[];
}

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

/** Returns the last step that can be decided when all entries received until a time have been added. */
export function throughStep({ watch, endAt }: Pick<Run, "watch" | "endAt">, through: number): number {
  const until = endAt === null ? through : Math.min(through, endAt);
  return Math.floor((until - (watch.delayMs ?? 0)) / stepOf(watch.windowMs));
}

/** Returns the milliseconds between two decisions: a sixtieth of the window, at least a second. */
export function stepOf(windowMs: number): number {
  return windowMs / STEPS;
}

/** Returns how many steps of entries decisions need: those of one window, or of two. */
export function stepsOf({ condition }: Pick<Watch, "condition">): number {
  return condition.kind === "change" ? 2 * STEPS : STEPS;
}

/** What a group has in one window. */
export interface Reading {
  /** Entries, or values of the field. */
  count: number;
  /** `null`: the field has no value. */
  value: number | null;
  isExact: boolean;
}

/** A group in the window and in the one before. */
export interface View {
  current: Reading;
  before: Reading;
}

/**
 * Returns the value that a condition compares: that of the window, of a second, or percent of change. `null` if there is
 * none; infinite for a rise from nothing.
 */
export function valueIn({ condition, windowMs }: Pick<Watch, "condition" | "windowMs">, view: View): number | null {
  const current = view.current.value;
  switch (condition.kind) {
    case "threshold":
    case "absence":
    case "new-pattern":
      return current;
    case "rate":
      return current === null ? null : (current * 1000) / windowMs;
    case "change": {
      const before = view.before.value;
      if (current === null || before === null) return null;
      if (before === 0) return current === 0 ? 0 : current * Number.POSITIVE_INFINITY;
      return ((current - before) * 100) / Math.abs(before);
    }
  }
}

export function isBreached(watch: Pick<Watch, "condition" | "windowMs">, view: View): boolean {
  const { condition } = watch;
  const value = valueIn(watch, view);
  if (value === null) return false;
  switch (condition.kind) {
    case "threshold":
      return (
        view.current.count > 0 && (condition.direction === "below" ? value < condition.value : value >= condition.value)
      );
    case "rate":
      return view.current.count > 0 && value >= condition.value;
    case "absence":
      return value < condition.value;
    case "change": {
      const isLarge = Math.max(view.current.count, view.before.count) >= Math.max(1, condition.min);
      return isLarge && (condition.direction === "rise" ? value >= condition.percent : value <= -condition.percent);
    }
    case "new-pattern":
      return value > 0;
  }
}

/** Whether a firing group recovers. */
export function isRecovered(watch: Pick<Watch, "condition" | "windowMs" | "recovery">, view: View): boolean {
  const { condition, recovery } = watch;
  const value = valueIn(watch, view);
  if (condition.kind === "new-pattern") return value === 0;
  if (isBreached(watch, view)) return false;
  if (recovery === null || value === null) return true;
  if (isLow(condition)) return value >= recovery;
  if (condition.kind === "change" && condition.direction === "fall") return value > -recovery;
  return value < recovery;
}

/** Whether a group that does not breach needs a further entry to do so: what leaves the window only lowers its value. */
export function onlyFalls({ condition, measure }: Pick<Watch, "condition" | "measure">): boolean {
  if (condition.kind === "new-pattern") return true;
  const isHigh = condition.kind === "rate" || (condition.kind === "threshold" && condition.direction !== "below");
  return isHigh && (measure === null || measure === "max");
}
