import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import type { LogFilter } from "../../query/filter.ts";
import type { ComparedMember } from "../../search/data-values.ts";
import { LEADING_COLUMNS } from "../columns.ts";
import { releaseColumn } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { type DataTestPlan, planDataTest, runDataTest } from "./data-test.ts";
import { columnsOfPlan, type LanguagePlan, planLanguage, runLanguage } from "./language-filter.ts";
import { hasValue, keepNumbers, markTextColumn } from "./mark-rows.ts";
import { type ColumnSource, mayHaveWholeLines, OpenGroup, RECEIPT_COLUMN, SEQ_COLUMN } from "./open-group.ts";
import type { PathTest } from "./path-test.ts";
import { PreparedFilter } from "./prepared-filter.ts";
import { planSearch, runSearch, type SearchPlan } from "./search-test.ts";
import { Selection } from "./selection.ts";
import type { TextTest } from "./text-test.ts";
import { NumberTest } from "./value-test.ts";

/** The commits that a read sees: `afterCommit < commit <= asOf`. */
export interface CommitRange {
  /** `null`: without a bound. */
  asOf: number | null;
  afterCommit: number;
}

/** The rows of a row group that pass a filter. */
export interface RowSelection {
  /** In rising order. */
  rows: Int32Array;
  /** By index in `rows`: 1 if only the line can tell whether it passes; `null`: all pass. */
  undecided: Uint8Array | null;
}

const COMMIT_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "commit");
const TIME_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "timestamp");

const NO_ROWS = new Int32Array(0);

/** A test of a column that has a value in each row, or of strings. */
type ColumnTest = { column: number } & ({ kind: "numbers"; test: NumberTest } | { kind: "texts"; test: TextTest });
type GroupTest =
  | ColumnTest
  | DataTestPlan
  | ({ kind: "search" } & SearchPlan)
  | { kind: "language"; plan: LanguagePlan };

/**
 * Evaluates a filter on the columns of one row group, with the verdicts that `BatchMatcher` has on the lines. Reads
 * `columns` and nothing else; none if the statistics exclude or include all rows.
 */
export class RowGroupFilter {
  /** Whether statistics show that no row passes. */
  readonly isExcluded: boolean;
  /** Columns whose bytes `steps` needs. */
  readonly columns: readonly number[];
  readonly #reader: SegmentReader;
  readonly #group: number;
  readonly #filter: PreparedFilter;
  readonly #meter: WorkMeter;
  /** Tests of commit and time, which all lines have in columns. */
  readonly #head: readonly ColumnTest[];
  /** Further tests of lines that are not whole in `rest`; `null` if none of these lines passes. */
  readonly #tests: readonly GroupTest[] | null;
  /** Columns with values that comparisons with numbers do not find. */
  #skipped: readonly SkippedColumn[] = [];
  /** Whether only the columns tell whether rows in the range of time and commits have such values. */
  readonly #opensSkipped: boolean;
  readonly #hasWholeLines: boolean;

