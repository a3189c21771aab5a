import { DISTINCT_HASHES, type PlainFunction, type Reading, readingOf } from "./values.ts";

/**
 * Computes the decisions of an alert rule from entries, plainly: for every step and group it reads the entries of the
 * window. It shares no code with the service, whose decisions it checks.
 */

/** A rule as the API returns it, in milliseconds. */
export interface PlainRule {
  kind: "threshold" | "below" | "rate" | "absence" | "rise" | "fall" | "new-pattern";
  /** What the rule computes of a field; `null`: it counts entries. */
  fn: PlainFunction | null;
  value: number;
  /** Entries that the larger window of a change must have. */
  min: number;
  windowMs: number;
  /** Windows by the entries' own time are decided so much later; `null`: by time of receipt. */
  delayMs: number | null;
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
  /** The time by which it is in a window: that of receipt, or its own, which is not later. */
  at: number;
  /** JSON array of the values that group the entry; `[]` without grouping. */
  key: string;
  /** Values of the field: numbers, or JSON texts for `count_distinct`. An entry without any is left out. */
  values: readonly (number | string)[];
}

export interface PlainDecision {
  kind: "firing" | "resolved";
  key: string;
  /** The end of the window, epoch milliseconds. */
  at: number;
  value: number | null;
  isExact: boolean;
  seqRange: { from: number; to: number } | null;
}

const FORGOTTEN_AFTER_MS = 7 * 86_400_000;

/**
 * @param entries of the rule's filter, in order of `seq`
 * @param until what is decided later is left out
 */
