import type { Field, Filter, OwnField } from "../../../query-language/syntax.ts";
import { LEVELS } from "../../entry.ts";
import { logId, parseLogId } from "../../entry-view.ts";
import type { WorkMeter } from "../../query/budget.ts";
import { OPEN_FILTER } from "../../query/filter.ts";
import { foldCase } from "../../query/fold-case.ts";
import { spanOf } from "../../search/compile-filter.ts";
import { type ComparedMembers, someText } from "../../search/data-values.ts";
import { regexStepsOf, type ValueSteps, valueStepsOf } from "../../search/entry-steps.ts";
import { textTestOf as textPassesOf, valueTestOf } from "../../search/entry-test.ts";
import { casedLiteralOf, literalOf } from "../../search/literals.ts";
import { constantPartOf, patternOf, patternWorkOf } from "../../search/pattern.ts";
import { testsIn } from "../../search/rest-filter.ts";
import { REGEX_BYTE_WORK, TEST_WORK, TEXT_BYTE_WORK } from "../../search/text-tests.ts";
import { FIRST_MEMBER_COLUMN, LEADING_COLUMNS, TEXT_MEMBERS } from "../columns.ts";
import { RECEIPT_COLUMN, SEQ_COLUMN } from "./open-group.ts";
import { ContainingStrings } from "./page-scan.ts";
import { PathTest, textTestOf } from "./path-test.ts";
import { RestLines } from "./rest-lines.ts";
import { RestValues } from "./rest-values.ts";
import { MESSAGE_COLUMN, type PreparedSearch } from "./search-test.ts";
import { TextFinder } from "./text-finder.ts";
import { TextMatcher } from "./text-matcher.ts";
import { TextTest } from "./text-test.ts";
import { EVERY_NUMBER, NumberTest, numberTestOf } from "./value-test.ts";

/** A filter of the query language, prepared for columns. */
export type LanguageTest =
  | { kind: "all" }
  | { kind: "and" | "or"; tests: LanguageTest[] }
  | { kind: "not"; test: LanguageTest }
  /** Of a column that has a number in each row. */
  | { kind: "numbers"; column: number; testOf: (projectId: string) => NumberTest | null }
  | { kind: "texts"; column: number; test: TextTest | TextMatcher | null }
  | { kind: "project"; passes: (projectId: string) => boolean }
  | { kind: "path"; test: PathTest }
  | { kind: "search"; search: PreparedSearch }
  | { kind: "text"; matcher: TextMatcher; rest: RestValues };

const TIME_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "timestamp");

/**
 * @param filter without durations
 * @param compared see `RestFilter`
 * @throws InvalidRegex
 */
export function languageTestOf(filter: Filter, meter: WorkMeter, compared: ComparedMembers): LanguageTest {
  switch (filter.kind) {
    case "all":
      return filter;
    case "not":
      return { kind: "not", test: languageTestOf(filter.filter, meter, compared) };
    case "and":
      return { kind: "and", tests: filter.filters.map((each) => languageTestOf(each, meter, compared)) };
    case "or":
      return { kind: "or", tests: merged(filter.filters).map((each) => languageTestOf(each, meter, compared)) };
    case "text": {
      const { test } = filter;
      const passes = textPassesOf(test);
      const literal = literalOf(test);
      const steps = test.kind === "regex" ? regexStepsOf(test) : null;
      const rest = new RestValues((data) => someText(data, passes), literal, steps);
      if (test.kind !== "contains" || literal === "") {
        const byteWork = test.kind === "regex" ? REGEX_BYTE_WORK : TEXT_BYTE_WORK;
        return {
          kind: "text",
          matcher: new TextMatcher(passes, TextFinder.of(literal, casedLiteralOf(test)), byteWork, steps),
          rest,
        };
      }
      const finder = new TextFinder(literal);
      const lines = new RestLines({ ...OPEN_FILTER, search: literal }, meter);
      return { kind: "search", search: { finder, strings: new ContainingStrings(finder), rest: lines } };
    }
    case "field":
      return fieldTestOf(filter.field, filter, compared);
  }
}

/** Joins the tests of one field of which one must hold, so that its values are read once. */
function merged(filters: readonly Filter[]): Filter[] {
  const others: Filter[] = [];
  const byField = new Map<string, Extract<Filter, { kind: "field" }>>();
  for (const filter of filters) {
    if (filter.kind !== "field") {
      others.push(filter);
      continue;
    }
    const key = JSON.stringify(filter.field);
    const known = byField.get(key);
    const tests = [known?.test, filter.test].flatMap((test) => (test?.kind === "anyOf" ? test.tests : (test ?? [])));
    byField.set(key, known === undefined ? filter : { ...filter, test: { kind: "anyOf", tests } });
  }
  return [...byField.values(), ...others];
}

type FieldFilter = Extract<Filter, { kind: "field" }>;

/** Columns of the own fields that are strings. */
const TEXT_COLUMNS: Partial<Record<OwnField, (typeof TEXT_MEMBERS)[number]>> = {
  level: "level",
  category: "category",
  type: "type",
  message: "message",
  session: "session",
  trace: "traceId",
  span: "spanId",
};

