import { type Entry, parseStoredLine } from "../logs/entry.ts";
import { logId } from "../logs/entry-view.ts";
import { WORK, type WorkMeter } from "../logs/query/budget.ts";
import { severityAt } from "../logs/query/lines.ts";
import type { EntryPlace } from "../logs/search/entry-test.ts";
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
  values: number[];
}

/** Values of a hit that are added to its part at once. */
const VALUES_AT_ONCE = 1024;
/** Weight of a hit, and of a value of it, as `pending` counts them. The hits of sets and percentiles cost more later. */
const HIT_WEIGHT = 10;
const COSTLY_HIT_WEIGHT = 100;

/** Work units of parsing a line, and of a byte of it. */
const PARSE_WORK = 400;
const PARSED_BYTE = 2;

/** Tests entries by the filters of all rules. Each line is parsed once. */
export class RuleMatcher {
  readonly #rules: CompiledRules;
  readonly #projectId: string;
  readonly #meter: WorkMeter;
  #hits = new Map<string, Pending>();
  #late = new Map<number, number>();
  #pending = 0;

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
    this.#meter.add(PARSE_WORK + bytes.length * PARSED_BYTE);
    const entry = parseStoredLine(buffer.toString("utf8"));
    if (entry === null) return false;
    const timestamp = Date.parse(entry.timestamp);
    const place = { timestamp, receivedAt, seq, projectId: this.#projectId, id: logId(this.#projectId, seq) };
    // A pause between two filters would let another line take the list of the candidates.
    for (const filter of [...this.#rules.candidates(entry, place)]) {
      if (((1 << severity) & filter.levelMask) === 0) continue;
      this.#meter.add(filter.work + (filter.steps === null ? WORK.condition : 0));
      const passes = filter.steps === null ? filter.test(entry, place) : yield* filter.steps(entry, place, this.#meter);
      if (passes) for (const rule of filter.rules) this.#add(rule, entry, place);
      if (this.#meter.isDue) yield;
    }
    return true;
  }

  /** How much was counted since the last call of `takeHits`: 10 is a hit of a rule that counts entries. */
  get pending(): number {
    return this.#pending;
  }

  /** Returns what was counted since the last call, in order of receipt if the lines were. */
  takeHits(): Hit[] {
    const hits: Hit[] = [];
    for (const { hit, fn, values } of this.#hits.values()) hits.push(joinedHit(hit, fn, values));
    this.#hits = new Map();
    this.#pending = 0;
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
    // A clock that is ahead does not make later windows.
    const at = delayMs === null ? receivedAt : Math.min(timestamp, receivedAt);
    const step = Math.ceil(at / stepMs);
    const undecided = Math.floor((receivedAt - 1 - (delayMs ?? 0)) / stepMs) + 1;
    const values = rule.values?.(entry, place) ?? null;
    if (values?.length === 0) return;
    if (step < undecided) this.#late.set(run, (this.#late.get(run) ?? 0) + 1);
    if (step + steps <= undecided) return;
    this.#meter.add(values === null ? 0 : values.length * VALUE_WORK);
    for (const key of keysOf(rule, entry, place)) this.#count(rule, key, { step, undecided, at }, seq, values);
  }

  #count(
    { counted: { run, measure } }: CompiledRule,
    key: string,
    { step, undecided, at }: { step: number; undecided: number; at: number },
    seq: number,
    values: readonly number[] | null,
  ): void {
    const name = `${run} ${step} ${undecided} ${key}`;
    let pending = this.#hits.get(name);
    if (pending === undefined) {
      const part = null;
      const hit = { run, key, step, undecided, count: 0, firstSeq: seq, lastSeq: seq, firstAt: at, lastAt: at, part };
      pending = { hit, fn: measure?.fn ?? null, values: [] };
      this.#hits.set(name, pending);
      const isCostly = measure !== null && ["distinct", "percentile"].includes(familyOf(measure.fn));
      this.#pending += isCostly ? COSTLY_HIT_WEIGHT : HIT_WEIGHT;
    }
    const { hit } = pending;
    hit.count += values?.length ?? 1;
    hit.lastSeq = seq;
    hit.lastAt = Math.max(hit.lastAt, at);
    if (values === null) return;
    pending.values.push(...values);
    this.#pending += values.length;
    if (pending.values.length < VALUES_AT_ONCE) return;
    pending.hit = joinedHit(hit, pending.fn, pending.values);
    pending.values = [];
  }
}

function joinedHit(hit: Hit, fn: MeasureFunction | null, values: readonly number[]): Hit {
  return fn === null || values.length === 0 ? hit : { ...hit, part: withValues(fn, hit.part, values) };
}

/** Work units of taking a value and adding it to a part. */
const VALUE_WORK = 150;

/** Bytes of a line in which its level is. */
const HEAD_BYTES = 80;

/** Returns the groups of an entry: one for each combination of values. */
function keysOf({ fields }: CompiledRule, entry: Entry, place: EntryPlace): string[] {
  const [first, second] = fields;
  if (first === undefined) return ["[]"];
  const firsts = first(entry, place);
  if (second === undefined) return firsts.map((value) => JSON.stringify([value]));
  const seconds = second(entry, place);
  return firsts.flatMap((a) => seconds.map((b) => JSON.stringify([a, b])));
}