export function recompute(rule: PlainRule, entries: readonly PlainEntry[], until: number): PlainDecision[] {
  const byKey = new Map<string, PlainEntry[]>();
  if (rule.kind === "absence" && !rule.isGrouped) byKey.set("[]", []);
  for (const entry of entries) {
    if (entry.seq <= rule.startSeq || (rule.fn !== null && entry.values.length === 0)) continue;
    if (isTooLate(rule, entry)) continue;
    const of = byKey.get(entry.key);
    if (of) of.push(entry);
    else byKey.set(entry.key, [entry]);
  }
  const last = until - (rule.delayMs ?? 0);
  const decisions = [...byKey].flatMap(([key, of]) =>
    rule.kind === "new-pattern" ? ofPattern(rule, key, of, last) : decisionsOf(rule, key, of, last),
  );
  return decisions.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** Whether an entry was received when all windows with its time had been decided. It is late, and nothing else. */
function isTooLate(rule: PlainRule, { at, receivedAt }: PlainEntry): boolean {
  if (rule.delayMs === null) return false;
  const step = stepOf(rule);
  const windows = rule.kind === "rise" || rule.kind === "fall" ? 2 : 1;
  // The last window with the entry ends one step before that.
  const end = Math.ceil(at / step) * step + windows * rule.windowMs;
  return end - step + rule.delayMs < receivedAt;
}

/** Returns how many entries were received after a window with their time was decided. */
export function countLate(rule: PlainRule, entries: readonly PlainEntry[]): number {
  const { delayMs, startSeq, fn } = rule;
  if (delayMs === null) return 0;
  const step = stepOf(rule);
  const isLate = ({ at, receivedAt }: PlainEntry) => Math.ceil(at / step) * step + delayMs < receivedAt;
  const counted = entries.filter((entry) => entry.seq > startSeq && (fn === null || entry.values.length > 0));
  // An entry of several groups is one entry.
  return new Set(counted.filter(isLate).map(({ seq }) => seq)).size;
}

function stepOf({ windowMs }: PlainRule): number {
  return Math.max(1000, windowMs / 60);
}

/** A pattern fires with its first entries, unless they are of the first window, and recovers when they have left it. */
function ofPattern(rule: PlainRule, key: string, entries: readonly PlainEntry[], until: number): PlainDecision[] {
  const step = stepOf(rule);
  const at = Math.ceil((entries[0]?.at ?? 0) / step) * step;
  if (at - rule.windowMs < rule.startAt || at > until) return [];
  const first = entries.filter((entry) => entry.at <= at);
  const seqRange = { from: first[0]?.seq ?? 0, to: first.at(-1)?.seq ?? 0 };
  const firing = { kind: "firing" as const, key, at, value: first.length, isExact: true, seqRange };
  const end = at + rule.windowMs;
  if (end > until) return [firing];
  return [firing, { kind: "resolved", key, at: end, value: 0, isExact: true, seqRange: null }];
}

function decisionsOf(rule: PlainRule, key: string, entries: readonly PlainEntry[], until: number): PlainDecision[] {
  const { kind, windowMs, forMs, startAt } = rule;
  const step = stepOf(rule);
  const isChange = kind === "rise" || kind === "fall";
  const windows = new Windows(rule, entries);
  const decisions: PlainDecision[] = [];
  let status: "ok" | "pending" | "firing" = "ok";
  let since = 0;
  // An absence rule knows a group from the first entry on, and forgets it a week after the last one.
  let knownFrom = kind === "absence" && !rule.isGrouped ? startAt : null;
  for (let at = (Math.floor(startAt / step) + 1) * step; at <= until; at += step) {
    const seen = windows.receive(at);
    if (seen.length > 0) knownFrom ??= kind === "absence" ? (seen[0]?.at ?? 0) : startAt;
    if (knownFrom === null) continue;
    const isForgotten = kind === "absence" && rule.isGrouped && at - windows.newestAt >= FORGOTTEN_AFTER_MS;
    const current = windows.read("current", at);
    const before = isChange ? windows.read("before", at) : null;
    const value = valueIn(rule, current, before);
    const judged = kind === "absence" ? windowMs : isChange ? 2 * windowMs : 0;
    const counts = Math.max(current.count, before?.count ?? 0);
    const isBreach = value !== null && isBreached(rule, value, counts) && !isForgotten;
    const decision = () => {
      const seqRange = windows.seqRange(isChange ? at - 2 * windowMs : at - windowMs, at);
      return { key, at, value, isExact: current.isExact && (before?.isExact ?? true), seqRange };
    };
    if (status === "ok" && isBreach && at - judged >= knownFrom) {
      status = "pending";
      since = at;
    }
    if (status === "pending") {
      if (!isBreach) status = "ok";
      else if (at - since >= forMs) {
        status = "firing";
        decisions.push({ kind: "firing", ...decision() });
      }
    } else if (status === "firing" && (isForgotten || hasRecovered(rule, value, isBreach))) {
      status = "ok";
      decisions.push({ kind: "resolved", ...decision() });
    }
    if (isForgotten) knownFrom = null;
  }
  return decisions;
}

/** The entries of a group, as far as they were received when a time is decided. */
class Windows {
  readonly #rule: PlainRule;
  readonly #entries: readonly PlainEntry[];
  readonly #sorted: readonly PlainEntry[];
  readonly #delayMs: number;
  /** Whether the group has more different values than are kept, so that earlier entries matter. */
  readonly #isSampled: boolean;
  #received = 0;
  #newly: readonly PlainEntry[] = [];
  newestAt = 0;
  readonly #last = new Map<string, { entries: string; reading: Reading }>();

  constructor(rule: PlainRule, entries: readonly PlainEntry[]) {
    this.#rule = rule;
    this.#entries = entries;
    this.#delayMs = rule.delayMs ?? 0;
    const isSampled = rule.fn === "count_distinct" && rule.delayMs === null;
    this.#isSampled = isSampled && new Set(entries.flatMap(({ values }) => values)).size > DISTINCT_HASHES;
    this.#sorted = rule.delayMs === null ? entries : [...entries].sort((a, b) => a.at - b.at);
  }

  /** Takes what was received before the window that ends at a time is decided. Returns it. */
  receive(at: number): readonly PlainEntry[] {
    const from = this.#received;
    while (this.#received < this.#entries.length && this.#isReceived(this.#entries[this.#received], at))
      this.#received++;
    this.#newly = this.#entries.slice(from, this.#received);
    for (const entry of this.#newly) this.newestAt = Math.max(this.newestAt, entry.at);
    return this.#newly;
  }

  /** Returns what the rule has in the window that ends at a time, or in the one before. */
  read(window: "current" | "before", at: number): Reading {
    const { windowMs, delayMs } = this.#rule;
    const until = window === "current" ? at : at - windowMs;
    const [from, to] = [countUntil(this.#sorted, until - windowMs), countUntil(this.#sorted, until)];
    // Most windows have the entries of the one before, or none.
    const entries = `${from} ${to} ${this.#isSampled || delayMs !== null ? this.#received : ""}`;
    const known = this.#last.get(window);
    if (known?.entries === entries) return known.reading;
    const received = this.#isSampled ? this.#entries.slice(0, this.#received) : [];
    const reading = readingOf(this.#rule, received, this.#within(from, to), until);
    this.#last.set(window, { entries, reading });
    return reading;
  }

  seqRange(after: number, until: number): { from: number; to: number } | null {
    const seqs = this.#within(countUntil(this.#sorted, after), countUntil(this.#sorted, until)).map(({ seq }) => seq);
    return seqs.length === 0 ? null : { from: Math.min(...seqs), to: Math.max(...seqs) };
  }

  #within(from: number, to: number): readonly PlainEntry[] {
    const entries = this.#sorted.slice(from, to);
    if (this.#rule.delayMs === null) return entries;
    const last = this.#entries[this.#received - 1]?.seq ?? 0;
    return entries.filter(({ seq }) => seq <= last);
  }

  #isReceived(entry: PlainEntry | undefined, at: number): boolean {
    return entry !== undefined && entry.receivedAt <= at + this.#delayMs;
  }
}

function countUntil(entries: readonly PlainEntry[], time: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function valueIn({ kind, windowMs }: PlainRule, current: Reading, before: Reading | null): number | null {
  if (current.value === null) return null;
  if (kind === "rate") return (current.value * 1000) / windowMs;
  if (before === null) return current.value;
  if (before.value === null) return null;
  if (before.value === 0) return current.value === 0 ? 0 : current.value * Number.POSITIVE_INFINITY;
  return ((current.value - before.value) * 100) / Math.abs(before.value);
}

function isBreached({ kind, value: bound, min }: PlainRule, value: number, counts: number): boolean {
  switch (kind) {
    case "absence":
      return value < bound;
    case "below":
      return counts > 0 && value < bound;
    case "rise":
      return counts >= Math.max(1, min) && value >= bound;
    case "fall":
      return counts >= Math.max(1, min) && value <= -bound;
    default:
      return counts > 0 && value >= bound;
  }
}

function hasRecovered({ kind, recovery }: PlainRule, value: number | null, isBreach: boolean): boolean {
  if (isBreach) return false;
  if (recovery === null || value === null) return true;
  if (kind === "absence" || kind === "below") return value >= recovery;
  return kind === "fall" ? value > -recovery : value < recovery;
}
