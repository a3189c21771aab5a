import type { Entry } from "../logs/entry.ts";
import { WORK, type WorkMeter } from "../logs/query/budget.ts";
import { foldCase } from "../logs/query/fold-case.ts";
import { compileFilter } from "../logs/search/compile-filter.ts";
import { addPathWork, beginPathWork, someItem, someText, takePathWork } from "../logs/search/data-values.ts";
import { type EntrySteps, entryStepsOf } from "../logs/search/entry-steps.ts";
import { type EntryPlace, type EntryTest, entryTestOf, readerOf } from "../logs/search/entry-test.ts";
import { restFilterOf } from "../logs/search/rest-filter.ts";
import { TEXT_BYTE_WORK } from "../logs/search/text-tests.ts";
import type { Field, Filter, ValueTest } from "../query-language/syntax.ts";
import type { Counted } from "./matcher.ts";
import { takenOf } from "./measure.ts";
import { ALERT_LIMITS } from "./rule.ts";

/** Reads something of an entry. The caller must not change it. */
type Read<Value> = (entry: Entry, place: EntryPlace) => Value;

/** A rule, prepared for entries that pass its filter. */
export interface CompiledRule {
  counted: Counted;
  /** Returns the groups of an entry: one for each combination of values, as `Group.key`. */
  keys: Read<readonly string[]>;
  /** Reads what the rule measures; `null`: it counts entries. */
  values: Read<readonly number[]> | null;
}

/** A filter and the rules that have it. */
export interface CompiledFilter {
  rules: CompiledRule[];
  /** Mask of the levels of which an entry may pass. */
  levelMask: number;
  test: EntryTest;
  /** In place of `test` if that may take long. */
  steps: EntrySteps | null;
  /** A text, folded, that an entry must contain to pass; `null`: there is none. */
  needle: string | null;
  /** Work units of a test. */
  work: number;
}

/** Work units of looking a value up. */
const VALUE_WORK = 100;

/** Filters that need one of some values of a field, by the value. */
interface FieldIndex {
  read: ReturnType<typeof readerOf>;
  byValue: Map<string, CompiledFilter[]>;
}

/**
 * The filters of all rules, compiled once. Rules with the same filter share one test. A filter that needs a value of a
 * field is tested only for entries with the value, so a hundred rules for a hundred services cost one look-up. Texts of an entry
 * are folded once for all filters that search in them.
 */
export class CompiledRules {
  /** Levels of entries that a rule may count. */
  readonly levelMask: number;
  readonly #indexes = new Map<string, FieldIndex>();
  /** Filters without such a value. */
  readonly #others: CompiledFilter[] = [];

  constructor(rules: readonly Counted[]) {
    const filters = new Map<string, CompiledFilter>();
    const reads = new SharedReads();
    for (const counted of rules) {
      const text = JSON.stringify(counted.filter);
      let filter = filters.get(text);
      if (filter === undefined) {
        filter = compiled(counted.filter);
        filters.set(text, filter);
        this.#add(counted.filter, filter);
      }
      const { by, measure } = counted;
      const values = measure === null ? null : reads.valuesOf(measure);
      filter.rules.push({ counted, keys: reads.keysOf(by), values });
    }
    this.levelMask = [...filters.values()].reduce((mask, { levelMask }) => mask | levelMask, 0);
  }

  /** Returns the filters that an entry may pass. Yields when a pause is due: a list may have thousands of values. */
  *candidates(entry: Entry, place: EntryPlace, meter: WorkMeter): Generator<void, readonly CompiledFilter[]> {
    const found: CompiledFilter[] = [];
    const seen = new Set<CompiledFilter>();
    let texts: string | null = null;
    const add = (filter: CompiledFilter) => {
      if (filter.needle !== null) {
        texts ??= foldedTexts(entry);
        addPathWork(texts.length * WORK.comparedCharacter);
      }
      if (filter.needle === null || texts?.includes(filter.needle)) found.push(filter);
    };
    for (const filter of this.#others) {
      beginPathWork();
      add(filter);
      meter.add(takePathWork());
      if (meter.isDue) yield;
    }
    for (const { read, byValue } of this.#indexes.values()) {
      const visit = (value: unknown) => {
        if (!isScalar(value)) return false;
        const text = String(value);
        addPathWork(VALUE_WORK + text.length * TEXT_BYTE_WORK);
        for (const filter of byValue.get(foldCase(text)) ?? []) {
          if (!seen.has(filter)) add(filter);
          seen.add(filter);
        }
        return false;
      };
      beginPathWork();
      read(entry, place, (value) => visit(value) || (Array.isArray(value) && someItem(value, visit)));
      meter.add(takePathWork());
      if (meter.isDue) yield;
    }
    return found;
  }

