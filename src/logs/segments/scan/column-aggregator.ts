import { type Aggregator, type Measure, TYPE_BITS } from "../../aggregate/aggregator.ts";
import { NULL_ID } from "../../aggregate/groups.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { LEADING_COLUMNS } from "../columns.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { type FieldCodes, IN_LINE, MISSING } from "./field-codes.ts";
import { type FieldPlan, planField, resolvedPaths } from "./field-columns.ts";
import { binCodes, binOfAll, combined, type KeyCodes, TIME_COLUMN } from "./key-codes.ts";
import { type ColumnSource, OpenGroup } from "./open-group.ts";
import { numbersByRow, numbersOf } from "./row-values.ts";
import { ShapeCache } from "./shapes.ts";

/** The result of adding rows. */
export interface AddedRows {
  /** Rows that were added. */
  added: number;
  /** Rows that must be added from their lines, in rising order. */
  left: Int32Array;
  /** Whether there would be too many groups; further rows were not added. */
  isFull: boolean;
}

/** How the rows of one row group are added. */
interface GroupPlan {
  fields: readonly FieldPlan[];
  columns: readonly number[];
  needsShapes: boolean;
  needsTimes: boolean;
  needsSeqs: boolean;
}

const SEQ_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "seq");
/** Group of a row that is left to its line. */
const LEFT = -1;
/** Rows that are added to a measure at once. */
const ROWS_AT_ONCE = 4096;

/**
 * Adds rows of segment files to an aggregator from their columns, to the same result as their lines give. Rows with an
 * array, an object or a value in `rest` at a field that is needed are left to their lines.
 */
export class ColumnAggregator {
  readonly #aggregator: Aggregator;
  readonly #meter: WorkMeter;
  readonly #shapes: ShapeCache;
  /** By field, the index of its first path in the cache of shapes. */
  readonly #firstPaths: readonly number[];
  readonly #plans = new WeakMap<SegmentReader, (GroupPlan | undefined)[]>();

