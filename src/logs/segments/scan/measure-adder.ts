import { type Aggregator, type Measure, TYPE_BITS } from "../../aggregate/aggregator.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { type ByteDictionary, SeenStrings } from "./byte-dictionary.ts";
import { type FieldCodes, MISSING } from "./field-codes.ts";
import { LEFT } from "./group-finder.ts";
import { numbersByRow } from "./row-values.ts";
import { idOfCode, type ValueIds } from "./value-ids.ts";

/** Where the entries of rows are in time, by position. `null`: not needed. */
export interface Positions {
  times: Float64Array | null;
  seqs: Float64Array | null;
  projectId: string;
}

/** Rows that are added at once. */
const ROWS_AT_ONCE = 4096;
/** Work units of adding a value to a measure. */
const VALUE_WORK = 60;

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
        if (ids === null) return (from, to) => this.#addTexts(field, groups, texts, from, to);
        return (from, to) => this.#addNew(field, ids, groups, from, to);
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
  #addNew(field: FieldCodes, ids: ByteDictionary, groups: Int32Array, from: number, to: number): void {
    const { codes, values } = field;
    if (values === null) return;
    const seen = this.#seen[values.type];
    this.#meter.add((to - from) * WORK.columnValue);
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? LEFT;
      const code = codes === null ? 0 : (codes[at] ?? MISSING);
      if (group < 0 || code < 0) continue;
      const id = idOfCode(ids, values, code);
      if (id >= 0 && seen.has(group, id)) continue;
      const text = field.textOf(code);
      this.#meter.add(WORK.columnText + text.length * WORK.textByte);
      this.#aggregator.addText(this.#measure, group, text, same);
    }
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
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? LEFT;
      const code = field.codes === null ? 0 : (field.codes[at] ?? MISSING);
      if (group < 0 || code < 0) continue;
      position.timestamp = times?.[at] ?? 0;
      position.seq = seqs?.[at] ?? 0;
      this.#aggregator.addWhole(this.#measure, group, position, () => field.textOf(code));
    }
  }
}

function same(text: string): string {
  return text;
}