  #add(filter: Filter, into: CompiledFilter): void {
    const needed = neededValue(filter);
    if (needed === null) {
      this.#others.push(into);
      return;
    }
    const name = JSON.stringify(needed.field);
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = { read: readerOf(needed.field), byValue: new Map() };
      this.#indexes.set(name, index);
    }
    for (const value of needed.values) {
      const filters = index.byValue.get(value);
      if (filters) filters.push(into);
      else index.byValue.set(value, [into]);
    }
  }
}

/** What several rules read of an entry is read once. */
class SharedReads {
  readonly #keys = new Map<string, Read<readonly string[]>>();
  readonly #groups = new Map<string, Read<readonly unknown[]>>();
  readonly #values = new Map<string, Read<readonly number[]>>();

  keysOf(fields: readonly Field[]): Read<readonly string[]> {
    return shared(this.#keys, fields, () => {
      const groups = fields.map((field) => shared(this.#groups, field, () => groupingValuesOf(field)));
      return groupKeysOf(groups);
    });
  }

  valuesOf(measure: NonNullable<Counted["measure"]>): Read<readonly number[]> {
    return shared(this.#values, measure, () => measuredValuesOf(measure));
  }
}

/** Returns what reads something of an entry, the same for all that ask for it: it keeps what the last entry has. */
function shared<Value>(known: Map<string, Read<Value>>, of: unknown, make: () => Read<Value>): Read<Value> {
  const name = JSON.stringify(of);
  const existing = known.get(name);
  if (existing) return existing;
  const read = make();
  let last: { entry: Entry; value: Value } | null = null;
  const once: Read<Value> = (entry, place) => {
    if (last?.entry !== entry) last = { entry, value: read(entry, place) };
    return last.value;
  };
  known.set(name, once);
  return once;
}

const UNGROUPED = ["[]"] as const;

function groupKeysOf([first, second]: readonly Read<readonly unknown[]>[]): Read<readonly string[]> {
  if (first === undefined) return () => UNGROUPED;
  if (second === undefined) return (entry, place) => first(entry, place).map((value) => JSON.stringify([value]));
  return (entry, place) => {
    const seconds = second(entry, place);
    return first(entry, place).flatMap((a) => seconds.map((b) => JSON.stringify([a, b])));
  };
}

function compiled(filter: Filter): CompiledFilter {
  const rest = restFilterOf(filter, 0);
  return {
    rules: [],
    levelMask: compileFilter(filter, 0).levelMask,
    test: entryTestOf(filter, 0),
    steps: rest.steps === null ? null : entryStepsOf(filter, 0),
    needle: neededText(filter),
    work: rest.lineWork,
  };
}

/** Returns a field and values of which an entry must have one to pass; `null`: there is none. */
function neededValue(filter: Filter): { field: Field; values: Set<string> } | null {
  if (filter.kind === "and") {
    for (const part of filter.filters) {
      const needed = neededValue(part);
      if (needed !== null) return needed;
    }
    return null;
  }
  if (filter.kind !== "field") return null;
  // Levels are tested by their mask.
  if (filter.field.kind === "own" && filter.field.name === "level") return null;
  const values = wantedValues(filter.test);
  return values === null ? null : { field: filter.field, values: new Set(values) };
}

/** Returns a text that an entry must contain to pass a filter, folded; `null`: there is none. */
function neededText(filter: Filter): string | null {
  if (filter.kind === "and") {
    for (const part of filter.filters) {
      const needed = neededText(part);
      if (needed !== null) return needed;
    }
    return null;
  }
  return filter.kind === "text" && filter.test.kind === "contains" ? foldCase(filter.test.text) : null;
}

/** Returns all texts in which a text of the query language is searched for. */
function foldedTexts({ message, service, host, data }: Entry): string {
  const texts: string[] = [];
  for (const value of [message, service, host, data]) {
    someText(value, (text) => {
      texts.push(text);
      return false;
    });
  }
  const joined = texts.join("\n");
  addPathWork(texts.length * VALUE_WORK + joined.length * TEXT_BYTE_WORK);
  return foldCase(joined);
}

function wantedValues(test: ValueTest): string[] | null {
  if (test.kind === "is" || test.kind === "exact") return [foldCase(test.text)];
  if (test.kind !== "anyOf") return null;
  const all = test.tests.map(wantedValues);
  return all.includes(null) ? null : all.flatMap((values) => values ?? []);
}

/** Returns what reads the values of a field that a rule measures. */
function measuredValuesOf({ fn, field }: NonNullable<Counted["measure"]>) {
  const read = readerOf(field);
  return (entry: Entry, place: EntryPlace): number[] => {
    const values: number[] = [];
    read(entry, place, (value) => {
      for (const each of Array.isArray(value) ? value : [value]) {
        const taken = takenOf(fn, each);
        if (taken !== null) values.push(taken);
        if (values.length === ALERT_LIMITS.entryValues) return true;
      }
      return false;
    });
    return values;
  };
}

/** Returns what reads the different values of a field, as JSON texts. */
function groupingValuesOf(field: Field): Read<unknown[]> {
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
  return isScalar(value) ? value : undefined;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
