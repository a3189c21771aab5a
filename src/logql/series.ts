import { type LabelSet, labelKey } from "./labels.ts";
import {
  type BinaryOperator,
  COMPARISONS,
  type Grouping,
  type MetricExpression,
  type NumberOperator,
  SET_OPERATORS,
  type SetOperator,
  type VectorFunction,
} from "./syntax.ts";

/** Values of one series by step. A step without a value is not the same as NaN. */
export interface Series {
  labels: LabelSet;
  values: Float64Array;
  /** 1 for each step with a value. */
  has: Uint8Array;
}

/** Returns the labels that a grouping leaves. */
export function groupedLabels(labels: LabelSet, grouping: Grouping | null): Map<string, string> {
  const left = new Map<string, string>();
  if (grouping === null) return left;
  const names = new Set(grouping.labels);
  for (const [name, value] of labels) if (names.has(name) !== grouping.isWithout && value !== "") left.set(name, value);
  return left;
}

/** Series of one value at each step. */
export function constantSeries(value: number, steps: number): Series {
  return { labels: new Map(), values: new Float64Array(steps).fill(value), has: new Uint8Array(steps).fill(1) };
}

function emptySeries(labels: LabelSet, steps: number): Series {
  return { labels, values: new Float64Array(steps), has: new Uint8Array(steps) };
}

/** Aggregates series at each step. Series are in the order of their labels, so that results are the same each time. */
export function aggregateSeries(
  series: readonly Series[],
  fn: VectorFunction,
  parameter: number | null,
  grouping: Grouping | null,
  steps: number,
): Series[] {
  const groups = new Map<string, { labels: LabelSet; members: Series[] }>();
  for (const each of series) {
    const labels = groupedLabels(each.labels, grouping);
    const key = labelKey(labels);
    const group = groups.get(key) ?? { labels, members: [] };
    group.members.push(each);
    groups.set(key, group);
  }
  if (fn === "topk" || fn === "bottomk")
    return [...groups.values()].flatMap(({ members }) => firstSeries(members, fn, parameter ?? 1, steps));
  return [...groups.values()].map(({ labels, members }) => combined(labels, members, fn, steps));
}

function combined(
  labels: LabelSet,
  members: readonly Series[],
  fn: Exclude<VectorFunction, "topk" | "bottomk">,
  steps: number,
): Series {
  const result = emptySeries(labels, steps);
  const counts = new Int32Array(steps);
  for (const { values, has } of members) {
    for (let step = 0; step < steps; step++) {
      if (has[step] === 0) continue;
      const value = values[step] ?? 0;
      const count = (counts[step] ?? 0) + 1;
      counts[step] = count;
      const before = result.values[step] ?? 0;
      result.has[step] = 1;
      result.values[step] = count === 1 ? (fn === "count" ? 1 : value) : next(fn, before, value, count);
    }
  }
  return result;
}

function next(fn: Exclude<VectorFunction, "topk" | "bottomk">, before: number, value: number, count: number): number {
  switch (fn) {
    case "sum":
      return before + value;
    case "avg":
      return before + (value - before) / count;
    case "max":
      return before < value || Number.isNaN(before) ? value : before;
    case "min":
      return before > value || Number.isNaN(before) ? value : before;
    case "count":
      return count;
  }
}

function firstSeries(members: readonly Series[], fn: "topk" | "bottomk", count: number, steps: number): Series[] {
  const results = members.map(({ labels }) => emptySeries(labels, steps));
  const sign = fn === "topk" ? -1 : 1;
  for (let step = 0; step < steps; step++) {
    const present = members.flatMap(({ has, values }, at) =>
      has[step] === 1 ? [{ at, value: values[step] ?? 0 }] : [],
    );
    // NaN comes last.
    const order = (a: number, b: number) => (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : sign * (a - b));
    present.sort((a, b) => order(a.value, b.value) || a.at - b.at);
    for (const { at, value } of present.slice(0, count)) {
      const result = results[at];
      if (result === undefined) continue;
      result.values[step] = value;
      result.has[step] = 1;
    }
  }
  return results.filter(({ has }) => has.includes(1));
}

/** Computes `left operator right` of two numbers; comparisons are 1 or 0. */
export function compute(operator: NumberOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? Number.NaN : left / right;
    case "%":
      return right === 0 ? Number.NaN : left % right;
    case "^":
      return left ** right;
    case "==":
      return Number(left === right);
    case "!=":
      return Number(left !== right);
    case ">":
      return Number(left > right);
    case ">=":
      return Number(left >= right);
    case "<":
      return Number(left < right);
    case "<=":
      return Number(left <= right);
  }
}

