import { WORK } from "../../query/budget.ts";
import { releaseColumn } from "../decode/column-values.ts";
import type { RowChoice } from "../decode/decode-chunk.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import type { LanguageTest } from "./language-test.ts";
import { markRows, markTextColumn, valuesIn } from "./mark-rows.ts";
import { hasRest, type OpenGroup } from "./open-group.ts";
import { markPath, type PathPlan, planPath } from "./path-test.ts";
import type { RestValues } from "./rest-values.ts";
import { columnsOfTexts, MESSAGE_COLUMN, markSearch, type SearchPlan } from "./search-test.ts";
import type { Selection } from "./selection.ts";
import { chosen, TextMatcher } from "./text-matcher.ts";
import { TextTest } from "./text-test.ts";
import type { NumberTest } from "./value-test.ts";

/** How a filter is evaluated in one row group. */
export type LanguagePlan =
  | { kind: "and" | "or"; plans: LanguagePlan[] }
  | { kind: "not"; plan: LanguagePlan }
  | { kind: "numbers"; column: number; test: NumberTest }
  | { kind: "texts"; column: number; test: TextTest | TextMatcher }
  | PathPlan
  | ({ kind: "search" } & SearchPlan)
  | { kind: "text"; matcher: TextMatcher; rest: RestValues; columns: readonly number[]; needsRest: boolean };

/** Decides by statistics what a filter has to read. Lines that are whole in `rest` are not considered. */
export function planLanguage(reader: SegmentReader, group: number, test: LanguageTest): LanguagePlan | "all" | "none" {
  switch (test.kind) {
    case "all":
      return "all";
    case "not": {
      const plan = planLanguage(reader, group, test.test);
      if (typeof plan === "string") return plan === "all" ? "none" : "all";
      return plan.kind === "not" ? plan.plan : { kind: "not", plan };
    }
    case "and":
    case "or":
      return planSeveral(reader, group, test.kind, test.tests);
    case "project":
      return test.passes(reader.properties.projectId) ? "all" : "none";
    case "numbers": {
      const numberTest = test.testOf(reader.properties.projectId);
      const range = reader.numberRange(group, test.column);
      if (numberTest === null || (range !== null && !numberTest.mayHold(range.min, range.max))) return "none";
      if (range !== null && numberTest.holdsForAll(range.min, range.max)) return "all";
      return { kind: "numbers", column: test.column, test: numberTest };
    }
    case "texts":
      return planTexts(reader, group, test.column, test.test);
    case "path":
      return planPath(reader, group, test.test);
    case "search": {
      const { search } = test;
      const columns = columnsOfTexts(reader, group, search.finder);
      return { kind: "search", search, columns, needsRest: hasRest(reader, group) };
    }
    case "text": {
      const { matcher, rest } = test;
      const columns = columnsOfTexts(reader, group, matcher.finder);
      return { kind: "text", matcher, rest, columns, needsRest: hasRest(reader, group) };
    }
  }
}

function planSeveral(
  reader: SegmentReader,
  group: number,
  kind: "and" | "or",
  tests: readonly LanguageTest[],
): LanguagePlan | "all" | "none" {
  // One part that decides the whole, and one that decides nothing.
  const [decisive, neutral] = kind === "and" ? (["none", "all"] as const) : (["all", "none"] as const);
  const plans: LanguagePlan[] = [];
  for (const each of tests) {
    const plan = planLanguage(reader, group, each);
    if (plan === decisive) return decisive;
    if (typeof plan !== "string") plans.push(plan);
  }
  const [only] = plans;
  if (only === undefined) return neutral;
  if (plans.length === 1) return only;
  const bytes = new Map(plans.map((plan) => [plan, bytesOf(reader, group, plan)]));
  return { kind, plans: plans.sort((a, b) => (bytes.get(a) ?? 0) - (bytes.get(b) ?? 0)) };
}

function planTexts(
  reader: SegmentReader,
  group: number,
  column: number,
  test: TextTest | TextMatcher | null,
): LanguagePlan | "all" | "none" {
  const nulls = reader.nulls(group, column);
  if (test === null || nulls === (reader.rowGroups[group]?.rows ?? 0)) return "none";
  if (test instanceof TextTest) {
    const range = reader.textRange(group, column);
    if (range !== null && !test.mayHold(range.min, range.max)) return "none";
    if (nulls === 0 && test.holdsForAll) return "all";
  }
  return { kind: "texts", column, test };
}

