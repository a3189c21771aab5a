import { LogqlError, withPlace } from "./error.ts";
import { parseSelector } from "./parse-label-tests.ts";
import { isStage, parseStage } from "./parse-stages.ts";
import {
  ARITHMETIC,
  type BinaryOperator,
  COMPARISONS,
  type Grouping,
  type LogExpression,
  type LogqlExpression,
  type Matcher,
  type MetricExpression,
  RANGE_FUNCTIONS,
  type RangeAggregation,
  type RangeFunction,
  type Stage,
  type Unwrap,
  VECTOR_FUNCTIONS,
  type VectorFunction,
} from "./syntax.ts";
import { LOGQL_LIMITS, TokenReader, unsupported } from "./token-reader.ts";
import { durationOf } from "./units.ts";

/** Functions of LogQL that are not supported: an error names them. */
const OTHER_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["rate_counter", "stddev_over_time", "stdvar_over_time", "stddev", "stdvar", "sort", "sort_desc", "approx_topk"],
  ...["label_replace", "variants"],
]);
const NEED_UNWRAP: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["sum_over_time", "avg_over_time", "min_over_time", "max_over_time"] as const),
  ...(["first_over_time", "last_over_time", "quantile_over_time"] as const),
]);
const TAKE_UNWRAP: ReadonlySet<RangeFunction> = new Set<RangeFunction>([...NEED_UNWRAP, "rate", "absent_over_time"]);
const TAKE_GROUPING: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["avg_over_time", "min_over_time", "max_over_time", "first_over_time", "last_over_time"] as const),
  "quantile_over_time",
]);
const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  ...{ "==": 1, "!=": 1, ">": 1, ">=": 1, "<": 1, "<=": 1 },
  ...{ "+": 2, "-": 2, "*": 3, "/": 3, "%": 3, "^": 4 },
};
const SETS: ReadonlySet<string> = new Set(["and", "or", "unless"]);

/** Reads a query of LogQL. @throws LogqlError with the place in its message */
export function parseLogql(text: string): LogqlExpression {
  return parsedWhole(text, parseExpression);
}

/** Reads a selector alone, which may be empty. @throws LogqlError with the place in its message */
export function parseMatchers(text: string): Matcher[] {
  return parsedWhole(text, parseSelector);
}

function parsedWhole<T>(text: string, parse: (reader: TokenReader) => T): T {
  try {
    const reader = new TokenReader(text);
    const parsed = parse(reader);
    if (!reader.is("end")) throw reader.unexpected();
    return parsed;
  } catch (error) {
    throw error instanceof LogqlError ? withPlace(text, error) : error;
  }
}

function parseExpression(reader: TokenReader): LogqlExpression {
  if (startsLogs(reader)) return parseLogs(reader);
  return parseBinary(reader, 0);
}

/** Whether a selector follows, maybe in parentheses. */
function startsLogs(reader: TokenReader): boolean {
  let distance = 0;
  while (reader.peek(distance).kind === "symbol" && reader.peek(distance).text === "(") distance++;
  const { kind, text } = reader.peek(distance);
  return kind === "symbol" && text === "{";
}

function parseLogs(reader: TokenReader): LogExpression {
  return reader.nested(() => {
    if (reader.takesSymbol("(")) {
      const inner = parseLogs(reader);
      reader.expectSymbol(")");
      return withStages(reader, inner);
    }
    const { start } = reader.token;
    const matchers = parseSelector(reader);
    requireMatcher(matchers, start);
    return withStages(reader, { kind: "logs", matchers, stages: [] });
  });
}

function withStages(reader: TokenReader, { matchers, stages }: LogExpression): LogExpression {
  const all: Stage[] = [...stages];
  while (isStage(reader)) {
    const { start } = reader.token;
    const stage = parseStage(reader);
    if (stage.kind === "unwrap") throw new LogqlError("unwrap needs a range such as [5m] and a function", start);
    if (all.length >= LOGQL_LIMITS.stages) throw new LogqlError("too many stages", start);
    all.push(stage);
  }
  if (reader.is("range")) throw reader.unexpected();
  return { kind: "logs", matchers, stages: all };
}

/** As in Loki, a selector must not leave all entries of all streams. */
function requireMatcher(matchers: readonly Matcher[], position: number): void {
  const narrows = matchers.some(({ operator, value }) => {
    if (operator === "=") return value !== "";
    if (operator === "=~") return value !== "" && value !== ".*" && !/^(.*\|)?\|?$/.test(value);
    return false;
  });
  if (narrows) return;
  const message =
    "queries require at least one regexp or equality matcher that does not have an empty-compatible value";
  throw new LogqlError(`${message}, for instance {level=~".+"}`, position);
}

function binaryAt(reader: TokenReader): BinaryOperator | null {
  if (reader.token.kind !== "symbol") return null;
  return [...ARITHMETIC, ...COMPARISONS].find((each) => reader.isSymbol(each)) ?? null;
}

