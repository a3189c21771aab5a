import { LogqlError, withPlace } from "./error.ts";
import { parseSelector } from "./parse-label-tests.ts";
import { parseGrouping, parseNumber, parseRangeAggregation, requireMatcher } from "./parse-range.ts";
import { isStage, parseStage } from "./parse-stages.ts";
import { isSetOperator } from "./series.ts";
import {
  ARITHMETIC,
  type BinaryOperator,
  COMPARISONS,
  type LogExpression,
  type LogqlExpression,
  type Matcher,
  type MetricExpression,
  RANGE_FUNCTIONS,
  SET_OPERATORS,
  type Stage,
  VECTOR_FUNCTIONS,
  type VectorFunction,
} from "./syntax.ts";
import { LOGQL_LIMITS, TokenReader, unsupported } from "./token-reader.ts";

/** Functions of LogQL that are not supported: an error names them. */
const OTHER_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["rate_counter", "stddev_over_time", "stdvar_over_time", "stddev", "stdvar", "sort", "sort_desc", "approx_topk"],
  ...["label_replace", "variants"],
]);
const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  ...{ or: 1, and: 2, unless: 2, "==": 3, "!=": 3, ">": 3, ">=": 3, "<": 3, "<=": 3 },
  ...{ "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "^": 6 },
};

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

function binaryAt(reader: TokenReader): BinaryOperator | null {
  if (reader.is("name")) return SET_OPERATORS.find((each) => reader.is("name", each)) ?? null;
  return [...ARITHMETIC, ...COMPARISONS].find((each) => reader.isSymbol(each)) ?? null;
}

function parseBinary(reader: TokenReader, least: number): MetricExpression {
  return reader.nested(() => {
    let left = parseOperand(reader);
    for (;;) {
      const { token } = reader;
      const operator = binaryAt(reader);
      if (operator === null || PRECEDENCE[operator] < least) return left;
      reader.countOperator();
      reader.next();
      const isBool = reader.takes("name", "bool");
      if (isBool && !isComparison(operator))
        throw new LogqlError("bool can only be used with comparison operators", token.start);
      const { token: modifier } = reader;
      if (modifier.kind === "name" && /^(on|ignoring|group_left|group_right)$/.test(modifier.text))
        throw unsupported(`the modifier ${modifier.text}`, modifier.start);
      // `^` binds to the right.
      const right = parseBinary(reader, PRECEDENCE[operator] + (operator === "^" ? 0 : 1));
      if (isSetOperator(operator) && !areVectors(left, right))
        throw new LogqlError(`unexpected literal for a leg of logical/set binary operation (${operator})`, token.start);
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
