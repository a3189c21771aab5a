import { type Aggregator, type Measure, TYPE_BITS } from "../../aggregate/aggregator.ts";
import { type Distinct, hashOf } from "../../aggregate/distinct.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { type FieldCodes, MISSING } from "./field-codes.ts";
import { LEFT } from "./group-finder.ts";
import { numbersByRow } from "./row-values.ts";
import { CodeIds, SeenStrings, type ValueIds } from "./value-ids.ts";

/** Where the entries of rows are in time, by position. `null`: not needed. */
export interface Positions {
  times: Float64Array | null;
  seqs: Float64Array | null;
  projectId: string;
}

/** Rows that are added at once. */
const ROWS_AT_ONCE = 4096;
/** Work units of adding a value to a measure. */
const VALUE_WORK = 30;
/** Work units of adding a hash to the different values of a group. */
const HASH_WORK = 60;

/** Adds the values of one field in chosen rows to one measure. */
export class MeasureAdder {
  readonly #aggregator: Aggregator;
  readonly #measure: Measure;
  readonly #meter: WorkMeter;
  readonly #values: ValueIds;
  /** Values that groups have had, by type. Further ones change no number of different values. */
  readonly #seen: { string: SeenStrings; number: SeenStrings };

  constructor(aggregator: Aggregator, measure: Measure, meter: WorkMeter, values: ValueIds) {
    this.#aggregator = aggregator;
    this.#measure = measure;
    this.#meter = meter;
    this.#values = values;
    this.#seen = { string: new SeenStrings(values.memory), number: new SeenStrings(values.memory) };
  }

  /** @param groups by position; rows with a negative one are left out */
  *add(field: FieldCodes, groups: Int32Array, positions: Positions): Generator<void> {
    const add = this.#adderOf(field, groups, positions);
    for (let from = 0; from < groups.length; from += ROWS_AT_ONCE) {
      const to = Math.min(groups.length, from + ROWS_AT_ONCE);
      this.#meter.add((to - from) * VALUE_WORK);
      add(from, to);
      if (this.#meter.isDue) yield;
    }
  }

  /** Returns a function that adds the values of some rows. */
  #adderOf(field: FieldCodes, groups: Int32Array, positions: Positions): (from: number, to: number) => void {
    const measure = this.#measure;
    switch (measure.kind) {
      case "sum":
      case "extremes":
      case "percentiles": {
        if (field.numbers === null) return () => undefined;
        const numbers = numbersByRow(field, field.numbers, groups.length);
        return (from, to) => this.#aggregator.addNumbers(measure, groups, numbers, from, to);
      }
      case "distinct": {
        const ids = field.values === null ? null : this.#values.of(field.values);
        const texts: string[] = [];
        if (ids === null || field.values === null) return (from, to) => this.#addTexts(field, groups, texts, from, to);
        const coded = new CodeIds(ids, field.values, field.count, groups.length);
        return (from, to) => this.#addNew(measure.state, field, coded, groups, from, to);
      }
      case "values": {
        const texts: string[] = [];
        return (from, to) => this.#addTexts(field, groups, texts, from, to);
      }
      default:
        return (from, to) => this.#addWhole(field, groups, positions, from, to);
    }
  }

  /** Adds the values that their groups have not had. */
  #addNew(state: Distinct, field: FieldCodes, ids: CodeIds, groups: Int32Array, from: number, to: number): void {
    const { codes, values } = field;
    if (values === null) return;
    const seen = this.#seen[values.type];
    let work = (to - from) * WORK.columnValue;
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? LEFT;
      const code = codes === null ? 0 : (codes[at] ?? MISSING);
      if (group < 0 || code < 0) continue;
      const id = ids.of(code);
      if (id >= 0 && seen.has(group, id)) continue;
      let hash = id < 0 ? null : ids.dictionary.textHashOf(id);
      if (hash === null) {
        const text = field.textOf(code);
        work += WORK.columnText + text.length * WORK.textByte;
        hash = hashOf(text);
        if (id >= 0) ids.dictionary.setTextHash(id, hash);
      }
      work += HASH_WORK;
      state.add(group, hash);
    }
    this.#meter.add(work);
  }

  /** @param texts JSON texts by code, made as they are needed */
  #addTexts(field: FieldCodes, groups: Int32Array, texts: string[], from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const code = field.codes === null ? 0 : (field.codes[at] ?? MISSING);
      if (code < 0 || texts[code] !== undefined || (groups[at] ?? LEFT) < 0) continue;
      if (field.kindOf(code) === TYPE_BITS.null) continue;
      const text = field.textOf(code);
      this.#meter.add(WORK.columnText + text.length * WORK.textByte);
      texts[code] = text;
    }
    const codes = field.codes ?? new Int32Array(groups.length);
    this.#aggregator.addTexts(this.#measure, groups, texts, codes, from, to);
  }

  #addWhole(
    field: FieldCodes,
    groups: Int32Array,
    { times, seqs, projectId }: Positions,
    from: number,
    to: number,
  ): void {
    const position = { timestamp: 0, seq: 0, projectId };
    const textOf = (code: number): string => {
      const text = field.textOf(code);
      this.#meter.add(WORK.columnText + text.length * WORK.textByte);
      return text;
    };
    // Rows mostly rise in time: from the end, the first row of a group is the last entry, and no text is made for the others.
    const [start, step] = this.#measure.kind === "last" ? [to - 1, -1] : [from, 1];
    for (let at = start; at >= from && at < to; at += step) {
      const group = groups[at] ?? LEFT;
      const code = field.codes === null ? 0 : (field.codes[at] ?? MISSING);
      if (group < 0 || code < 0) continue;
      position.timestamp = times?.[at] ?? 0;
      position.seq = seqs?.[at] ?? 0;
      this.#aggregator.addWhole(this.#measure, group, position, () => textOf(code));
    }
  }
}
