import { LEVELS } from "../entry.ts";
import type { LineMatch } from "../query/batch-matcher.ts";
import type { WorkMeter } from "../query/budget.ts";
import { toByteString } from "../query/case-folding.ts";
import type { LineSource } from "../query/feed.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import { SUMMARY_BUCKET_MS } from "../summary.ts";
import { type Aggregator, type Measure, TYPE_BITS } from "./aggregator.ts";
import type { OwnField } from "./fields.ts";
import type { FoundField } from "./found-field.ts";
import { NULL_ID } from "./groups.ts";
import { LineFields } from "./line-fields.ts";
import { type AggregatePlan, binStart } from "./plan.ts";

/** Groups that one entry counts in at most, if its keys have arrays. Fewer, if it also has many values to add. */
export const MAX_GROUPS_OF_ENTRY = 100;
/** Values that one entry adds to several groups at most: 10 ms. A single group takes all. */
const MAX_VALUES_OF_ENTRY = 50_000;

/**
 * Work units: reading a line and each byte of it, finding a group by one key, adding a number or a text to a measure, each
 * byte of a text. A new group needs memory in each measure. `npm run bench:work` measures them.
 */
export const LINE_WORK = 200;
export const LINE_BYTE_WORK = 0.8;
const KEY_WORK = 100;
const NUMBER_WORK = 110;
const TEXT_WORK = 400;
const WHOLE_WORK = 160;
const TEXT_BYTE_WORK = 2;
/** A byte of an object or array that is parsed and written. */
const NESTED_BYTE_WORK = 10;
const NEW_GROUP_WORK = 2000;
const NEW_MEASURE_WORK = 400;

/** Own fields whose values are counted with batches and segments. */
const COUNTED_FIELDS: ReadonlySet<OwnField | null> = new Set(["level", "category", "type"]);

interface CountedNames {
  /** Severity, 0..6. */
  level: number;
  category: string;
  type: string;
}

/** Result of a line: it was counted, it is no entry, or its group would be one too many. */
export type AddedLine = "added" | "damaged" | "full";

/** Adds stored lines to an aggregator. */
export class EntryAggregator {
  readonly #aggregator: Aggregator;
  readonly #meter: WorkMeter;
  readonly #fields: LineFields;
  readonly #ids: number[];
  readonly #objects = new ObjectWork();
  /** Measures by what they take of a field. */
  readonly #measures: readonly { measure: Measure; found: FoundField; takes: "numbers" | "texts" | "whole" }[];
  /** Groups of the current entry. */
  readonly #groups: number[] = [];
  /** The bin that was found last. Consecutive entries mostly belong to the same. */
  #binStart = Number.NaN;
  #binId = NULL_ID;

