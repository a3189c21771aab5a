import { LogqlError } from "./error.ts";
import { parseSelector } from "./parse-label-tests.ts";
import { isStage, parseStage } from "./parse-stages.ts";
import type { Grouping, LogExpression, Matcher, RangeAggregation, RangeFunction, Unwrap } from "./syntax.ts";
import { LOGQL_LIMITS, type TokenReader } from "./token-reader.ts";
import { durationOf } from "./units.ts";

const NEED_UNWRAP: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["sum_over_time", "avg_over_time", "min_over_time", "max_over_time"] as const),
  ...(["first_over_time", "last_over_time", "quantile_over_time"] as const),
]);
const TAKE_UNWRAP: ReadonlySet<RangeFunction> = new Set<RangeFunction>([...NEED_UNWRAP, "rate", "absent_over_time"]);
const TAKE_GROUPING: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["avg_over_time", "min_over_time", "max_over_time", "first_over_time", "last_over_time"] as const),
  "quantile_over_time",
]);

/** As in Loki, a selector must not leave all entries of all streams. */
export function requireMatcher(matchers: readonly Matcher[], position: number): void {
  if (matchers.some(isNarrow)) return;
  const message =
    "queries require at least one regexp or equality matcher that does not have an empty-compatible value";
  throw new LogqlError(`${message}, for instance {level=~".+"}`, position);
}

/** Whether streams without the label do not match. */
function isNarrow({ operator, value }: Matcher): boolean {
  const isEmpty = operator === "=" || operator === "!=" ? value === "" : /^(?:\.\*|(?:.*\|)?\|?)$/.test(value);
  return operator === "=" || operator === "=~" ? !isEmpty : isEmpty;
}

/** Reads a number with or without a sign. @throws LogqlError */
export function parseNumber(reader: TokenReader): number {
  const sign = reader.isSymbol("-", "+") ? reader.next().text : "";
  const { text } = reader.expect("number");
  return sign === "-" ? -Number(text) : Number(text);
}

/** Reads `by (a, b)` or `without (a)`; `null` without one. @throws LogqlError */
export function parseGrouping(reader: TokenReader): Grouping | null {
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

/** Reads a function of a range, from its name on. @throws LogqlError */
export function parseRangeAggregation(reader: TokenReader, fn: RangeFunction): RangeAggregation {
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