function parseBinary(reader: TokenReader, least: number): MetricExpression {
  return reader.nested(() => {
    let left = parseOperand(reader);
    for (;;) {
      const { token } = reader;
      if (token.kind === "name" && SETS.has(token.text)) throw unsupported(`the operator ${token.text}`, token.start);
      const operator = binaryAt(reader);
      if (operator === null || PRECEDENCE[operator] < least) return left;
      reader.next();
      const isBool = reader.takes("name", "bool");
      if (isBool && !isComparison(operator))
        throw new LogqlError("bool can only be used with comparison operators", token.start);
      const { token: modifier } = reader;
      if (modifier.kind === "name" && /^(on|ignoring|group_left|group_right)$/.test(modifier.text))
        throw unsupported(`the modifier ${modifier.text}`, modifier.start);
      // `^` binds to the right.
      const right = parseBinary(reader, PRECEDENCE[operator] + (operator === "^" ? 0 : 1));
      if (areVectors(left, right) && (isSeries(left) || isSeries(right)))
        throw unsupported(`${operator} between two vectors`, token.start);
      left = { kind: "binary", operator, isBool, left, right };
    }
  });
}

export function isComparison(operator: BinaryOperator): boolean {
  return COMPARISONS.some((each) => each === operator);
}

function areVectors(...operands: readonly MetricExpression[]): boolean {
  return operands.every((operand) => !isNumber(operand));
}

function isNumber(expression: MetricExpression): boolean {
  if (expression.kind === "binary") return isNumber(expression.left) && isNumber(expression.right);
  return expression.kind === "number";
}

/** Whether an expression reads entries. */
export function isSeries(expression: MetricExpression): boolean {
  switch (expression.kind) {
    case "range":
      return true;
    case "vector-aggregation":
      return isSeries(expression.of);
    case "binary":
      return isSeries(expression.left) || isSeries(expression.right);
    default:
      return false;
  }
}

function parseOperand(reader: TokenReader): MetricExpression {
  const { token } = reader;
  if (token.kind === "symbol" && token.text === "(") {
    reader.next();
    if (startsLogs(reader)) throw reader.unexpected("a metric");
    const inner = parseBinary(reader, 0);
    reader.expectSymbol(")");
    return inner;
  }
  if (token.kind === "number" || (token.kind === "symbol" && (token.text === "-" || token.text === "+")))
    return { kind: "number", value: parseNumber(reader) };
  if (token.kind !== "name") throw reader.unexpected("a selector or a function");
  if (OTHER_FUNCTIONS.has(token.text)) throw unsupported(`the function ${token.text}`, token.start);
  if (token.text === "vector") {
    reader.next();
    reader.expectSymbol("(");
    const value = parseNumber(reader);
    reader.expectSymbol(")");
    return { kind: "vector", value };
  }
  const range = RANGE_FUNCTIONS.find((each) => each === token.text);
  if (range !== undefined) return parseRangeAggregation(reader, range);
  const vector = VECTOR_FUNCTIONS.find((each) => each === token.text);
  if (vector !== undefined) return parseVectorAggregation(reader, vector);
  throw reader.unexpected("a selector or a function");
}

function parseNumber(reader: TokenReader): number {
  const sign = reader.isSymbol("-", "+") ? reader.next().text : "";
  const { text } = reader.expect("number");
  return sign === "-" ? -Number(text) : Number(text);
}

function parseVectorAggregation(reader: TokenReader, fn: VectorFunction): MetricExpression {
  const { start } = reader.next();
  let grouping = parseGrouping(reader);
  reader.expectSymbol("(");
  let parameter: number | null = null;
  if (reader.is("number") && reader.peek(1).text === ",") {
    const { text, start: at } = reader.next();
    parameter = Number(text);
    reader.next();
    if (fn !== "topk" && fn !== "bottomk")
      throw new LogqlError(`unsupported parameter for operation ${fn}(${text},`, at);
    if (!Number.isInteger(parameter) || parameter < 1)
      throw new LogqlError(`invalid parameter (must be greater than 0) ${fn}(${text}`, at);
  }
  if (parameter === null && (fn === "topk" || fn === "bottomk"))
    throw new LogqlError(`parameter required for operation ${fn}`, start);
  if (startsLogs(reader)) throw reader.unexpected("a metric");
  const of = parseBinary(reader, 0);
  reader.expectSymbol(")");
  if (grouping === null) grouping = parseGrouping(reader);
  if (isNumber(of)) throw new LogqlError(`${fn} needs a vector`, start);
  return { kind: "vector-aggregation", fn, parameter, of, grouping };
}

