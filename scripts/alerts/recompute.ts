/**
 * Computes the decisions of an alert rule from entries, plainly: for every step and group it counts the entries of the
 * window. It shares no code with the service, whose decisions it checks.
 */

/** A rule as the API returns it, in milliseconds. */
export interface PlainRule {
  kind: "threshold" | "rate" | "absence" | "rise" | "fall";
  value: number;
  /** Entries that the larger window of a change must have. */
  min: number;
  windowMs: number;
  forMs: number;
  recovery: number | null;
  isGrouped: boolean;
  /** Since when the rule counts: entries after `startSeq`, decisions after `startAt`. */
  startSeq: number;
  startAt: number;
}

export interface PlainEntry {
  seq: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** JSON array of the values that group the entry; `[]` without grouping. */
  key: string;
}

export interface PlainDecision {
  kind: "firing" | "resolved";
  key: string;
  /** The end of the window, epoch milliseconds. */
  at: number;
  value: number;
  seqRange: { from: number; to: number } | null;
}

const FORGOTTEN_AFTER_MS = 7 * 86_400_000;

/**
 * @param entries of the rule's filter, in order of `seq`
 * @param until decisions for later times are left out
 */
export function recompute(rule: PlainRule, entries: readonly PlainEntry[], until: number): PlainDecision[] {
  const byKey = new Map<string, PlainEntry[]>();
  if (rule.kind === "absence" && !rule.isGrouped) byKey.set("[]", []);
  for (const entry of entries) {
    if (entry.seq <= rule.startSeq) continue;
    const of = byKey.get(entry.key);
    if (of) of.push(entry);
    else byKey.set(entry.key, [entry]);
  }
  const decisions = [...byKey].flatMap(([key, of]) => decisionsOf(rule, key, of, until));
  return decisions.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function decisionsOf(rule: PlainRule, key: string, entries: readonly PlainEntry[], until: number): PlainDecision[] {
  const { windowMs, forMs, startAt } = rule;
  const step = Math.max(1000, windowMs / 60);
  const decisions: PlainDecision[] = [];
  let status: "ok" | "pending" | "firing" = "ok";
  let since = 0;
  // An absence rule knows a group from the first entry on, and forgets it a week after the last one.
  let knownFrom = rule.kind === "absence" && !rule.isGrouped ? startAt : null;
  let seen = 0;
  for (let at = (Math.floor(startAt / step) + 1) * step; at <= until; at += step) {
    while (seen < entries.length && (entries[seen]?.receivedAt ?? 0) <= at) {
      knownFrom ??= rule.kind === "absence" ? (entries[seen]?.receivedAt ?? 0) : startAt;
      seen++;
    }
    if (knownFrom === null) continue;
    const lastAt = entries[seen - 1]?.receivedAt ?? 0;
    const isForgotten = rule.kind === "absence" && rule.isGrouped && at - lastAt >= FORGOTTEN_AFTER_MS;
    const current = within(entries, at - windowMs, at);
    const before = within(entries, at - 2 * windowMs, at - windowMs);
    const value = valueIn(rule, current.length, before.length);
    const judged = rule.kind === "absence" ? windowMs : rule.kind === "rise" || rule.kind === "fall" ? 2 * windowMs : 0;
    const counts = Math.max(current.length, before.length);
    const isBreach = isBreached(rule, value, counts) && !isForgotten;
    const decided = rule.kind === "rise" || rule.kind === "fall" ? [...before, ...current] : current;
    const [first, last] = [decided[0], decided.at(-1)];
    const seqRange = first && last ? { from: first.seq, to: last.seq } : null;
    if (status === "ok" && isBreach && at - judged >= knownFrom) {
      status = "pending";
      since = at;
    }
    if (status === "pending") {
      if (!isBreach) status = "ok";
      else if (at - since >= forMs) {
        status = "firing";
        decisions.push({ kind: "firing", key, at, value, seqRange });
      }
    } else if (status === "firing" && (isForgotten || hasRecovered(rule, value, isBreach))) {
      status = "ok";
      decisions.push({ kind: "resolved", key, at, value, seqRange });
    }
    if (isForgotten) knownFrom = null;
  }
  return decisions;
}

/** Returns the entries with `after < receivedAt <= until`. */
function within(entries: readonly PlainEntry[], after: number, until: number): readonly PlainEntry[] {
  return entries.slice(countUntil(entries, after), countUntil(entries, until));
}

function countUntil(entries: readonly PlainEntry[], time: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.receivedAt ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function valueIn({ kind, windowMs }: PlainRule, current: number, before: number): number {
  if (kind === "rate") return (current * 1000) / windowMs;
  if (kind !== "rise" && kind !== "fall") return current;
  if (before === 0) return current === 0 ? 0 : Number.POSITIVE_INFINITY;
  return ((current - before) * 100) / before;
}

function isBreached({ kind, value: bound, min }: PlainRule, value: number, counts: number): boolean {
  switch (kind) {
    case "absence":
      return value < bound;
    case "rise":
      return counts >= Math.max(1, min) && value >= bound;
    case "fall":
      return counts >= Math.max(1, min) && value <= -bound;
    default:
      return value >= bound;
  }
}

function hasRecovered({ kind, recovery }: PlainRule, value: number, isBreach: boolean): boolean {
  if (isBreach) return false;
  if (recovery === null) return true;
  if (kind === "absence") return value >= recovery;
  return kind === "fall" ? value > -recovery : value < recovery;
}
