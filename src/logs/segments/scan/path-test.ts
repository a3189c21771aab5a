import type { Field, ValueTest as LanguageTest } from "../../../query-language/syntax.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import {
  addPathWork,
  beginPathWork,
  type ComparedMember,
  someAt,
  someItem,
  takePathWork,
} from "../../search/data-values.ts";
import { collected, type ValueSteps, valueStepsOf } from "../../search/entry-steps.ts";
import { valueTestOf } from "../../search/entry-test.ts";
import { casedLiteralOf, literalOfValue } from "../../search/literals.ts";
import { testsIn } from "../../search/rest-filter.ts";
import { REGEX_BYTE_WORK, TEST_WORK, TEXT_BYTE_WORK } from "../../search/text-tests.ts";
import { releaseColumn } from "../decode/column-values.ts";
import type { RowChoice } from "../decode/decode-chunk.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import type { Template } from "../template.ts";
import { markRows, markTextColumn, valuesIn } from "./mark-rows.ts";
import { hasRest, type OpenGroup } from "./open-group.ts";
import { RestValues } from "./rest-values.ts";
import type { Selection } from "./selection.ts";
import { TextFinder } from "./text-finder.ts";
import { TextMatcher } from "./text-matcher.ts";
import { TextTest } from "./text-test.ts";
import { type NumberTest, numberTestOf } from "./value-test.ts";

/** Where lines of one shape may have values of a path. */
interface Places {
  /** A value in a column, which may be null. Unlike an optional member, it is certainly there. */
  hasValue: boolean;
  hasObject: boolean;
  inRest: boolean;
}

/** A test of the values of a path, as the query language finds them: in members with dots in their names and in arrays, too. */
export class PathTest {
  readonly path: readonly (string | number)[];
  /** Whether every value passes. */
  readonly isExists: boolean;
  /** Whether an object is no value. */
  readonly skipsObjects: boolean;
  readonly numbers: NumberTest | null;
  readonly texts: TextTest | TextMatcher | null;
  readonly true: boolean;
  readonly false: boolean;
  readonly rest: RestValues;
  /** What its comparisons meet in place of numbers; `null` if it compares none. */
  readonly compared: ComparedMember | null;
  readonly #columns = new WeakMap<SegmentReader, readonly number[]>();
  readonly #places = new WeakMap<Template, Places>();

  constructor(
    path: readonly (string | number)[],
    test: LanguageTest,
    skipsObjects = false,
    compared: ComparedMember | null = null,
  ) {
    const field: Field = { kind: "data", path: [...path] };
    const passes = valueTestOf(field, test, 0);
    const steps = valueStepsOf(field, test, 0);
    this.path = path;
    this.skipsObjects = skipsObjects;
    this.isExists = passes(null);
    this.numbers = numberTestOf(test, passes);
    this.texts = textTestOf(test, passes, steps && ((text, meter) => steps([text], meter)));
    this.true = passes(true);
    this.false = passes(false);
    this.compared = compared;
    // Statistics tell what the columns have in place of numbers.
    const passesRest = compared === null ? passes : valueTestOf(field, test, 0, compared);
    const restSteps = compared === null ? steps : valueStepsOf(field, test, 0, compared);
    const valueWork = testsIn(test) * TEST_WORK;
    const byteWork = testsIn(test) * TEXT_BYTE_WORK;
    const passesCounted = (value: unknown) => {
      addPathWork(valueWork + (typeof value === "string" ? value.length * byteWork : 0));
      return passesRest(value);
    };
    const visit = (value: unknown) => {
      if (Array.isArray(value)) return passesCounted(value) || someItem(value, passesCounted);
      return !(skipsObjects && value !== null && typeof value === "object") && passesCounted(value);
    };
    // Objects pass no regular expression: whether they are values does not matter.
    const valuesIn = (data: unknown, meter: WorkMeter) => {
      beginPathWork();
      const values = collected((each) => someAt(data, path, each));
      meter.add(takePathWork());
      return values;
    };
    this.rest = new RestValues(
      (data) => someAt(data, path, visit),
      literalOfValue(test),
      restSteps && ((data, meter) => restSteps(valuesIn(data, meter), meter)),
      path,
    );
  }

