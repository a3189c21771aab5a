/** What a rule counts, when it fires and when it recovers. */

/** Bounds of rules and of their groups. */
export const ALERT_LIMITS = {
  /** Rules of a workspace. */
  rules: 100,
  /** Fields of a group. */
  fields: 2,
  /** Live groups of a rule. Entries of further groups are counted as such. */
  groups: 10_000,
  /** Live groups of all rules of a workspace: each takes up to 1.5 KB of memory. */
  allGroups: 20_000,
  /** Characters of a value that groups entries. The rest of a longer value is left out. */
  groupValue: 200,
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

/** When a group of entries breaches. All counts are of the window. */
export type Condition =
  /** At least so many entries. */
  | { kind: "threshold"; value: number }
  /** At least so many entries a second. */
  | { kind: "rate"; value: number }
  /** Fewer entries than that. */
  | { kind: "absence"; value: number }
  /**
   * So many percent more (`rise`) or less (`fall`) than in the window before. `min`: entries that the larger of both
   * windows must have.
   */
  | { kind: "change"; direction: "rise" | "fall"; percent: number; min: number };

/** A time without notifications, epoch milliseconds: `from <= t < to`. */
export interface Mute {
  from: number;
  to: number;
}

/** What decisions depend on besides the entries. */
export interface Watch {
  condition: Condition;
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

/** Returns the milliseconds between two decisions: a sixtieth of the window, at least a second. */
export function stepOf(windowMs: number): number {
  return windowMs / STEPS;
}

/** Returns how many steps of entries decisions need: those of one window, or of two. */
export function stepsOf({ condition }: Pick<Watch, "condition">): number {
  return condition.kind === "change" ? 2 * STEPS : STEPS;
}

/** Entries of a group in the window and in the one before. */
export interface Counts {
  current: number;
  before: number;
}

/** Returns the value that a condition compares: entries, entries a second, or percent of change. */
export function valueIn({ condition, windowMs }: Pick<Watch, "condition" | "windowMs">, counts: Counts): number {
  const { current, before } = counts;
  switch (condition.kind) {
    case "threshold":
    case "absence":
      return current;
    case "rate":
      return (current * 1000) / windowMs;
    case "change":
      if (before === 0) return current === 0 ? 0 : Number.POSITIVE_INFINITY;
      return ((current - before) * 100) / before;
  }
}

export function isBreached(watch: Pick<Watch, "condition" | "windowMs">, counts: Counts): boolean {
  const { condition } = watch;
  const value = valueIn(watch, counts);
  switch (condition.kind) {
    case "threshold":
    case "rate":
      return value >= condition.value;
    case "absence":
      return value < condition.value;
    case "change": {
      const isLarge = Math.max(counts.current, counts.before) >= Math.max(1, condition.min);
      return isLarge && (condition.direction === "rise" ? value >= condition.percent : value <= -condition.percent);
    }
  }
}

/** Whether a firing group recovers. */
export function isRecovered(watch: Omit<Watch, "mutes" | "isGrouped" | "forMs">, counts: Counts): boolean {
  const { condition, recovery } = watch;
  if (isBreached(watch, counts)) return false;
  if (recovery === null) return true;
  const value = valueIn(watch, counts);
  if (condition.kind === "absence") return value >= recovery;
  if (condition.kind === "change" && condition.direction === "fall") return value > -recovery;
  return value < recovery;
}

/** Returns the end of the mutes that are in effect at a time; `null` if none is. */
export function mutedUntil(mutes: readonly Mute[], at: number): number | null {
  let until: number | null = null;
  for (;;) {
    const now: number = until ?? at;
    const next = mutes.find(({ from, to }) => from <= now && now < to);
    if (next === undefined) return until;
    until = next.to;
  }
}
