import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import { compareRows, type LineSource } from "../query/feed.ts";
import { rowOf } from "../query/scan.ts";
import { type Row, rowBytes } from "../query/top-rows.ts";
import { FirstRows } from "../segments/scan/first-rows.ts";
import type { CountSink, RowSink } from "../stats/count-feed.ts";
import { countInto } from "./counter.ts";
import type { EntryRows } from "./entry-rows.ts";
import { RowLines, SortKeys } from "./row-lines.ts";
import { aggregateField, type PipeOf } from "./search-plan.ts";
import { type Found, type SearchRun, snapshotOf } from "./search-query.ts";
import { compareOrdered } from "./value-table.ts";

/** Work units of comparing a line with the kept ones, of keeping it, and of each comparison of its key with another one. */
const LINE_WORK = 200;
const LINE_BYTE_WORK = 0.8;
const KEPT_WORK = 1500;
const COMPARISON_WORK = 60;
/** Rows that are put in order at once: about 2 ms. */
const ORDERED_AT_ONCE = 256;

interface KeyedRow {
  key: number | string | null;
  row: Row;
}

/** Reads all entries that pass the filter, and keeps the first ones by a field. */
export async function readSorted(search: SearchRun, sort: PipeOf<"sort">, count: number): Promise<Found<EntryRows>> {
  const { budget, memory, pacer } = search.reading;
  const mayHold = (bytes: number) => bytes <= budget.heldBytes && memory.canHoldRows(bytes);
  const sink = new SortedSink(sort, count, mayHold, pacer.meter);
  const read = await countInto(search, search.filter, sink);
  if (read === null) return { ok: false, reason: "future_snapshot" };
  const { asOf, notes } = snapshotOf(search, { commit: read.asOf, oldest: read.oldest });
  if (!read.complete)
    notes.unshift("The request reached its limit of work: older entries are not sorted. Narrow the filter.");
  if (sink.isCut)
    notes.unshift("The request reached its limit of memory: entries are missing at the end of the order.");
  const rows = sink.rowsInOrder();
  const { matched, examined: scanned } = sink;
  const complete = read.complete && !sink.isCut;
  return { ok: true, answer: { rows, matched, scanned, complete, exact: complete, asOf, notes, commit: read.asOf } };
}

/** Sorts rows in memory; those with equal values the newest first. */
export async function sortRows(
  { reading }: SearchRun,
  rows: readonly Row[],
  { by, order }: PipeOf<"sort">,
): Promise<Row[]> {
  const keys = new SortKeys(by, order === "asc" ? 1 : -1, reading.pacer.meter);
  const lines = new RowLines();
  const ordered = new OrderedRows(comparison(order), reading.pacer.meter);
  for (const row of rows) {
    lines.read(row, (match, source) => ordered.add({ row, key: keys.of(match, source) }));
    await reading.pacer.pause(KEPT_WORK + row.line.length);
  }
  return ordered.all().map(({ row }) => row);
}

function comparison(order: "asc" | "desc"): (a: KeyedRow, b: KeyedRow) => number {
  const sign = order === "asc" ? 1 : -1;
  return (a, b) => compareOrdered(a.key, b.key, sign) || compareRows("desc", a.row, b.row);
}

/** Keeps rows in order. Puts few at a time in their places, so that no step takes long. */
class OrderedRows {
  readonly #compare: (a: KeyedRow, b: KeyedRow) => number;
  readonly #meter: WorkMeter;
  #ordered: KeyedRow[] = [];
  #added: KeyedRow[] = [];
  #bytes = 0;

  constructor(compare: (a: KeyedRow, b: KeyedRow) => number, meter: WorkMeter) {
    this.#compare = compare;
    this.#meter = meter;
  }

  get length(): number {
    return this.#ordered.length + this.#added.length;
  }

