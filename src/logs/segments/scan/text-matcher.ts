import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { WORK } from "../../query/budget.ts";
import type { ValueSteps } from "../../search/entry-steps.ts";
import { TEST_WORK } from "../../search/text-tests.ts";
import { type ColumnValues, releaseColumn, type TextColumn } from "../decode/column-values.ts";
import { hasValue, markHeld, textsOf } from "./mark-rows.ts";
import type { OpenGroup } from "./open-group.ts";
import { ContainingStrings, FoundStrings } from "./page-scan.ts";
import type { Selection } from "./selection.ts";
import type { TextFinder } from "./text-finder.ts";

/** A test of strings that is made only where a literal is, and in steps: a regular expression may take long. */
export class TextMatcher {
  readonly passes: (text: string) => boolean;
  /** Finds the literal that each string has that passes; `null` without one. */
  readonly finder: TextFinder | null;
  /** Work units of a test for each string, and for each byte of one. */
  readonly #textWork: number;
  readonly #byteWork: number;
  readonly #steps: ValueSteps<string> | null;

  /**
   * @param finder of the literal that each string has that passes; `null` without one
   * @param byteWork work units of `passes` for each byte
   * @param steps in place of `passes` for long texts; `null` if that is fast for all
   * @param tests that `passes` makes, of which each has that work
   */
  constructor(
    passes: (text: string) => boolean,
    finder: TextFinder | null,
    byteWork: number,
    steps: ValueSteps<string> | null = null,
    tests = 1,
  ) {
    this.#steps = steps;
    this.passes = passes;
    this.finder = finder;
    // Steps count their own work.
    this.#byteWork = steps === null ? byteWork * tests : 0;
    this.#textWork = WORK.text + (steps === null ? (tests - 1) * TEST_WORK : 0);
  }

  /** Marks the rows of a selection whose string in a column passes. @throws MalformedFile */
  *mark(group: OpenGroup, index: number, selection: Selection, marks: Uint8Array): Generator<void> {
    if (this.finder === null) {
      const column = group.texts(index, selection.rows);
      if (group.meter.isDue) yield;
      if (column.kind === "indexedTexts") yield* this.#markIndexed(group, column, null, selection, marks);
      else yield* this.#markRows(group, column, chosen(selection), marks);
      releaseColumn(column);
      return;
    }
    group.meter.add(group.reader.rawBytes(group.group, index) * this.finder.byteWork);
    const candidates = new Uint8Array(group.rows);
    const strings = new FoundStrings();
    const test = new ContainingStrings(this.finder, strings);
    const column = group.scan(index, selection.rows, test, candidates);
    // A scan of long texts takes many milliseconds.
    if (group.meter.isDue) yield;
    if (column !== null) {
      yield* this.#markIndexed(group, column, test.foundIn(column.dictionary), selection, marks);
      releaseColumn(column);
    } else yield* this.#markFound(group, candidates, strings, selection, marks);
    strings.release();
    detachBuffer(candidates);
  }

  /** @param candidates by row: 1 for each of the strings, in their order */
  *#markFound(
    group: OpenGroup,
    candidates: Uint8Array,
    strings: FoundStrings,
    { rows }: Selection,
    marks: Uint8Array,
  ): Generator<void> {
    let next = 0;
    let at = 0;
    for (let row = candidates.indexOf(1); row >= 0; row = candidates.indexOf(1, row + 1)) {
      const index = next++;
      while (rows !== null && at < rows.length && (rows[at] ?? 0) < row) at++;
      if (marks[row] === 1 || (rows !== null && rows[at] !== row)) continue;
      const text = strings.at(index);
      group.meter.add(this.#textWork + text.length * this.#byteWork);
      if (yield* this.#test(text, group)) marks[row] = 1;
      if (group.meter.isDue) yield;
    }
  }

  /** Whether a number or boolean passes. */
  isSpelled(value: number | boolean): boolean {
    return this.passes(String(value));
  }

  /** Marks the rows of a selection whose number or boolean passes, as it is spelled. */
  *markSpelled(group: OpenGroup, column: ColumnValues, selection: Selection, marks: Uint8Array): Generator<void> {
    const { meter } = group;
    const work = WORK.columnText + this.#textWork + this.#byteWork * 8;
    if (column.kind === "indexedNumbers") {
      const held = new Uint8Array(column.dictionary.length + 1);
      for (const [at, value] of column.dictionary.entries()) {
        meter.add(work);
        held[at] = this.isSpelled(value) ? 1 : 0;
        if (meter.isDue) yield;
      }
      markHeld(column.indices, held, selection, marks);
      return;
    }
    const [isTrue, isFalse] = [this.isSpelled(true), this.isSpelled(false)];
    for (const row of chosen(selection)) {
      if (marks[row] === 1 || !hasValue(column, row)) continue;
      if (column.kind === "booleans") marks[row] = Number(column.values[row] === 1 ? isTrue : isFalse);
      else if (column.kind === "numbers") {
        meter.add(work);
        marks[row] = Number(this.isSpelled(column.values[row] ?? 0));
        if (meter.isDue) yield;
      }
    }
  }

  *#test(text: string, { meter }: OpenGroup): Generator<void, boolean> {
    return this.#steps === null ? this.passes(text) : yield* this.#steps(text, meter);
  }

  /** @param found strings of the dictionary that may pass; `null`: all */
  *#markIndexed(
    group: OpenGroup,
    { dictionary, indices }: Extract<TextColumn, { kind: "indexedTexts" }>,
    found: readonly number[] | null,
    selection: Selection,
    marks: Uint8Array,
  ): Generator<void> {
    const held = new Uint8Array(dictionary.length + 1);
    for (let at = 0; at < (found?.length ?? dictionary.length); at++) {
      const index = found?.[at] ?? at;
      const text = dictionary.at(index);
      group.meter.add(this.#textWork + text.length * this.#byteWork);
      held[index] = (yield* this.#test(text, group)) ? 1 : 0;
      if (group.meter.isDue) yield;
    }
    markHeld(indices, held, selection, marks);
  }

  *#markRows(group: OpenGroup, column: TextColumn, rows: Int32Array, marks: Uint8Array): Generator<void> {
    const texts = textsOf(column);
    for (const row of rows) {
      if (marks[row] === 1 || !hasValue(column, row)) continue;
      const text = texts.at(column.kind === "texts" ? row : (column.indices[row] ?? 0));
      group.meter.add(this.#textWork + text.length * this.#byteWork);
      if (yield* this.#test(text, group)) marks[row] = 1;
      if (group.meter.isDue) yield;
    }
  }
}

/** Returns the rows of a selection. */
export function chosen({ rows, size }: Selection): Int32Array {
  if (rows !== null) return rows;
  const every = new Int32Array(size);
  for (let row = 0; row < size; row++) every[row] = row;
  return every;
}
