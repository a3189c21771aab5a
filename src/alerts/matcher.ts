import type { Entry } from "../logs/entry.ts";
import { parseStoredLine } from "../logs/entry.ts";
import { logId } from "../logs/entry-view.ts";
import { WORK, type WorkMeter } from "../logs/query/budget.ts";
import { severityAt } from "../logs/query/lines.ts";
import { compileFilter } from "../logs/search/compile-filter.ts";
import { type EntrySteps, entryStepsOf } from "../logs/search/entry-steps.ts";
import { type EntryPlace, type EntryTest, entryTestOf, readerOf } from "../logs/search/entry-test.ts";
import { restFilterOf } from "../logs/search/rest-filter.ts";
import type { Field } from "../query-language/syntax.ts";
import type { CountedQuery } from "./definition.ts";
import type { Hit } from "./evaluator.ts";
import { ALERT_LIMITS } from "./rule.ts";

/** What a run counts. Plain data. */
export interface Counted extends CountedQuery {
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

interface PreparedRule {
  counted: Counted;
  /** Mask of the levels of which an entry may pass. */
  levelMask: number;
  test: EntryTest;
  /** In place of `test` if that may take long. */
  steps: EntrySteps | null;
  work: number;
  fields: ((entry: Entry, place: EntryPlace) => unknown[])[];
}

/** Work units of parsing a line, and of a byte of it. */
const PARSE_WORK = 400;
const PARSED_BYTE = 2;

/** Tests entries by the filters of all rules. Each line is parsed once. */
export class RuleMatcher {
  readonly #rules: readonly PreparedRule[];
  readonly #projectId: string;
  readonly #meter: WorkMeter;
  readonly #levelMask: number;
  #hits = new Map<string, Hit>();

  /** @param meter decides when `steps` pauses */
  constructor(rules: readonly Counted[], projectId: string, meter: WorkMeter) {
    this.#rules = rules.map(prepared);
    this.#projectId = projectId;
    this.#meter = meter;
    this.#levelMask = this.#rules.reduce((mask, { levelMask }) => mask | levelMask, 0);
  }

  /**
   * Counts a line. Yields when a pause is due.
   * @returns whether the line is an entry; lines that no rule can count are not parsed
   */
  *steps({ bytes, seq, receivedAt }: RuleLine): Generator<void, boolean> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#meter.add(WORK.line);
    const severity = severityAt(buffer.toString("latin1", 0, HEAD_BYTES), 0);
    if (severity >= 0 && ((1 << severity) & this.#levelMask) === 0) return true;
    this.#meter.add(PARSE_WORK + bytes.length * PARSED_BYTE);
    const entry = parseStoredLine(buffer.toString("utf8"));
    if (entry === null) return false;
    const timestamp = Date.parse(entry.timestamp);
    const place = { timestamp, receivedAt, seq, projectId: this.#projectId, id: logId(this.#projectId, seq) };
    for (const rule of this.#rules) {
      const { counted, levelMask, steps, test } = rule;
      if (((1 << severity) & levelMask) === 0 || seq <= counted.startSeq) continue;
      if (counted.endSeq !== null && seq > counted.endSeq) continue;
      this.#meter.add(rule.work + (steps === null ? WORK.condition : 0));
      const passes = steps === null ? test(entry, place) : yield* steps(entry, place, this.#meter);
      if (passes) for (const key of keysOf(rule, entry, place)) this.#count(counted.run, key, seq, receivedAt);
      if (this.#meter.isDue) yield;
    }
    return true;
  }

  /** Number of hits since the last call of `takeHits`. */
  get pending(): number {
    return this.#hits.size;
  }

  /** Returns what was counted since the last call, in order of receipt if the lines were. */
  takeHits(): Hit[] {
    const hits = [...this.#hits.values()];
    this.#hits = new Map();
    return hits;
  }

  #count(run: number, key: string, seq: number, receivedAt: number): void {
    const name = `${receivedAt} ${run} ${key}`;
    const hit = this.#hits.get(name);
    if (hit === undefined) this.#hits.set(name, { run, key, receivedAt, count: 1, firstSeq: seq, lastSeq: seq });
    else {
      hit.count++;
      hit.lastSeq = seq;
    }
  }
}

/** Bytes of a line in which its level is. */
const HEAD_BYTES = 80;

function prepared(counted: Counted): PreparedRule {
  const { filter, by } = counted;
  const rest = restFilterOf(filter, 0);
  return {
    counted,
    levelMask: compileFilter(filter, 0).levelMask,
    test: entryTestOf(filter, 0),
    steps: rest.steps === null ? null : entryStepsOf(filter, 0),
    work: rest.lineWork,
    fields: by.map(valuesOf),
  };
}

/** Returns what reads the different values of a field, as JSON texts. */
function valuesOf(field: Field): (entry: Entry, place: EntryPlace) => unknown[] {
  const read = readerOf(field);
  return (entry, place) => {
    const values: unknown[] = [];
    read(entry, place, (value) => {
      for (const each of Array.isArray(value) ? value : [value]) {
        const grouping = groupingValue(each);
        if (grouping !== undefined && !values.includes(grouping)) values.push(grouping);
        if (values.length === ALERT_LIMITS.groupItems) return true;
      }
      return false;
    });
    return values.length === 0 ? [null] : values;
  };
}

/** Texts, numbers and booleans group entries; an entry without any is in the group of `null`. */
function groupingValue(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, ALERT_LIMITS.groupValue);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

/** Returns the groups of an entry: one for each combination of values. */
function keysOf({ fields }: PreparedRule, entry: Entry, place: EntryPlace): string[] {
  const [first, second] = fields;
  if (first === undefined) return ["[]"];
  const firsts = first(entry, place);
  if (second === undefined) return firsts.map((value) => JSON.stringify([value]));
  const seconds = second(entry, place);
  return firsts.flatMap((a) => seconds.map((b) => JSON.stringify([a, b])));
}