  constructor(aggregator: Aggregator, meter: WorkMeter) {
    this.#aggregator = aggregator;
    this.#meter = meter;
    const { plan, measures } = aggregator;
    this.#fields = new LineFields(plan.fields);
    this.#ids = plan.keys.map(() => NULL_ID);
    this.#measures = measures.flatMap((measure, index) => {
      const found = this.#fields.found[plan.measures[index]?.field ?? -1];
      return found ? [{ measure, found, takes: takenBy(measure) }] : [];
    });
  }

  /** Whether fields are read, but none behind the type, so that the rest of a line is not looked at. */
  get readsNamesAlone(): boolean {
    return this.#fields.found.length > 0 && !this.#fields.readsBody;
  }

  add(match: LineMatch, lines: LineSource): AddedLine {
    const meter = this.#meter;
    meter.add(LINE_WORK + (this.#fields.readsBody ? (match.end - match.start) * LINE_BYTE_WORK : 0));
    if (!this.#fields.read(match, lines)) return "damaged";
    meter.add(this.#fields.takeWork());
    const before = this.#aggregator.groups.count;
    const result = this.#findGroups(match);
    const made = this.#aggregator.groups.count - before;
    if (made > 0) meter.add(made * (NEW_GROUP_WORK + NEW_MEASURE_WORK * this.#measures.length));
    if (result !== "added") return result;
    const { entries, types } = this.#aggregator;
    const fields = this.#fields.found;
    for (let field = 0; field < fields.length; field++)
      types[field] = (types[field] ?? 0) | (fields[field]?.types ?? 0);
    for (let at = 0; at < this.#groups.length; at++) {
      const group = this.#groups[at] ?? 0;
      entries.add(group, 1);
      for (const { measure, found, takes } of this.#measures) {
        if (takes === "numbers") this.#addNumbers(measure, found, group);
        else if (takes === "texts") this.#addTexts(measure, found, group);
        else if (found.isThere) this.#addWhole(measure, found, group, match, lines);
      }
    }
    return "added";
  }

  /** Whether stored counts suffice: keys of level, category, type and whole minutes, and columns of numbers of entries. */
  static takesCounts({ keys, fields, measures }: AggregatePlan): boolean {
    if (measures.length > 0) return false;
    return keys.every((key) =>
      "binMs" in key
        ? key.binMs % SUMMARY_BUCKET_MS === 0 && (key.offsetMs ?? 0) % SUMMARY_BUCKET_MS === 0
        : COUNTED_FIELDS.has(fields[key.field]?.own ?? null),
    );
  }

  /** Adds entries of a level, category and type. @param timestamp epoch milliseconds, a whole minute */
  addCounted(timestamp: number, counted: CountedNames, count: number): AddedLine {
    const { plan, groups, entries } = this.#aggregator;
    for (const [key, spec] of plan.keys.entries()) {
      if ("binMs" in spec) this.#ids[key] = this.#binOf(key, binStart(timestamp, spec));
      else {
        const own = plan.fields[spec.field]?.own;
        const value = own === "level" ? LEVELS[counted.level] : own === "category" ? counted.category : counted.type;
        this.#ids[key] = groups.keys[key]?.idOf(toByteString(JSON.stringify(value)), same) ?? NULL_ID;
      }
    }
    this.#meter.add(KEY_WORK * (plan.keys.length + 1));
    const group = groups.groupOf(this.#ids);
    if (group < 0) return "full";
    entries.add(group, count);
    return "added";
  }

  #addNumbers(measure: Measure, found: FoundField, group: number): void {
    for (let at = 0; at < found.count; at++) {
      const number = found.kinds[at] === TYPE_BITS.number || isOrdinal(found, at) ? found.numberAt(at) : Number.NaN;
      if (Number.isFinite(number)) this.#aggregator.addNumber(measure, group, number);
    }
    this.#meter.add(NUMBER_WORK * found.count);
  }

  #addTexts(measure: Measure, found: FoundField, group: number): void {
    for (let at = 0; at < found.count; at++) {
      if (found.kinds[at] === TYPE_BITS.null) continue;
      const text = found.textAt(at);
      this.#meter.add(TEXT_WORK + text.length * TEXT_BYTE_WORK);
      this.#aggregator.addText(measure, group, text, this.#canonical);
    }
  }

  #addWhole(measure: Measure, found: FoundField, group: number, match: LineMatch, lines: LineSource): void {
    this.#meter.add(WHOLE_WORK);
    const { projectId } = lines;
    const position = { timestamp: match.timestamp, seq: lines.seqAt(match.index), projectId };
    this.#aggregator.addWhole(measure, group, position, () => {
      const text = found.whole();
      this.#meter.add(text.length * TEXT_BYTE_WORK);
      return this.#canonical(text);
    });
  }

  /** Finds the groups of an entry: one, unless a key has an array. */
  #findGroups({ timestamp }: LineMatch): AddedLine {
    const { plan, groups } = this.#aggregator;
    let isList = false;
    for (let key = 0; key < plan.keys.length; key++) {
      const spec = plan.keys[key];
      this.#meter.add(KEY_WORK);
      if (spec === undefined) continue;
      if ("binMs" in spec) {
        this.#ids[key] = this.#binOf(key, binStart(timestamp, spec));
        continue;
      }
      const found = this.#fields.found[spec.field];
      if (found && found.count > 1) isList = true;
      const id = found && found.count > 0 ? this.#idOf(key, found, 0) : NULL_ID;
      if (id < 0) return "damaged";
      this.#ids[key] = id;
    }
    this.#groups.length = 0;
    if (isList) return this.#findGroupsOfLists();
    const group = groups.groupOf(this.#ids);
    if (group < 0) return "full";
    this.#groups.push(group);
    return "added";
  }

  #binOf(key: number, start: number): number {
    if (start === this.#binStart) return this.#binId;
    this.#binStart = start;
    this.#binId = this.#aggregator.groups.keys[key]?.idOf(String(start), same) ?? NULL_ID;
    return this.#binId;
  }

  /** Returns the number of a key's value; negative if the value is damaged. */
  #idOf(key: number, found: FoundField, at: number): number {
    const text = found.textAt(at);
    this.#meter.add(text.length * TEXT_BYTE_WORK);
    return this.#aggregator.groups.keys[key]?.idOf(text, this.#canonical) ?? NULL_ID;
  }

  /**
   * Returns a JSON text as `JSON.stringify` writes it, in its own memory; `null` if it is damaged. Lines are not read in
   * full, but what comes into a response must be JSON.
   */
  readonly #canonical = (text: string): string | null => {
    try {
      const bytes = Buffer.from(text, "latin1");
      const isNested = text.startsWith("{") || text.startsWith("[");
      if (isNested) this.#meter.add(text.length * NESTED_BYTE_WORK + this.#objects.of(bytes, 0, bytes.length));
      const value: unknown = JSON.parse(bytes.toString("utf8"));
      return Buffer.from(JSON.stringify(value), "utf8").toString("latin1");
    } catch {
      return null;
    }
  };

  /** Finds a group for each combination of the items of all keys. */
  #findGroupsOfLists(): AddedLine {
    const { plan, groups } = this.#aggregator;
    let combinations: number[][] = [[]];
    const values = this.#measures.reduce((sum, { found }) => sum + found.count, 1);
    const groupsAtMost = Math.min(MAX_GROUPS_OF_ENTRY, Math.max(1, Math.floor(MAX_VALUES_OF_ENTRY / values)));
    for (const [key, spec] of plan.keys.entries()) {
      const found = "binMs" in spec ? undefined : this.#fields.found[spec.field];
      const ids = found && found.count > 1 ? this.#idsOf(key, found) : [this.#ids[key] ?? NULL_ID];
      if (ids === null) return "damaged";
      const most = Math.floor(groupsAtMost / combinations.length);
      if (ids.length > most) this.#aggregator.leavesItemsOut = true;
      const taken = ids.slice(0, Math.max(1, most));
      combinations = combinations.flatMap((before) => taken.map((id) => [...before, id]));
    }
    for (const ids of combinations) {
      this.#meter.add(KEY_WORK * ids.length);
      const group = groups.groupOf(ids);
      if (group < 0) return "full";
      this.#groups.push(group);
    }
    return "added";
  }

  /** Returns the numbers of a key's different items, one more than an entry may have groups; `null`: damaged. */
  #idsOf(key: number, found: FoundField): number[] | null {
    const ids: number[] = [];
    for (let at = 0; at < found.count && ids.length <= MAX_GROUPS_OF_ENTRY; at++) {
      this.#meter.add(KEY_WORK);
      const id = this.#idOf(key, found, at);
      if (id < 0) return null;
      if (!ids.includes(id)) ids.push(id);
    }
    return ids;
  }
}

/** Whether a value is a time or a level, which have a number besides their text. */
function isOrdinal(found: FoundField, at: number): boolean {
  return found.hasNumber && found.kinds[at] === TYPE_BITS.string;
}

function takenBy({ kind }: Measure): "numbers" | "texts" | "whole" {
  switch (kind) {
    case "sum":
    case "extremes":
    case "percentiles":
      return "numbers";
    case "distinct":
    case "values":
      return "texts";
    default:
      return "whole";
  }
}

function same(text: string): string {
  return text;
}