  constructor(aggregator: Aggregator, meter: WorkMeter) {
    this.#aggregator = aggregator;
    this.#meter = meter;
    const { fields } = aggregator.plan;
    this.#shapes = new ShapeCache(fields.flatMap(({ paths }) => paths));
    this.#firstPaths = fields.map((_, field) =>
      fields.slice(0, field).reduce((sum, { paths }) => sum + paths.length, 0),
    );
  }

  /** Returns the columns of a row group whose bytes `add` needs. */
  columnsOf(reader: SegmentReader, group: number): readonly number[] {
    return this.#planOf(reader, group).columns;
  }

  /**
   * Adds rows, in steps of some milliseconds.
   * @param rows in rising order
   * @param chunk gives the bytes of `columnsOf`
   * @throws MalformedFile
   */
  *add(reader: SegmentReader, group: number, rows: Int32Array, chunk: ColumnSource): Generator<void, AddedRows> {
    if (rows.length === 0) return { added: 0, left: rows, isFull: false };
    const meter = this.#meter;
    const plan = this.#planOf(reader, group);
    const opened = new OpenGroup(reader, group, chunk, this.#shapes, meter);
    const shapes = plan.needsShapes ? yield* opened.shapes(rows) : null;
    const fields: FieldCodes[] = [];
    for (const [index, own] of plan.fields.entries()) {
      const field = this.#aggregator.plan.fields[index];
      if (field === undefined) continue;
      const isResolved = shapes !== null && own.needsShapes;
      const resolved = isResolved ? resolvedPaths(shapes, field, this.#firstPaths[index] ?? 0, rows) : null;
      fields.push(own.read(opened, rows, resolved));
      meter.add(rows.length * WORK.columnRow);
      if (meter.isDue) yield;
    }
    const times = plan.needsTimes ? numbersOf(opened.numbers(TIME_COLUMN, rows), rows) : null;
    const seqs = plan.needsSeqs ? numbersOf(opened.numbers(SEQ_COLUMN, rows), rows) : null;
    const groups = new Int32Array(rows.length);
    const left = this.#leave(fields, rows, groups);
    const isFull = !(yield* this.#findGroups(reader, group, fields, times, groups));
    const added = yield* this.#addRows(fields, groups, { times, seqs, projectId: reader.properties.projectId });
    return { added, left, isFull };
  }

  #planOf(reader: SegmentReader, group: number): GroupPlan {
    let plans = this.#plans.get(reader);
    if (plans === undefined) {
      plans = [];
      this.#plans.set(reader, plans);
    }
    plans[group] ??= this.#makePlan(reader, group);
    return plans[group];
  }

  #makePlan(reader: SegmentReader, group: number): GroupPlan {
    const { plan } = this.#aggregator;
    const fields = plan.fields.map((field) => planField(reader, group, field));
    const needsShapes = fields.some((field) => field.needsShapes);
    const needsSeqs = plan.measures.some(({ kind }) => kind === "first" || kind === "last");
    const needsTimes =
      needsSeqs || plan.keys.some((key) => "binMs" in key && binOfAll(reader, group, key.binMs) === null);
    const columns = new Set(fields.flatMap((field) => field.columns));
    if (needsShapes) columns.add(reader.shapeColumn);
    if (needsTimes) columns.add(TIME_COLUMN);
    if (needsSeqs) columns.add(SEQ_COLUMN);
    return { fields, columns: [...columns].sort((a, b) => a - b), needsShapes, needsTimes, needsSeqs };
  }

  /** Marks rows of which only the line has a value, and returns them. @param groups by position, receives `LEFT` */
  #leave(fields: readonly FieldCodes[], rows: Int32Array, groups: Int32Array): Int32Array {
    const left = new Int32Array(rows.length);
    let count = 0;
    for (const { codes } of fields) {
      if (codes === null) continue;
      for (let at = 0; at < codes.length; at++) if (codes[at] === IN_LINE) groups[at] = LEFT;
    }
    for (let at = 0; at < groups.length; at++) if (groups[at] === LEFT) left[count++] = rows[at] ?? 0;
    return left.slice(0, count);
  }

  /** Finds the group of each row. @returns whether all have one */
  *#findGroups(
    reader: SegmentReader,
    group: number,
    fields: readonly FieldCodes[],
    times: Float64Array | null,
    groups: Int32Array,
  ): Generator<void, boolean> {
    const { plan } = this.#aggregator;
    const keys = plan.keys.map((key): KeyCodes => {
      if (!("binMs" in key)) return fields[key.field] ?? { codes: null, count: 0, textOf: () => "null" };
      const start = binOfAll(reader, group, key.binMs);
      if (start !== null) return { codes: null, count: 1, textOf: () => String(start) };
      return binCodes(times ?? new Float64Array(), key.binMs);
    });
    const ids = keys.map((key, index) => new KeyIds(this.#aggregator, index, key));
    const own = new Int32Array(keys.length);
    const groupAt = (at: number): number => {
      for (let key = 0; key < ids.length; key++) own[key] = ids[key]?.at(at) ?? NULL_ID;
      this.#meter.add(GROUP_WORK);
      return this.#aggregator.groups.groupOf(own);
    };
    this.#meter.add(groups.length * (keys.length + 1) * WORK.columnRow);
    const combinations = combined(keys, groups.length);
    const known = new Int32Array(combinations?.count ?? 0).fill(-1);
    for (let at = 0; at < groups.length; at++) {
      if (groups[at] === LEFT) continue;
      const combination = combinations?.of[at] ?? -1;
      let found = known[combination] ?? -1;
      if (found < 0) {
        found = groupAt(at);
        if (found < 0) {
          groups.fill(LEFT, at);
          return false;
        }
        if (combination >= 0) known[combination] = found;
      }
      groups[at] = found;
      if (this.#meter.isDue) yield;
    }
    return true;
  }

  /** @returns how many rows have a group */
  *#addRows(fields: readonly FieldCodes[], groups: Int32Array, positions: Positions): Generator<void, number> {
    const { types, plan, measures } = this.#aggregator;
    let added = 0;
    for (let at = 0; at < groups.length; at++) if ((groups[at] ?? LEFT) >= 0) added++;
    this.#aggregator.addEntries(groups, 0, groups.length);
    for (const [index, field] of fields.entries()) types[index] = (types[index] ?? 0) | field.typesOf(groups);
    for (const [index, measure] of measures.entries()) {
      const field = fields[plan.measures[index]?.field ?? -1];
      if (field === undefined) continue;
      const add = this.#adderOf(measure, field, groups, positions);
      for (let from = 0; from < groups.length; from += ROWS_AT_ONCE) {
        const to = Math.min(groups.length, from + ROWS_AT_ONCE);
        this.#meter.add((to - from) * VALUE_WORK);
        add(from, to);
        if (this.#meter.isDue) yield;
      }
    }
    return added;
  }

  /** Returns a function that adds the values of some rows to a measure. */
  #adderOf(
    measure: Measure,
    field: FieldCodes,
    groups: Int32Array,
    positions: Positions,
  ): (from: number, to: number) => void {
    switch (measure.kind) {
      case "sum":
      case "extremes":
      case "percentiles": {
        if (field.numbers === null) return () => undefined;
        const numbers = numbersByRow(field, field.numbers, groups.length);
        return (from, to) => this.#aggregator.addNumbers(measure, groups, numbers, from, to);
      }
      case "distinct":
      case "values": {
        const texts: string[] = [];
        const codes = field.codes ?? new Int32Array(groups.length);
        return (from, to) => {
          this.#makeTexts(texts, field, groups, from, to);
          this.#aggregator.addTexts(measure, groups, texts, codes, from, to);
        };
      }
      default:
        return (from, to) => this.#addWhole(measure, field, groups, positions, from, to);
    }
  }

  /** Makes the JSON texts of the values of some rows. @param texts by code */
  #makeTexts(texts: string[], field: FieldCodes, groups: Int32Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const code = field.codes === null ? 0 : (field.codes[at] ?? MISSING);
      if (code < 0 || texts[code] !== undefined || (groups[at] ?? LEFT) < 0) continue;
      if (field.kindOf(code) === TYPE_BITS.null) continue;
      const text = field.textOf(code);
      this.#meter.add(WORK.columnText + text.length * WORK.textByte);
      texts[code] = text;
    }
  }

  #addWhole(
    measure: Measure,
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
      this.#aggregator.addWhole(measure, group, position, () => field.textOf(code));
    }
  }
}

interface Positions {
  times: Float64Array | null;
  seqs: Float64Array | null;
  projectId: string;
}

/** Work units of finding a group, and of adding a value to a measure. */
const GROUP_WORK = 300;
const VALUE_WORK = 60;

/** Numbers of a key's values in the aggregator, found when they are needed. */
class KeyIds {
  readonly #aggregator: Aggregator;
  readonly #index: number;
  readonly #key: KeyCodes;
  readonly #ids: Int32Array;

  constructor(aggregator: Aggregator, index: number, key: KeyCodes) {
    this.#aggregator = aggregator;
    this.#index = index;
    this.#key = key;
    this.#ids = new Int32Array(key.count).fill(-1);
  }

  at(position: number): number {
    const { codes } = this.#key;
    const code = codes === null ? 0 : (codes[position] ?? MISSING);
    if (code < 0 || code >= this.#ids.length) return NULL_ID;
    let id = this.#ids[code] ?? -1;
    if (id < 0) {
      id = this.#aggregator.groups.keys[this.#index]?.idOf(this.#key.textOf(code), (same) => same) ?? NULL_ID;
      this.#ids[code] = id;
    }
    return id;
  }
}