function parseGrouping(reader: TokenReader): Grouping | null {
  const isWithout = reader.is("name", "without");
  if (!isWithout && !reader.is("name", "by")) return null;
  reader.next();
  reader.expectSymbol("(");
  const labels: string[] = [];
  while (!reader.isSymbol(")")) {
    if (labels.length > 0) reader.expectSymbol(",");
    if (labels.length >= LOGQL_LIMITS.items) throw new LogqlError("too many labels", reader.token.start);
    labels.push(reader.expect("name").text);
  }
  reader.next();
  return { isWithout, labels };
}

function parseRangeAggregation(reader: TokenReader, fn: RangeFunction): RangeAggregation {
  const { start } = reader.next();
  let parameter: number | null = null;
  reader.expectSymbol("(");
  if (reader.is("number") || reader.isSymbol("-", "+")) {
    const { start: at } = reader.token;
    parameter = parseNumber(reader);
    reader.expectSymbol(",");
    if (fn !== "quantile_over_time")
      throw new LogqlError(`parameter ${parameter} not supported for operation ${fn}`, at);
  }
  if (parameter === null && fn === "quantile_over_time")
    throw new LogqlError(`parameter required for operation ${fn}`, start);
  const range = parseRange(reader);
  reader.expectSymbol(")");
  const { start: groupingStart } = reader.token;
  const grouping = parseGrouping(reader);
  if (grouping !== null && !TAKE_GROUPING.has(fn))
    throw new LogqlError(`grouping not allowed for ${fn} aggregation`, groupingStart);
  const { unwrap } = range;
  if (unwrap === null && NEED_UNWRAP.has(fn)) throw new LogqlError(`invalid aggregation ${fn} without unwrap`, start);
  if (unwrap !== null && !TAKE_UNWRAP.has(fn)) throw new LogqlError(`invalid aggregation ${fn} with unwrap`, start);
  return { kind: "range", fn, parameter, ...range, grouping };
}

type Range = Pick<RangeAggregation, "logs" | "unwrap" | "range" | "offset">;

/** Reads a selector with its stages and its range, which may be before, between or after them. */
function parseRange(reader: TokenReader): Range {
  return reader.nested(() => {
    let logs: LogExpression;
    let unwrap: Unwrap | null = null;
    let span: { range: number; offset: number } | null = null;
    if (reader.takesSymbol("(")) {
      const inner = parseRangeOrLogs(reader);
      reader.expectSymbol(")");
      ({ logs, unwrap, span } = inner);
    } else {
      const { start } = reader.token;
      const matchers = parseSelector(reader);
      requireMatcher(matchers, start);
      logs = { kind: "logs", matchers, stages: [] };
    }
    const read = parseRest(reader, { logs, unwrap, span });
    if (read.span === null) throw reader.unexpected("a range such as [5m]");
    return { logs: read.logs, unwrap: read.unwrap, ...read.span };
  });
}

interface OpenRange {
  logs: LogExpression;
  unwrap: Unwrap | null;
  span: { range: number; offset: number } | null;
}

function parseRangeOrLogs(reader: TokenReader): OpenRange {
  return reader.nested(() => {
    if (reader.takesSymbol("(")) {
      const inner = parseRangeOrLogs(reader);
      reader.expectSymbol(")");
      return parseRest(reader, inner);
    }
    const { start } = reader.token;
    const matchers = parseSelector(reader);
    requireMatcher(matchers, start);
    return parseRest(reader, { logs: { kind: "logs", matchers, stages: [] }, unwrap: null, span: null });
  });
}

function parseRest(reader: TokenReader, { logs, unwrap, span }: OpenRange): OpenRange {
  const stages = [...logs.stages];
  let [unwrapped, spanned] = [unwrap, span];
  for (;;) {
    if (reader.is("range") && spanned === null) {
      spanned = { range: durationOf(reader.next().text, true) ?? 0, offset: 0 };
      if (reader.takes("name", "offset")) spanned.offset = parseOffset(reader);
    } else if (isStage(reader)) {
      const { start } = reader.token;
      const stage = parseStage(reader);
      if (stages.length >= LOGQL_LIMITS.stages) throw new LogqlError("too many stages", start);
      if (stage.kind === "unwrap") {
        if (unwrapped !== null) throw new LogqlError("a metric has one unwrap", start);
        unwrapped = stage.unwrap;
      } else if (unwrapped === null) stages.push(stage);
      else if (stage.kind === "label") unwrapped = { ...unwrapped, tests: [...unwrapped.tests, stage.test] };
      else throw new LogqlError("only label filters may follow unwrap", start);
    } else return { logs: { ...logs, stages }, unwrap: unwrapped, span: spanned };
  }
}

function parseOffset(reader: TokenReader): number {
  const isNegative = reader.takesSymbol("-");
  const { token } = reader;
  const duration = token.kind === "unit" ? durationOf(token.text, true) : null;
  if (duration === null) throw reader.unexpected("a duration");
  reader.next();
  return isNegative ? -duration : duration;
}