  /** Whether the names have no arrays and no dots between them, so that only one column path has the values. */
  get isMember(): boolean {
    return this.path.length === 1 && typeof this.path[0] === "string";
  }

  /** Returns the columns of `data` with values of the path. */
  columnsOf(reader: SegmentReader): readonly number[] {
    let columns = this.#columns.get(reader);
    if (columns === undefined) {
      columns = reader.properties.columns.flatMap(({ path }, index) =>
        namesTaken(path, this.path) === this.path.length ? [FIRST_DATA_COLUMN + index] : [],
      );
      this.#columns.set(reader, columns);
    }
    return columns;
  }

  /** Returns the places in lines of a shape; `null` stands for lines that are whole in `rest`, which are tested apart. */
  placesOf(template: Template | null, meter: WorkMeter): Places {
    if (template === null) return NOWHERE;
    let places = this.#places.get(template);
    if (places === undefined) {
      const { length } = this.path;
      meter.add((2 * template.slots.length + template.objects.length) * WORK.condition);
      const isAt = (own: readonly string[]) => namesTaken(own, this.path) === length;
      places = {
        hasValue: template.slots.some(({ path, inRest, isOptional }) => !inRest && !isOptional && isAt(path)),
        hasObject: !this.skipsObjects && template.objects.some(isAt),
        inRest: template.slots.some(({ path, inRest }) => inRest && namesTaken(path, this.path) >= 0),
      };
      this.#places.set(template, places);
    }
    return places;
  }
}

const NOWHERE: Places = { hasValue: false, hasObject: false, inRest: false };

/** @returns how many parts of a path the names of members are, joined by dots; -1 if they are others */
function namesTaken(names: readonly string[], path: readonly (string | number)[]): number {
  let taken = 0;
  for (const name of names) {
    let joined = "";
    let end = taken;
    do {
      const part = path[end];
      if (typeof part !== "string") return -1;
      joined = end === taken ? part : `${joined}.${part}`;
      end++;
    } while (joined.length < name.length);
    if (joined !== name) return -1;
    taken = end;
  }
  return taken;
}

/**
 * @param passes whether a text passes
 * @param steps in place of `passes` for long texts; `null` if that is fast for all
 */
export function textTestOf(
  test: LanguageTest,
  passes: (text: string) => boolean,
  steps: ValueSteps<string> | null,
): TextTest | TextMatcher | null {
  switch (test.kind) {
    case "exists":
      return TextTest.every;
    case "exact":
      return TextTest.listed([test.text]);
    case "during":
      return null;
    case "compare":
      if (test.value.kind !== "level") return null;
      break;
    case "range":
      if (test.from.kind !== "level") return null;
      break;
    case "anyOf": {
      const texts = test.tests.flatMap((each) => (each.kind === "exact" ? [each.text] : []));
      if (texts.length === test.tests.length) return TextTest.listed(texts);
    }
  }
  const finder = TextFinder.of(literalOfValue(test), casedLiteralOf(test));
  return new TextMatcher(passes, finder, steps === null ? TEXT_BYTE_WORK : REGEX_BYTE_WORK, steps, testsIn(test));
}

/** How a test of a path is made in one row group. */
export interface PathPlan {
  kind: "path";
  test: PathTest;
  /** Columns with values that may pass. */
  held: readonly number[];
  needsShapes: boolean;
  needsRest: boolean;
}

