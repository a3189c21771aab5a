import { ByGroup, HeldBytes } from "./by-group.ts";
import { Distinct, type DistinctState, hashOf, type ValueHash } from "./distinct.ts";
import { ExactSums, type SumState } from "./exact-sum.ts";
import { type EdgeState, Edges, type EntryPosition, type ExtremeState, Extremes } from "./extremes.ts";
import { Groups } from "./groups.ts";
import { type PercentileState, Percentiles } from "./percentiles.ts";
import type { AggregatePlan, MeasureKind } from "./plan.ts";
import { ValueTotal } from "./totals.ts";
import { type Copy, Values, type ValuesState } from "./values.ts";

/** The type of a value, a bit each. `array`: the values are, or include, the items of an array. */
export const TYPE_BITS = { null: 1, boolean: 2, number: 4, string: 8, nested: 16, array: 32 } as const;

/** The state of one measure. */
export type Measure =
  | { kind: "present"; state: ByGroup }
  | { kind: "sum"; state: ExactSums }
  | { kind: "extremes"; state: Extremes }
  | { kind: "percentiles"; state: Percentiles }
  | { kind: "distinct"; state: Distinct }
  | { kind: "first" | "last"; state: Edges }
  | { kind: "values"; state: Values };

type MeasureState =
  | { kind: "present"; state: Float64Array }
  | { kind: "sum"; state: SumState }
  | { kind: "extremes"; state: ExtremeState }
  | { kind: "percentiles"; state: PercentileState }
  | { kind: "distinct"; state: DistinctState }
  | { kind: "first" | "last"; state: EdgeState }
  | { kind: "values"; state: ValuesState };

/** A partial result that can be cloned and merged: the state after some of the entries. */
export interface PartialTable {
  version: 1;
  /** JSON texts of the values of each key, and their numbers by group. */
  texts: readonly (readonly string[])[];
  ids: Int32Array;
  /** Entries by group. */
  entries: Float64Array;
  measures: readonly MeasureState[];
  /** Types of the values of each field; see `TYPE_BITS`. */
  types: readonly number[];
  /** Whether too many values for exact results were added. */
  exceeded: boolean;
  leavesItemsOut: boolean;
}

/** Work units of merging one group. */
const GROUP_WORK = 400;
const MERGED_AT_ONCE = 256;

/**
 * Adds up entries by group. Exact within `EXACT_LIMITS`, whatever the order of the entries and however they are split
 * among several aggregators that are merged.
 */
export class Aggregator {
  readonly plan: AggregatePlan;
  readonly groups: Groups;
  readonly total = new ValueTotal();
  readonly held = new HeldBytes();
  /** Entries by group. */
  readonly entries: ByGroup;
  readonly measures: readonly Measure[];
  /** Types of the values of each field so far. */
  readonly types: number[];
  /** Whether entries with arrays were left out of some of their groups; see `MAX_GROUPS_OF_ENTRY`. */
  leavesItemsOut = false;

  /** @param random returns 32 random bits */
  constructor(plan: AggregatePlan, random: () => number = randomBits) {
    this.plan = plan;
    this.groups = new Groups(plan.keys.length, this.held, random, plan.maxValues);
    this.entries = new ByGroup(this.held);
    this.measures = plan.measures.map(({ kind }) => newMeasure(kind, this, random));
    this.types = plan.fields.map(() => 0);
  }

  /** Adds a number to every measure of a field that takes numbers. */
  addNumber(measure: Measure, group: number, value: number): void {
    switch (measure.kind) {
      case "sum":
      case "extremes":
      case "percentiles":
        // A negative zero is a zero.
        measure.state.add(group, value + 0);
    }
  }

  /** Adds a value other than null by its JSON text. */
  addText(measure: Measure, group: number, text: string, copy: Copy): void {
    if (measure.kind === "distinct") measure.state.add(group, hashOf(text));
    else if (measure.kind === "values") measure.state.add(group, text, copy);
  }

  /** Records that an entry has a field, with all that it has there. */
  addWhole(measure: Measure, group: number, position: EntryPosition, text: () => string | null): void {
    if (measure.kind === "present") measure.state.add(group, 1);
    else if (measure.kind === "first" || measure.kind === "last") {
      const json = measure.state.accepts(group, position) ? text() : null;
      if (json !== null) measure.state.set(group, position, json);
    }
  }

