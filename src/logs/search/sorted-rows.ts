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

/** Work units of comparing a line with the kept ones, of keeping it, and of sorting a kept one. */
const LINE_WORK = 200;
const LINE_BYTE_WORK = 0.8;
const KEPT_WORK = 1500;

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
  const keyed: KeyedRow[] = [];
  for (const row of rows) {
    lines.read(row, (match, source) => keyed.push({ row, key: keys.of(match, source) }));
    await reading.pacer.pause(KEPT_WORK + row.line.length);
  }
  return keyed.sort(comparison(order)).map(({ row }) => row);
}

function comparison(order: "asc" | "desc"): (a: KeyedRow, b: KeyedRow) => number {
  const sign = order === "asc" ? 1 : -1;
  return (a, b) => compareOrdered(a.key, b.key, sign) || compareRows("desc", a.row, b.row);
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
  /** The first ones in order up to `#sorted`, and others after them. */
  #kept: KeyedRow[] = [];
  #bytes = 0;
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
    this.#meter.add(WORK.row + row.line.length);
    this.#kept.push(kept);
    this.#bytes += bytesOf(kept);
    if (this.#kept.length >= 2 * this.#count) this.#shorten(this.#count);
    while (this.#kept.length > 1 && !this.#mayHold(this.#bytes)) {
      this.#shorten(Math.min(this.#count, this.#kept.length));
      if (this.#mayHold(this.#bytes)) break;
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
    return this.#kept.map(({ row }) => row);
  }

  #shorten(count: number): void {
    this.#meter.add(this.#kept.length * KEPT_WORK);
    this.#kept.sort(this.#compare);
    this.#kept.length = Math.min(this.#kept.length, count);
    this.#bytes = this.#kept.reduce((sum, each) => sum + bytesOf(each), 0);
    this.#last = this.#kept.length < this.#count ? null : (this.#kept.at(-1) ?? null);
  }
}

/** Returns the number of a key; NaN for other values. */
function numberOf(key: KeyedRow["key"]): number {
  return typeof key === "string" && /^[-0-9]/.test(key) ? Number(key) : typeof key === "number" ? key : Number.NaN;
}

function bytesOf({ row, key }: KeyedRow): number {
  return rowBytes(row) + (typeof key === "string" ? key.length : 0);
}