/** Decides by statistics what a test of a path has to read. Lines that are whole in `rest` are not considered. */
export function planPath(reader: SegmentReader, group: number, test: PathTest): PathPlan | "all" | "none" {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const columns = test.columnsOf(reader);
  const filled = columns.filter((column) => reader.nulls(group, column) < rows);
  const [first] = columns;
  const isKnown = test.isMember && first !== undefined;
  const needsRest = hasRest(reader, group) && (!isKnown || reader.elsewhere(group, first) > 0);
  // A row has at most one value of a member, and may have several of a path with dots.
  const values = filled.reduce((sum, column) => sum + rows - reader.nulls(group, column), 0);
  const isComplete = values === rows && (test.isMember || filled.length === 1);
  if (isComplete && filled.every((column) => holdsForAll(reader, group, column, test))) return "all";
  const held = filled.filter((column) => mayHold(reader, group, column, test));
  const needsShapes = needsRest || test.isExists;
  if (held.length === 0 && !needsShapes) return "none";
  return { kind: "path", test, held, needsShapes, needsRest };
}

/**
 * Marks the rows of a selection of which a value passes.
 * @param readRows rows of which shapes and `rest` are decoded, at least those of the selection
 * @throws MalformedFile
 */
export function* markPath(
  { test, held, needsShapes }: PathPlan,
  group: OpenGroup,
  selection: Selection,
  marks: Uint8Array,
  readRows: RowChoice,
): Generator<void> {
  const { meter, reader } = group;
  for (const index of held) {
    meter.add(selection.count * WORK.columnRow);
    const { texts } = test;
    if (texts !== null && reader.dataTypeOf(index) === "text") {
      if (texts instanceof TextMatcher) yield* texts.mark(group, index, selection, marks);
      else markTextColumn(group, index, texts, selection, marks);
    } else {
      const column = group.decode(index, selection.rows);
      meter.add(valuesIn(column, selection) * (test.numbers?.valueWork ?? 0));
      markRows(column, { numbers: test.numbers, texts: null, true: test.true, false: test.false }, selection, marks);
      releaseColumn(column);
    }
    if (meter.isDue) yield;
  }
  if (!needsShapes) return;
  const shapes = yield* group.shapes(readRows);
  const byShape: Places[] = [];
  for (const { template } of shapes.known()) {
    byShape.push(test.placesOf(template, meter));
    if (meter.isDue) yield;
  }
  const { rows, count } = selection;
  const inRest = new Int32Array(count);
  let found = 0;
  meter.add(count * WORK.columnRow);
  for (let at = 0; at < count; at++) {
    const row = rows === null ? at : (rows[at] ?? 0);
    const places = byShape[shapes.indices[row] ?? -1];
    if (places === undefined || marks[row] === 1) continue;
    if (test.isExists && (places.hasValue || places.hasObject)) marks[row] = 1;
    else if (places.inRest) inRest[found++] = row;
  }
  if (found > 0) yield* test.rest.mark(group, group.rest(readRows), inRest.subarray(0, found), marks);
}

function mayHold(reader: SegmentReader, group: number, column: number, test: PathTest): boolean {
  switch (reader.dataTypeOf(column)) {
    case "text": {
      const { texts } = test;
      const range = reader.textRange(group, column);
      if (texts === null || texts instanceof TextMatcher || range === null) return texts !== null;
      return texts.mayHold(range.min, range.max);
    }
    case "boolean":
      return test.true || test.false;
    default: {
      const range = reader.numberRange(group, column);
      return test.numbers !== null && (range === null || test.numbers.mayHold(range.min, range.max));
    }
  }
}

function holdsForAll(reader: SegmentReader, group: number, column: number, test: PathTest): boolean {
  switch (reader.dataTypeOf(column)) {
    case "text":
      return test.texts instanceof TextTest && test.texts.holdsForAll;
    case "boolean":
      return test.true && test.false;
    default: {
      const range = reader.numberRange(group, column);
      return range !== null && (test.numbers?.holdsForAll(range.min, range.max) ?? false);
    }
  }
}
