import { detachBuffer } from "../../../platform/isolate-memory.ts";
import type { Aggregator } from "../../aggregate/aggregator.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { PatternTexts } from "../../search/pattern-texts.ts";
import { LEADING_COLUMNS } from "../columns.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { CacheMemory } from "./byte-dictionary.ts";
import { type FieldCodes, IN_LINE } from "./field-codes.ts";
import { type FieldPlan, planField, resolvedPaths } from "./field-columns.ts";
import { GroupFinder, LEFT } from "./group-finder.ts";
import { binCodes, binOfAll, type KeyCodes, TIME_COLUMN } from "./key-codes.ts";
import { MeasureAdder, type Positions } from "./measure-adder.ts";
import { type ColumnSource, OpenGroup } from "./open-group.ts";
import { numbersOf } from "./row-values.ts";
import { ShapeCache } from "./shapes.ts";
import { ValueIds } from "./value-ids.ts";

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

/**
 * Adds rows of segment files to an aggregator from their columns, to the same result as their lines give. Rows with an
 * array, an object or a value in `rest` at a field that is needed are left to their lines.
 */
export class ColumnAggregator {
  readonly #aggregator: Aggregator;
  readonly #meter: WorkMeter;
  readonly #shapes: ShapeCache;
  readonly #finder: GroupFinder;
  /** By measure. */
  readonly #adders: readonly MeasureAdder[];
  /** By field, the index of its first path in the cache of shapes. */
  readonly #firstPaths: readonly number[];
  readonly #patterns = new PatternTexts();
  readonly #plans = new WeakMap<SegmentReader, (GroupPlan | undefined)[]>();

  constructor(aggregator: Aggregator, meter: WorkMeter) {
    this.#aggregator = aggregator;
    this.#meter = meter;
    const { fields } = aggregator.plan;
    this.#shapes = new ShapeCache(fields.flatMap(({ paths }) => paths));
    const memory = new CacheMemory(aggregator.held);
    const values = fields.map(() => new ValueIds(memory));
    const keyValues = aggregator.plan.keys.map((key) => ("binMs" in key ? null : (values[key.field] ?? null)));
    this.#finder = new GroupFinder(aggregator, meter, keyValues);
    this.#adders = aggregator.measures.map((measure, index) => {
      const own = values[aggregator.plan.measures[index]?.field ?? -1];
      return new MeasureAdder(aggregator, measure, meter, own ?? new ValueIds(memory));
    });
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
    const left = plan.needsShapes ? leave(fields, rows, groups) : NO_ROWS;
    meter.add(rows.length * WORK.columnRow);
    const isFull = !(yield* this.#finder.find(this.#keysOf(reader, group, fields, times), groups));
    const added = yield* this.#addRows(fields, groups, { times, seqs, projectId: reader.properties.projectId });
    opened.close();
    detachBuffer(groups);
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
    const fields = plan.fields.map((field) => planField(reader, group, field, this.#patterns));
    const needsShapes = fields.some((field) => field.needsShapes);
    const needsSeqs = plan.measures.some(({ kind }) => kind === "first" || kind === "last");
    const needsTimes = needsSeqs || plan.keys.some((key) => "binMs" in key && binOfAll(reader, group, key) === null);
    const columns = new Set(fields.flatMap((field) => field.columns));
    if (needsShapes) columns.add(reader.shapeColumn);
    if (needsTimes) columns.add(TIME_COLUMN);
    if (needsSeqs) columns.add(SEQ_COLUMN);
    return { fields, columns: [...columns].sort((a, b) => a - b), needsShapes, needsTimes, needsSeqs };
  }

  #keysOf(reader: SegmentReader, group: number, fields: readonly FieldCodes[], times: Float64Array | null): KeyCodes[] {
    return this.#aggregator.plan.keys.map((key): KeyCodes => {
      if (!("binMs" in key)) return fields[key.field] ?? { codes: null, count: 0, values: null, textOf: () => "null" };
      const start = binOfAll(reader, group, key);
      if (start !== null) return { codes: null, count: 1, values: null, textOf: () => String(start) };
      return binCodes(times ?? new Float64Array(), key);
    });
  }

  /** @returns how many rows have a group */
  *#addRows(fields: readonly FieldCodes[], groups: Int32Array, positions: Positions): Generator<void, number> {
    const { types, plan } = this.#aggregator;
    let added = 0;
    for (let at = 0; at < groups.length; at++) if ((groups[at] ?? LEFT) >= 0) added++;
    this.#aggregator.addEntries(groups, 0, groups.length);
    for (const [index, field] of fields.entries()) types[index] = (types[index] ?? 0) | field.typesOf(groups);
    for (const [index, adder] of this.#adders.entries()) {
      const field = fields[plan.measures[index]?.field ?? -1];
      if (field !== undefined) yield* adder.add(field, groups, positions);
    }
    return added;
  }
}

const NO_ROWS = new Int32Array(0);

/** Marks rows of which only the line has a value, and returns them. @param groups by position, receives `LEFT` */
function leave(fields: readonly FieldCodes[], rows: Int32Array, groups: Int32Array): Int32Array {
  const left = new Int32Array(rows.length);
  let count = 0;
  for (const { codes } of fields) {
    if (codes === null) continue;
    for (let at = 0; at < codes.length; at++) if (codes[at] === IN_LINE) groups[at] = LEFT;
  }
  for (let at = 0; at < groups.length; at++) if (groups[at] === LEFT) left[count++] = rows[at] ?? 0;
  return left.slice(0, count);
}