  /** Bytes of the rows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns whether all rows are in order */
  add(row: KeyedRow): boolean {
    this.#added.push(row);
    this.#bytes += bytesOf(row);
    if (this.#added.length < ORDERED_AT_ONCE) return false;
    this.all();
    return true;
  }

  /** Returns the rows in order. Valid until the next change. */
  all(): readonly KeyedRow[] {
    const added = this.#added;
    if (added.length === 0) return this.#ordered;
    const comparisons = Math.ceil(Math.log2(added.length) + Math.log2(this.#ordered.length + 1));
    const characters = added.reduce((sum, { key }) => sum + (typeof key === "string" ? key.length : 1), 0);
    this.#meter.add(
      comparisons * (added.length * COMPARISON_WORK + characters * WORK.comparedCharacter) + this.#ordered.length,
    );
    added.sort(this.#compare);
    const parts: (readonly KeyedRow[])[] = [];
    let from = 0;
    for (const row of added) {
      const at = this.#placeOf(row, from);
      parts.push(this.#ordered.slice(from, at), [row]);
      from = at;
    }
    parts.push(this.#ordered.slice(from));
    this.#ordered = parts.flat();
    this.#added = [];
    return this.#ordered;
  }

  /** Leaves the first rows. @returns the last one of them if there are so many; `null` if there are fewer */
  shorten(count: number): KeyedRow | null {
    this.all();
    for (const row of this.#ordered.splice(count)) this.#bytes -= bytesOf(row);
    return this.#ordered.length < count ? null : (this.#ordered.at(-1) ?? null);
  }

  #placeOf(row: KeyedRow, from: number): number {
    let low = from;
    let high = this.#ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#ordered[middle];
      if (other !== undefined && this.#compare(other, row) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Counts all entries, and keeps the first ones by a field. */
class SortedSink implements CountSink {
  readonly takesCounts = false;
  readonly needsLevelsAlone = false;
  readonly isFull = false;
  matched = 0;
  examined = 0;
  /** Whether entries are missing at the end of the order, because their lines are too long. */
  isCut = false;
  readonly rows: RowSink;
  readonly #keys: SortKeys;
  readonly #sign: number;
  readonly #compare: (a: KeyedRow, b: KeyedRow) => number;
  readonly #mayHold: (bytes: number) => boolean;
  readonly #meter: WorkMeter;
  #count: number;
  readonly #kept: OrderedRows;
  /** The last of the first ones; `null` if there is room for more. */
  #last: KeyedRow | null = null;

  constructor({ by, order }: PipeOf<"sort">, count: number, mayHold: (bytes: number) => boolean, meter: WorkMeter) {
    this.#sign = order === "asc" ? 1 : -1;
    this.#keys = new SortKeys(by, this.#sign, meter);
    const chooser = new FirstRows(aggregateField(by), this.#sign, meter);
    this.rows = {
      columnsOf: (reader, group) => chooser.columnsOf(reader, group),
      add: (reader, group, rows, chunk) => this.#addRows(chooser, reader, group, rows, chunk),
    };
    this.#compare = comparison(order);
    this.#kept = new OrderedRows(this.#compare, meter);
    this.#count = count;
    this.#mayHold = mayHold;
    this.#meter = meter;
  }

  add(): void {
    throw new RangeError("Stored counts have no lines.");
  }

  addLevel(): void {
    this.add();
  }

  scanned(count: number): void {
    this.examined += count;
  }

  addLine(match: LineMatch, lines: LineSource, matcher: BatchMatcher): boolean {
    if (!matcher.reads && !matcher.isEntry(match)) return false;
    this.matched++;
    this.#meter.add(LINE_WORK + (match.end - match.start) * LINE_BYTE_WORK);
    const key = this.#keys.of(match, lines);
    const last = this.#last;
    if (last !== null && compareOrdered(key, last.key, this.#sign) > 0) return true;
    const row = rowOf(match, lines, "recent");
    const kept = { row, key: typeof key === "string" ? Buffer.from(key, "latin1").toString("latin1") : key };
    if (last !== null && this.#compare(kept, last) > 0) return true;
    this.#meter.add(WORK.row + KEPT_WORK + row.line.length);
    if (this.#kept.add(kept) || this.#kept.length >= 2 * this.#count) this.#shorten(this.#count);
    while (this.#kept.length > 1 && !this.#mayHold(this.#kept.bytes)) {
      this.#shorten(this.#count);
      if (this.#mayHold(this.#kept.bytes)) break;
      this.#count = Math.ceil(this.#kept.length / 2);
      this.isCut = true;
      this.#shorten(this.#count);
    }
    return true;
  }

  /** Leaves the rows that may be kept to their lines, and counts the others. */
  *#addRows(
    chooser: FirstRows,
    ...[reader, group, rows, chunk]: Parameters<RowSink["add"]>
  ): ReturnType<RowSink["add"]> {
    if (this.#last === null && this.#kept.length >= this.#count) this.#shorten(this.#count);
    const last = this.#last;
    const key = last === null ? Number.NaN : numberOf(last.key);
    const known = last === null || Number.isNaN(key) ? null : { key, timestamp: last.row.timestamp };
    const left = yield* chooser.choose(reader, group, rows, chunk, this.#count, known);
    this.matched += rows.length - left.length;
    return left;
  }

  rowsInOrder(): Row[] {
    this.#shorten(this.#count);
    return this.#kept.all().map(({ row }) => row);
  }

  #shorten(count: number): void {
    this.#last = this.#kept.shorten(count);
  }
}

/** Returns the number of a key; NaN for other values. */
function numberOf(key: KeyedRow["key"]): number {
  return typeof key === "string" && /^[-0-9]/.test(key) ? Number(key) : typeof key === "number" ? key : Number.NaN;
}

function bytesOf({ row, key }: KeyedRow): number {
  return rowBytes(row) + (typeof key === "string" ? key.length : 0);
}