/** A value of an expression: a number, or series. */
export type MetricValue = { kind: "number"; value: number } | { kind: "series"; series: Series[] };

/**
 * Evaluates an expression.
 * @param rangeOf returns the series of a range aggregation
 */
export function evaluate(
  expression: MetricExpression,
  steps: number,
  rangeOf: (expression: Extract<MetricExpression, { kind: "range" }>) => Series[],
): MetricValue {
  switch (expression.kind) {
    case "number":
      return { kind: "number", value: expression.value };
    case "vector":
      return { kind: "series", series: [constantSeries(expression.value, steps)] };
    case "range":
      return { kind: "series", series: rangeOf(expression) };
    case "vector-aggregation": {
      const of = evaluate(expression.of, steps, rangeOf);
      const series = of.kind === "number" ? [constantSeries(of.value, steps)] : of.series;
      const { fn, parameter, grouping } = expression;
      return { kind: "series", series: aggregateSeries(series, fn, parameter, grouping, steps) };
    }
    case "binary": {
      const left = evaluate(expression.left, steps, rangeOf);
      const right = evaluate(expression.right, steps, rangeOf);
      return combine(expression, left, right, steps);
    }
  }
}

function combine(
  { operator, isBool }: Extract<MetricExpression, { kind: "binary" }>,
  left: MetricValue,
  right: MetricValue,
  steps: number,
): MetricValue {
  if (isSetOperator(operator)) {
    const [a, b] = [left, right].map((value) => (value.kind === "series" ? value.series : []));
    return { kind: "series", series: chosen(operator, a ?? [], b ?? [], steps) };
  }
  const isFilter = !isBool && COMPARISONS.some((each) => each === operator);
  if (left.kind === "number" && right.kind === "number")
    return { kind: "number", value: compute(operator, left.value, right.value) };
  const base = left.kind === "series" ? left.series : right.kind === "series" ? right.series : [];
  const others = right.kind === "series" && right.series !== base ? byLabels(right.series) : null;
  const operandAt = (value: MetricValue, own: Series, step: number): number | null => {
    if (value.kind === "number") return value.value;
    if (value.series === base) return own.values[step] ?? 0;
    const other = others?.get(labelKey(own.labels));
    return other === undefined || other.has[step] === 0 ? null : (other.values[step] ?? 0);
  };
  const series = base.map((own) => {
    const result = emptySeries(own.labels, steps);
    for (let step = 0; step < steps; step++) {
      if (own.has[step] === 0) continue;
      const [a, b] = [operandAt(left, own, step), operandAt(right, own, step)];
      if (a === null || b === null) continue;
      const value = compute(operator, a, b);
      if (isFilter && value === 0) continue;
      result.has[step] = 1;
      result.values[step] = isFilter ? (own.values[step] ?? 0) : value;
    }
    return result;
  });
  return { kind: "series", series: series.filter(({ has }) => has.includes(1)) };
}

export function isSetOperator(operator: BinaryOperator): operator is SetOperator {
  return SET_OPERATORS.some((each) => each === operator);
}

function byLabels(series: readonly Series[]): Map<string, Series> {
  return new Map(series.map((each) => [labelKey(each.labels), each]));
}

/** Chooses at each step: `and` what both have, `unless` what only the left one has, `or` also what only the right one has. */
function chosen(operator: SetOperator, left: readonly Series[], right: readonly Series[], steps: number): Series[] {
  const [lefts, rights] = [byLabels(left), byLabels(right)];
  const kept = (own: Series, isKept: (step: number) => boolean): Series => {
    const result = emptySeries(own.labels, steps);
    for (let step = 0; step < steps; step++) {
      if (own.has[step] === 0 || !isKept(step)) continue;
      result.has[step] = 1;
      result.values[step] = own.values[step] ?? 0;
    }
    return result;
  };
  if (operator !== "or") {
    const wanted = operator === "and" ? 1 : 0;
    const own = [...lefts].map(([key, each]) => kept(each, (step) => (rights.get(key)?.has[step] ?? 0) === wanted));
    return own.filter(({ has }) => has.includes(1));
  }
  for (const [key, each] of rights) {
    const own = lefts.get(key);
    if (own === undefined) {
      lefts.set(key, each);
      continue;
    }
    const both = kept(own, () => true);
    for (let step = 0; step < steps; step++) {
      if (both.has[step] === 1 || each.has[step] === 0) continue;
      both.has[step] = 1;
      both.values[step] = each.values[step] ?? 0;
    }
    lefts.set(key, both);
  }
  return [...lefts.values()];
}

/** Writes a value as Prometheus does: without an exponent. */
export function printValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = "", first = "", rest = "", exponent = "0"] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, "0");
}