function fieldTestOf(field: Field, filter: FieldFilter, compared: ComparedMembers): LanguageTest {
  const { test } = filter;
  if (field.kind === "column") throw new RangeError("Entries have fields and no columns.");
  if (field.kind === "data") {
    return { kind: "path", test: new PathTest(field.path, test, false, compared.of(field, test)) };
  }
  const passes = valueTestOf(field, test, 0);
  const steps = valueStepsOf(field, test, 0);
  const member = TEXT_COLUMNS[field.name];
  if (member !== undefined) {
    const column = FIRST_MEMBER_COLUMN + TEXT_MEMBERS.indexOf(member);
    const isLevel = field.name === "level";
    if (isLevel) return { kind: "texts", column, test: TextTest.listed(LEVELS.filter(passes)) };
    return { kind: "texts", column, test: textTestOf(test, passes, steps && ((text, meter) => steps([text], meter))) };
  }
  switch (field.name) {
    case "time":
      return numbers(TIME_COLUMN, filter, passes);
    case "received":
      return numbers(RECEIPT_COLUMN, filter, passes);
    case "seq":
      return { kind: "numbers", column: SEQ_COLUMN, testOf: always(numberTestOf(test, passes)) };
    case "project":
      return { kind: "project", passes };
    case "id":
      return { kind: "numbers", column: SEQ_COLUMN, testOf: idTestOf(filter, passes) };
    case "pattern":
      return { kind: "texts", column: MESSAGE_COLUMN, test: patternTestOf(test, passes, steps) };
    default:
      return resourceTestOf(field.name, filter);
  }
}

function numbers(column: number, filter: FieldFilter, passes: (value: unknown) => boolean): LanguageTest {
  const { test } = filter;
  const span = spanOf({ ...filter, field: { kind: "own", name: "time" } });
  const own =
    test.kind === "exists"
      ? EVERY_NUMBER
      : span.isExact
        ? NumberTest.span(span.from ?? Number.NEGATIVE_INFINITY, span.to ?? Number.POSITIVE_INFINITY)
        : NumberTest.where(passes, testsIn(test) * TEST_WORK);
  return { kind: "numbers", column, testOf: always(own) };
}

function always<T>(value: T): () => T {
  return () => value;
}

function patternTestOf(
  test: FieldFilter["test"],
  passes: (text: string) => boolean,
  steps: ValueSteps<readonly string[]> | null,
): TextTest | TextMatcher | null {
  if (test.kind === "exists") return TextTest.every;
  const testWork = testsIn(test) * TEST_WORK;
  const byteWork = testsIn(test) * TEXT_BYTE_WORK;
  const ofMessage: ValueSteps<string> = function* (text, meter) {
    meter.add(patternWorkOf(text));
    const pattern = patternOf(text);
    if (steps !== null) return yield* steps([pattern], meter);
    meter.add(testWork + pattern.length * byteWork);
    return passes(pattern);
  };
  return new TextMatcher(
    (text) => passes(patternOf(text)),
    TextFinder.of(constantPart(test)),
    TEXT_BYTE_WORK,
    ofMessage,
  );
}

/** Returns the literal of each message whose pattern passes: the longest text between the marks of the only pattern. */
function constantPart(test: FieldFilter["test"]): string {
  if (test.kind === "anyOf") {
    const [only] = test.tests;
    return only !== undefined && test.tests.length === 1 ? constantPart(only) : "";
  }
  return test.kind === "exact" || test.kind === "is" ? foldCase(constantPartOf(test.text)) : "";
}

/** Work units of a test of an id, which has 29 characters or more. */
const ID_WORK = 200;

function idTestOf(
  { test }: FieldFilter,
  passes: (value: unknown) => boolean,
): (projectId: string) => NumberTest | null {
  if (test.kind !== "exact")
    return (projectId) => NumberTest.where((seq) => passes(logId(projectId, seq)), ID_WORK * testsIn(test));
  const id = parseLogId(test.text);
  return (projectId) => (id?.projectId === projectId ? NumberTest.listed([id.seq]) : null);
}

/** A member of `data`, else one that OpenTelemetry names so. */
function resourceTestOf(name: string, { test }: FieldFilter): LanguageTest {
  const own = new PathTest([name], test, true);
  const isThere = new PathTest([name], { kind: "exists" }, true);
  const semantic = new PathTest([name, "name"], test);
  const instead: LanguageTest[] = [
    { kind: "not", test: { kind: "path", test: isThere } },
    { kind: "path", test: semantic },
  ];
  return {
    kind: "or",
    tests: [
      { kind: "path", test: own },
      { kind: "and", tests: instead },
    ],
  };
}

/** Returns the tests of a filter that compare members of `data` with numbers. */
export function comparisonsIn(test: LanguageTest): PathTest[] {
  switch (test.kind) {
    case "and":
    case "or":
      return test.tests.flatMap(comparisonsIn);
    case "not":
      return comparisonsIn(test.test);
    case "path":
      return test.test.compared === null ? [] : [test.test];
    default:
      return [];
  }
}
