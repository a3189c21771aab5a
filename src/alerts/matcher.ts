import { type Entry, parseStoredLine } from "../logs/entry.ts";
import { logId } from "../logs/entry-view.ts";
import { WORK, type WorkMeter } from "../logs/query/budget.ts";
import { ObjectWork } from "../logs/query/json-bytes.ts";
import { severityAt } from "../logs/query/lines.ts";
import { beginPathWork, takePathWork } from "../logs/search/data-values.ts";
import type { EntryPlace, EntryTest } from "../logs/search/entry-test.ts";
import type { CompiledRule, CompiledRules } from "./compiled-rules.ts";
import type { CountedQuery } from "./definition.ts";
import type { Hit } from "./evaluator.ts";
import { familyOf, type MeasureFunction, withValues } from "./measure.ts";

/** What a rule counts, and by which steps. Plain data. */
export interface Counting extends CountedQuery {
  /** Milliseconds of a step. */
  stepMs: number;
  /** Steps of entries that a decision needs. */
  steps: number;
  /** See `Watch.delayMs`. */
  delayMs: number | null;
}

/** What a run counts. Plain data. */
export interface Counted extends Counting {
  run: number;
  /** Entries with `startSeq < seq <= endSeq`. */
  startSeq: number;
  endSeq: number | null;
}

/** A line of one project's entries. */
export interface RuleLine {
  /** Bytes of the line, without its line break. */
  bytes: Uint8Array;
  seq: number;
  /** Epoch milliseconds. */
  receivedAt: number;
}

/** What was counted of a group and step, and values that are not in its part yet. */
interface Pending {
  hit: Hit;
  fn: MeasureFunction | null;
  /** Whether its part keeps the values. */
  isCostly: boolean;
  values: number[];
}

/** The hits of a rule whose entries have the same step, and the same one that was undecided, by group. */
interface Slot {
  step: number;
  undecided: number;
  hits: Map<string, Pending>;
}

/** Values of a hit that are added to its part at once. */
const VALUES_AT_ONCE = 1024;
/** The same of sums and extremes, of which one number remains: 10,000 hits hold at most 5 MB. */
const SUMMED_AT_ONCE = 64;
/** Weight of a hit, and of a value of it, as `pending` counts them. The hits of sets and percentiles cost more later. */
export const HIT_WEIGHT = 10;
const COSTLY_HIT_WEIGHT = 100;
/** Characters of a hit's key that weigh 1: a call has at most 2 million. */
const KEY_LENGTH = 20;

/** Work units of parsing a line, and of a byte of it. */
const PARSE_WORK = 1200;
const PARSED_BYTE = 2;

/** Tests entries by the filters of all rules. Each line is parsed once. */
export class RuleMatcher {
  readonly #rules: CompiledRules;
  readonly #projectId: string;
  readonly #meter: WorkMeter;
  readonly #objects = new ObjectWork();
  #hits: Pending[] = [];
  #slots = new Map<string, Slot>();
  /** The slot of each rule's last entry: that of most others. */
  #lastSlots = new Map<CompiledRule, Slot>();
  #late = new Map<number, number>();
  #pending = 0;
  #passed = 0;
  #grouped = { all: 0, most: 0 };
  #groupedBy = new Map<number, number>();

  /** @param meter decides when `steps` pauses */
  constructor(rules: CompiledRules, projectId: string, meter: WorkMeter) {
    this.#rules = rules;
    this.#projectId = projectId;
    this.#meter = meter;
  }