  /** @param meter counts the work, and decides when `steps` pauses */
  constructor(reader: SegmentReader, group: number, filter: LogFilter, commits: CommitRange, meter: WorkMeter) {
    this.#reader = reader;
    this.#group = group;
    this.#filter = PreparedFilter.of(filter, meter);
    this.#meter = meter;
    const { from, to } = this.#filter;
    const commitTest = NumberTest.interval(commits.afterCommit + 1, commits.asOf ?? Number.POSITIVE_INFINITY);
    const timeTest = NumberTest.span(from ?? Number.NEGATIVE_INFINITY, to ?? Number.POSITIVE_INFINITY);
    const commit = this.#planHead(COMMIT_COLUMN, commitTest);
    const time = this.#planHead(TIME_COLUMN, timeTest);
    this.#hasWholeLines = !this.#filter.isOpen && mayHaveWholeLines(reader, group);
    this.#head = [commit, time].filter((test) => typeof test === "object");
    const isOutside = commit === "none" || time === "none";
    this.#tests = isOutside ? null : this.#planTests();
    this.#opensSkipped = this.#head.length > 0 && this.#skipped.length > 0;
    this.isExcluded = isOutside || (this.#tests === null && !this.#hasWholeLines && !this.#opensSkipped);
    if (this.isExcluded) this.#noteSkipped();
    this.columns = this.isExcluded ? [] : this.#columnsOfTests();
  }

  /**
   * Finds the rows, in steps of some milliseconds.
   * @param chunk gives the bytes of `columns`
   * @throws MalformedFile
   */
  *steps(chunk: ColumnSource): Generator<void, RowSelection> {
    if (this.isExcluded) return { rows: NO_ROWS, undecided: null };
    const group = new OpenGroup(this.#reader, this.#group, chunk, this.#filter.shapes, this.#meter);
    const selection = new Selection(group.rows);
    yield* runTests(this.#head, group, selection);
    this.#noteSkipped();
    if (this.#opensSkipped) runSkipped(this.#skipped, group, selection);
    const whole = this.#hasWholeLines ? yield* this.#takeWhole(group, selection) : NO_ROWS;
    if (this.#tests === null) selection.clear();
    else yield* runTests(this.#tests, group, selection);
    const passing = whole.length > 0 ? yield* this.#filterWhole(group, whole) : NO_ROWS;
    group.close();
    const rows = selection.toRows(passing);
    selection.release();
    return { rows, undecided: null };
  }

  /** Notes the types of columns of which some row is certainly in the range. */
  #noteSkipped(): void {
    if (!this.#opensSkipped) for (const { compared, type } of this.#skipped) compared.skipType(type);
  }

  #planHead(column: number, test: NumberTest): ColumnTest | "all" | "none" {
    const range = this.#reader.numberRange(this.#group, column);
    if (range !== null && !test.mayHold(range.min, range.max)) return "none";
    if (range !== null && test.holdsForAll(range.min, range.max)) return "all";
    return { kind: "numbers", column, test };
  }

  #planTests(): GroupTest[] | null {
    const reader = this.#reader;
    const group = this.#group;
    const tests: GroupTest[] = [];
    for (const { column, test } of this.#filter.members) {
      const range = reader.textRange(group, column);
      if (test === null || (range !== null && !test.mayHold(range.min, range.max))) return null;
      if (reader.nulls(group, column) === (reader.rowGroups[group]?.rows ?? 0)) return null;
      tests.push({ kind: "texts", column, test });
    }
    for (const test of this.#filter.data) {
      const verdict = planDataTest(reader, group, test);
      if (verdict.kind === "none") return null;
      if (verdict.kind === "some") tests.push(verdict);
    }
    const bytes = new Map(tests.map((test) => [test, this.#bytesOf(test)]));
    tests.sort((a, b) => (bytes.get(a) ?? 0) - (bytes.get(b) ?? 0));
    const { search, language, comparisons } = this.#filter;
    this.#skipped = comparisons.flatMap((test) => skippedColumns(reader, group, test));
    if (search !== null) tests.push({ kind: "search", ...planSearch(reader, group, search) });
    const plan = language === null ? "all" : planLanguage(reader, group, language);
    if (plan === "none") return null;
    return plan === "all" ? tests : [...tests, { kind: "language", plan }];
  }

  #columnsOfTests(): number[] {
    const tests = this.#tests ?? [];
    const columns = new Set([...this.#head, ...tests].flatMap((test) => this.#columnsOf(test)));
    if (this.#opensSkipped) for (const { column } of this.#skipped) columns.add(column);
    if (this.#hasWholeLines) columns.add(this.#reader.shapeColumn).add(this.#reader.restColumn);
    if (this.#hasWholeLines && this.#filter.language !== null) columns.add(SEQ_COLUMN).add(RECEIPT_COLUMN);
    return [...columns].sort((a, b) => a - b);
  }

  #columnsOf(test: GroupTest): number[] {
    switch (test.kind) {
      case "numbers":
      case "texts":
        return [test.column];
      case "search":
        return [...test.columns, ...(test.needsRest ? [this.#reader.restColumn] : [])];
      case "language":
        return columnsOfPlan(this.#reader, test.plan);
      case "some": {
        const shape = test.needsShapes ? [this.#reader.shapeColumn] : [];
        return [...test.held, ...test.present, ...shape, ...(test.needsRest ? [this.#reader.restColumn] : [])];
      }
    }
  }

  #bytesOf(test: GroupTest): number {
    return this.#columnsOf(test).reduce((sum, column) => sum + this.#reader.rawBytes(this.#group, column), 0);
  }

  /** Takes the lines that are whole in `rest` out of a selection. */
  *#takeWhole(group: OpenGroup, selection: Selection): Generator<void, Int32Array> {
    if (selection.count === 0) return NO_ROWS;
    const marks = (yield* group.shapes(selection.rows)).wholeRows();
    return marks === null ? NO_ROWS : selection.take(marks);
  }

  /** Returns those of the rows whose line passes. */
  *#filterWhole(group: OpenGroup, rows: Int32Array): Generator<void, Int32Array> {
    const marks = new Uint8Array(group.rows);
    const rest = group.texts(this.#reader.restColumn, rows);
    yield* this.#filter.lines.markWhole(rest, group.shapeTexts, rows, marks, group.placesOf(rows));
    return rows.filter((row) => marks[row] === 1);
  }
}

function* runTests(tests: readonly GroupTest[], group: OpenGroup, selection: Selection): Generator<void> {
  for (const test of tests) {
    if (selection.count === 0) return;
    if (test.kind === "some") yield* runDataTest(test, group, selection);
    else if (test.kind === "search") yield* runSearch(test, group, selection);
    else if (test.kind === "language") yield* runLanguage(test.plan, group, selection);
    else runColumnTest(test, group, selection);
    if (group.meter.isDue) yield;
  }
}

function runColumnTest(test: ColumnTest, group: OpenGroup, selection: Selection): void {
  group.meter.add(selection.count * WORK.columnRow);
  if (test.kind === "numbers") {
    const column = group.numbers(test.column, selection.rows);
    const range = group.reader.numberRange(group.group, test.column);
    keepNumbers(column, test.test, selection, range, true);
    releaseColumn(column);
    return;
  }
  const marks = new Uint8Array(group.rows);
  markTextColumn(group, test.column, test.test, selection, marks);
  selection.keep(marks);
  detachBuffer(marks);
}

/** A column with values that a comparison with numbers does not find. */
interface SkippedColumn {
  column: number;
  type: "text" | "boolean";
  compared: ComparedMember;
}

/** Returns the columns of a comparison that have values of types which were not noted yet. */
function skippedColumns(reader: SegmentReader, group: number, test: PathTest): SkippedColumn[] {
  const { compared } = test;
  if (compared === null) return [];
  const rows = reader.rowGroups[group]?.rows ?? 0;
  return test.columnsOf(reader).flatMap((column) => {
    const type = reader.dataTypeOf(column);
    if ((type !== "text" && type !== "boolean") || compared.hasSkipped(type)) return [];
    return reader.nulls(group, column) === rows ? [] : [{ column, type, compared }];
  });
}

/** Notes the types of columns that have a value in some row of a selection. */
function runSkipped(skipped: readonly SkippedColumn[], group: OpenGroup, { rows, size, count }: Selection): void {
  for (const { column: index, compared, type } of skipped) {
    // The same member may be compared twice, and other row groups were read since.
    if (count === 0 || compared.hasSkipped(type)) continue;
    group.meter.add(count * WORK.columnRow);
    const column = group.decode(index, rows);
    for (let at = 0; at < (rows?.length ?? size) && !compared.hasSkipped(type); at++) {
      if (hasValue(column, rows?.[at] ?? at)) compared.skipType(type);
    }
    releaseColumn(column);
  }
}