  /**
   * Counts entries of a column of groups.
   * @param groups by entry; an entry with a negative group is left out
   */
  addEntries(groups: Int32Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? -1;
      if (group >= 0) this.entries.add(group, 1);
    }
  }

  /**
   * Adds a column of numbers to a measure that takes them.
   * @param groups by entry; an entry with a negative group is left out
   * @param values by entry; NaN for an entry without a number
   */
  addNumbers(measure: Measure, groups: Int32Array, values: Float64Array, from: number, to: number): void {
    if (measure.kind === "percentiles") {
      measure.state.addColumn(groups, values, from, to);
      return;
    }
    if (measure.kind !== "sum" && measure.kind !== "extremes") return;
    const { state } = measure;
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? -1;
      const value = values[at] ?? Number.NaN;
      if (group >= 0 && !Number.isNaN(value)) state.add(group, value + 0);
    }
  }

  /**
   * Adds a column of numbers of a dictionary of JSON texts to a measure of different values.
   * @param groups by entry; an entry with a negative group is left out
   * @param indexes in the dictionary by entry; negative for an entry without a value
   */
  addTexts(
    measure: Measure,
    groups: Int32Array,
    dictionary: readonly string[],
    indexes: Int32Array,
    from: number,
    to: number,
  ): void {
    if (measure.kind !== "distinct" && measure.kind !== "values") return;
    const hashes: (ValueHash | undefined)[] = [];
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? -1;
      const index = indexes[at] ?? -1;
      const text = dictionary[index];
      if (group < 0 || text === undefined) continue;
      if (measure.kind === "values") measure.state.add(group, text, (same) => same);
      else {
        let hash = hashes[index];
        if (hash === undefined) {
          const { a, b } = hashOf(text);
          hash = { a, b };
          hashes[index] = hash;
        }
        measure.state.add(group, hash);
      }
    }
  }

  /** Returns the state, for another aggregator of the same plan. */
  partial(): PartialTable {
    const { groups, plan } = this;
    const { count } = groups;
    const ids = new Int32Array(count * plan.keys.length);
    for (let group = 0; group < count; group++) {
      for (let key = 0; key < plan.keys.length; key++) ids[group * plan.keys.length + key] = groups.idAt(group, key);
    }
    return {
      version: 1,
      texts: groups.keys.map(({ texts }) => [...texts]),
      ids,
      entries: this.entries.copy(count),
      measures: this.measures.map((measure) => stateOf(measure, count)),
      types: [...this.types],
      exceeded: this.total.isExceeded,
      leavesItemsOut: this.leavesItemsOut,
    };
  }

  /**
   * Adds the state of another aggregator of the same plan. Yields work units between two pieces of work.
   * @returns whether all its groups fit; if not, entries are missing
   */
  *merge(partial: PartialTable): Generator<number, boolean> {
    const own = yield* this.#ownGroups(partial);
    if (own === null) return false;
    if (partial.exceeded) this.total.exceed();
    if (partial.leavesItemsOut) this.leavesItemsOut = true;
    for (const [field, bits] of partial.types.entries()) this.types[field] = (this.types[field] ?? 0) | bits;
    for (const [other, group] of own.entries()) this.entries.add(group, partial.entries[other] ?? 0);
    for (const [index, measure] of this.measures.entries()) {
      const state = partial.measures[index];
      if (state) yield* mergeInto(measure, state, own);
    }
    return true;
  }

  /** Frees the values that were listed. Nothing may be added or read afterwards. */
  release(): void {
    for (const measure of this.measures) if (measure.kind === "percentiles") measure.state.release();
  }

  *#ownGroups({ texts, ids, entries }: PartialTable): Generator<number, Int32Array | null> {
    const keys = this.plan.keys.length;
    const own = new Int32Array(entries.length);
    const values = new Array<number>(keys).fill(0);
    for (let other = 0; other < own.length; other++) {
      for (let key = 0; key < keys; key++) {
        const text = texts[key]?.[ids[other * keys + key] ?? 0] ?? "null";
        values[key] = this.groups.keys[key]?.idOf(text, (same) => same) ?? 0;
      }
      const group = this.groups.groupOf(values);
      if (group < 0) return null;
      own[other] = group;
      if (other % MERGED_AT_ONCE === 0) yield MERGED_AT_ONCE * GROUP_WORK;
    }
    return own;
  }
}

function newMeasure(kind: MeasureKind, { plan, held, total }: Aggregator, random: () => number): Measure {
  switch (kind) {
    case "present":
      return { kind, state: new ByGroup(held) };
    case "sum":
      return { kind, state: new ExactSums(held) };
    case "extremes":
      return { kind, state: new Extremes(held) };
    case "percentiles":
      return { kind, state: new Percentiles(held, total) };
    case "distinct":
      return { kind, state: new Distinct(held, total, random) };
    case "first":
    case "last":
      return { kind, state: new Edges(held, kind === "first" ? 1 : -1, plan.edgeCharacters) };
    case "values":
      return { kind, state: new Values(held) };
  }
}

function stateOf(measure: Measure, count: number): MeasureState {
  switch (measure.kind) {
    case "present":
      return { kind: measure.kind, state: measure.state.copy(count) };
    case "sum":
      return { kind: measure.kind, state: measure.state.state(count) };
    case "extremes":
      return { kind: measure.kind, state: measure.state.state(count) };
    case "percentiles":
      return { kind: measure.kind, state: measure.state.state(count) };
    case "distinct":
      return { kind: measure.kind, state: measure.state.state(count) };
    case "first":
    case "last":
      return { kind: measure.kind, state: measure.state.state() };
    case "values":
      return { kind: measure.kind, state: measure.state.state() };
  }
}

function* mergeInto(measure: Measure, other: MeasureState, own: Int32Array): Generator<number> {
  if (measure.kind === "present" && other.kind === "present") {
    for (const [index, group] of own.entries()) measure.state.add(group, other.state[index] ?? 0);
  } else if (measure.kind === "sum" && other.kind === "sum") measure.state.merge(other.state, own);
  else if (measure.kind === "extremes" && other.kind === "extremes") measure.state.merge(other.state, own);
  else if (measure.kind === "percentiles" && other.kind === "percentiles") yield* measure.state.merge(other.state, own);
  else if (measure.kind === "distinct" && other.kind === "distinct") yield* measure.state.merge(other.state, own);
  else if ((measure.kind === "first" || measure.kind === "last") && other.kind === measure.kind) {
    measure.state.merge(other.state, own);
  } else if (measure.kind === "values" && other.kind === "values") measure.state.merge(other.state, own);
  else throw new TypeError("The partial table belongs to another plan.");
  yield own.length * GROUP_WORK;
}

function randomBits(): number {
  return crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
}