  /**
   * Counts a line. Yields when a pause is due.
   * @returns whether the line is an entry; lines that no rule can count are not parsed
   */
  *steps({ bytes, seq, receivedAt }: RuleLine): Generator<void, boolean> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#meter.add(WORK.line);
    const severity = severityAt(buffer.toString("latin1", 0, HEAD_BYTES), 0);
    if (severity >= 0 && ((1 << severity) & this.#rules.levelMask) === 0) return true;
    this.#meter.add(PARSE_WORK + bytes.length * PARSED_BYTE + this.#objects.of(bytes, 0, bytes.length));
    const entry = parseStoredLine(buffer.toString("utf8"));
    if (entry === null) return false;
    const timestamp = Date.parse(entry.timestamp);
    const place = { timestamp, receivedAt, seq, projectId: this.#projectId, id: logId(this.#projectId, seq) };
    for (const filter of yield* this.#rules.candidates(entry, place, this.#meter)) {
      if (((1 << severity) & filter.levelMask) === 0) continue;
      this.#meter.add(filter.work + (filter.steps === null ? WORK.condition : 0));
      const { test, steps } = filter;
      const passes = steps === null ? this.#tested(test, entry, place) : yield* steps(entry, place, this.#meter);
      if (passes) for (const rule of filter.rules) this.#add(rule, entry, place);
      if (this.#meter.isDue) yield;
    }
    return true;
  }

  #tested(test: EntryTest, entry: Entry, place: EntryPlace): boolean {
    beginPathWork();
    const passes = test(entry, place);
    this.#meter.add(takePathWork());
    return passes;
  }

  /** Entries that passed the filter of a rule, whether or not they have what it measures; one of several rules counts for each. */
  get passed(): number {
    return this.#passed;
  }

  /** How much was counted since the last call of `takeHits`: 10 is a hit of a rule that counts entries. */
  get pending(): number {
    return this.#pending;
  }

  /** Weight of the hits of rules with groups since the last call of `takeHits`: of all of them, and of the one with the most. */
  get grouped(): { all: number; most: number } {
    return this.#grouped;
  }

  /** Returns what was counted since the last call, in order of receipt if the lines were. */
  takeHits(): Hit[] {
    const hits: Hit[] = [];
    for (const { hit, fn, values } of this.#hits) hits.push(joinedHit(hit, fn, values));
    this.#hits = [];
    this.#slots = new Map();
    this.#lastSlots = new Map();
    this.#pending = 0;
    this.#grouped = { all: 0, most: 0 };
    this.#groupedBy = new Map();
    return hits;
  }

  /** Returns how many entries each run got too late for a window, since the last call. */
  takeLate(): [run: number, count: number][] {
    const late = [...this.#late];
    this.#late = new Map();
    return late;
  }

  #add(rule: CompiledRule, entry: Entry, place: EntryPlace): void {
    const { run, startSeq, endSeq, stepMs, steps, delayMs } = rule.counted;
    const { receivedAt, timestamp, seq } = place;
    if (seq <= startSeq || (endSeq !== null && seq > endSeq)) return;
    this.#passed++;
    // A clock that is ahead does not make later windows.
    const at = delayMs === null ? receivedAt : Math.min(timestamp, receivedAt);
    const step = Math.ceil(at / stepMs);
    const undecided = Math.floor((receivedAt - 1 - (delayMs ?? 0)) / stepMs) + 1;
    const values = rule.values?.(entry, place) ?? null;
    if (values?.length === 0) return;
    if (step < undecided) this.#late.set(run, (this.#late.get(run) ?? 0) + 1);
    if (step + steps <= undecided) return;
    const slot = this.#slotOf(rule, step, undecided);
    const keys = rule.keys(entry, place);
    this.#meter.add(keys.length * (KEY_WORK + (values?.length ?? 0) * VALUE_WORK));
    for (const key of keys) this.#count(rule, key, slot, at, seq, values);
  }

  #slotOf(rule: CompiledRule, step: number, undecided: number): Slot {
    const last = this.#lastSlots.get(rule);
    if (last?.step === step && last.undecided === undecided) return last;
    const name = `${rule.counted.run} ${step} ${undecided}`;
    const slot = this.#slots.get(name) ?? { step, undecided, hits: new Map<string, Pending>() };
    this.#slots.set(name, slot);
    this.#lastSlots.set(rule, slot);
    return slot;
  }

  #count(
    { counted: { run, measure, by } }: CompiledRule,
    key: string,
    { step, undecided, hits }: Slot,
    at: number,
    seq: number,
    values: readonly number[] | null,
  ): void {
    let pending = hits.get(key);
    if (pending === undefined) {
      const part = null;
      const hit = { run, key, step, undecided, count: 0, firstSeq: seq, lastSeq: seq, firstAt: at, lastAt: at, part };
      const isCostly = measure !== null && ["distinct", "percentile"].includes(familyOf(measure.fn));
      pending = { hit, fn: measure?.fn ?? null, isCostly, values: [] };
      hits.set(key, pending);
      this.#hits.push(pending);
      const weight = weightOfHit(key);
      this.#pending += isCostly ? weight + COSTLY_HIT_WEIGHT - HIT_WEIGHT : weight;
      if (by.length > 0) this.#addGrouped(run, weight);
    }
    const { hit, isCostly } = pending;
    hit.count += values?.length ?? 1;
    hit.lastSeq = seq;
    hit.lastAt = Math.max(hit.lastAt, at);
    if (values === null) return;
    pending.values.push(...values);
    if (isCostly) this.#pending += values.length;
    if (pending.values.length < (isCostly ? VALUES_AT_ONCE : SUMMED_AT_ONCE)) return;
    pending.hit = joinedHit(hit, pending.fn, pending.values);
    pending.values = [];
  }

  #addGrouped(run: number, weight: number): void {
    const ofRun = (this.#groupedBy.get(run) ?? 0) + weight;
    this.#groupedBy.set(run, ofRun);
    this.#grouped.all += weight;
    this.#grouped.most = Math.max(this.#grouped.most, ofRun);
  }
}

/** Returns the weight of a hit without values. Groups with long keys hold memory in the matcher and in the object. */
export function weightOfHit(key: string): number {
  return HIT_WEIGHT + Math.floor(key.length / KEY_LENGTH);
}

function joinedHit(hit: Hit, fn: MeasureFunction | null, values: readonly number[]): Hit {
  return fn === null || values.length === 0 ? hit : { ...hit, part: withValues(fn, hit.part, values) };
}

/** Work units of counting an entry in a group, and of taking a value and adding it to a part. */
const KEY_WORK = 150;
const VALUE_WORK = 150;

/** Bytes of a line in which its level is. */
const HEAD_BYTES = 80;