/** Returns the columns whose bytes a plan needs. */
export function columnsOfPlan(reader: SegmentReader, plan: LanguagePlan): number[] {
  switch (plan.kind) {
    case "and":
    case "or":
      return [...new Set(plan.plans.flatMap((each) => columnsOfPlan(reader, each)))];
    case "not":
      return columnsOfPlan(reader, plan.plan);
    case "numbers":
    case "texts":
      return [plan.column];
    case "path": {
      const shape = plan.needsShapes ? [reader.shapeColumn] : [];
      return [...plan.held, ...shape, ...(plan.needsRest ? [reader.restColumn] : [])];
    }
    default:
      return [...plan.columns, ...(plan.needsRest ? [reader.restColumn] : [])];
  }
}

function bytesOf(reader: SegmentReader, group: number, plan: LanguagePlan): number {
  return columnsOfPlan(reader, plan).reduce((sum, column) => sum + reader.rawBytes(group, column), 0);
}

/** Narrows a selection to the rows that pass. @throws MalformedFile */
export function* runLanguage(plan: LanguagePlan, group: OpenGroup, selection: Selection): Generator<void> {
  // Shapes and `rest` are decoded once, for all parts of the filter.
  const readRows = selection.isAll ? null : selection.toRows(new Int32Array(0));
  const marks = yield* marksOf(plan, group, selection, readRows);
  selection.keep(marks);
}

/** Marks the rows of a selection that pass; other rows may be marked as well. */
function* marksOf(
  plan: LanguagePlan,
  group: OpenGroup,
  selection: Selection,
  readRows: RowChoice,
): Generator<void, Uint8Array> {
  const { meter } = group;
  const marks = new Uint8Array(group.rows);
  switch (plan.kind) {
    case "not": {
      const own = yield* marksOf(plan.plan, group, selection, readRows);
      for (let row = 0; row < marks.length; row++) marks[row] = (own[row] ?? 0) ^ 1;
      break;
    }
    case "and": {
      const left = selection.copy();
      for (const each of plan.plans) {
        if (left.count > 0) left.keep(yield* marksOf(each, group, left, readRows));
      }
      for (const row of chosen(left)) marks[row] = 1;
      break;
    }
    case "or": {
      const left = selection.copy();
      for (const each of plan.plans) {
        if (left.count === 0) break;
        const own = yield* marksOf(each, group, left, readRows);
        for (const row of left.take(own)) marks[row] = 1;
      }
      break;
    }
    case "numbers": {
      const column = group.numbers(plan.column, selection.rows);
      meter.add(valuesIn(column, selection) * plan.test.valueWork);
      markRows(column, { numbers: plan.test, texts: null, true: false, false: false }, selection, marks);
      releaseColumn(column);
      break;
    }
    case "texts":
      if (plan.test instanceof TextMatcher) yield* plan.test.mark(group, plan.column, selection, marks);
      else markTextColumn(group, plan.column, plan.test, selection, marks);
      break;
    case "path":
      yield* markPath(plan, group, selection, marks, readRows);
      break;
    case "search":
      yield* markSearch(plan, group, selection, marks, readRows);
      break;
    case "text":
      yield* markText(plan, group, selection, marks, readRows);
  }
  meter.add(selection.count * WORK.columnRow);
  if (meter.isDue) yield;
  return marks;
}

function* markText(
  { matcher, rest, columns, needsRest }: Extract<LanguagePlan, { kind: "text" }>,
  group: OpenGroup,
  selection: Selection,
  marks: Uint8Array,
  readRows: RowChoice,
): Generator<void> {
  for (const index of columns) {
    const type = index === MESSAGE_COLUMN ? "text" : group.reader.dataTypeOf(index);
    if (type === "text") yield* matcher.mark(group, index, selection, marks);
    else {
      const column = group.decode(index, selection.rows);
      yield* matcher.markSpelled(group, column, selection, marks);
      releaseColumn(column);
    }
    if (group.meter.isDue) yield;
  }
  if (!needsRest) return;
  const left = chosen(selection).filter((row) => marks[row] === 0);
  if (left.length > 0) yield* rest.mark(group, group.rest(readRows), left, marks);
}
