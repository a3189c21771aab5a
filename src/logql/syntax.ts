/**
 * The abstract syntax of LogQL, as far as it is supported: plain data. `parseLogql` produces it, `printLogql` writes it as
 * text. Durations are nanoseconds.
 */

export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** A test of a label's whole value. A missing label has the empty value. */
export interface Matcher {
  name: string;
  operator: MatchOperator;
  value: string;
}

export type LineOperator = "|=" | "!=" | "|~" | "!~";

/** A test of the line. The line passes `|=` and `|~` with any of the texts, `!=` and `!~` with none of them. */
export interface LineFilter {
  kind: "line";
  operator: LineOperator;
  texts: string[];
}

export type CompareOperator = "=" | "!=" | ">" | ">=" | "<" | "<=";

/** A test of labels. */
export type LabelTest =
  | { kind: "match"; matcher: Matcher }
  /** `number` is the value of the text: nanoseconds of a duration, bytes of a size. */
  | {
      kind: "compare";
      name: string;
      operator: CompareOperator;
      unit: "number" | "duration" | "bytes";
      number: number;
      text: string;
    }
  | { kind: "and" | "or"; left: LabelTest; right: LabelTest };

/** A label that a parser extracts, and what it reads. */
export interface Extraction {
  label: string;
  /** Names, and numbers for the elements of arrays. */
  path: (string | number)[];
  text: string;
}

/** A part of a template: a text as it is, or an action. */
export type TemplatePart = { kind: "text"; text: string } | { kind: "action"; calls: TemplateCall[] };

/** The result of a call is the last argument of the next one. */
export interface TemplateCall {
  /** `value`: the single argument is the result. */
  name: string;
  args: TemplateArgument[];
}

export type TemplateArgument =
  | { kind: "field"; name: string }
  | { kind: "string"; text: string }
  | { kind: "number"; value: number };

export interface Template {
  text: string;
  parts: TemplatePart[];
}

/** What `label_format` sets a label to: another label, which goes, or a template. */
export type LabelFormat = { label: string; from: string } | { label: string; template: Template };

/** Labels that `drop` and `keep` name; with a matcher only if their value passes. */
export type NamedLabel = { name: string; matcher: Matcher | null };

export type Conversion = "number" | "duration" | "bytes";

export type Stage =
  | LineFilter
  | { kind: "json"; extractions: Extraction[] }
  | { kind: "logfmt"; isStrict: boolean; keepsEmpty: boolean; extractions: Extraction[] }
  | { kind: "label"; test: LabelTest }
  | { kind: "line_format"; template: Template }
  | { kind: "label_format"; formats: LabelFormat[] }
  | { kind: "drop" | "keep"; labels: NamedLabel[] };

/** Entries that a selector and stages leave. */
export interface LogExpression {
  kind: "logs";
  matchers: Matcher[];
  stages: Stage[];
}

/** The label whose value is a sample. `tests` follow the conversion, and can test its error. */
export interface Unwrap {
  label: string;
  conversion: Conversion;
  tests: LabelTest[];
}

export interface Grouping {
  isWithout: boolean;
  labels: string[];
}

export const RANGE_FUNCTIONS = [
  "rate",
  "count_over_time",
  "bytes_rate",
  "bytes_over_time",
  "absent_over_time",
  "sum_over_time",
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "first_over_time",
  "last_over_time",
  "quantile_over_time",
] as const;
export type RangeFunction = (typeof RANGE_FUNCTIONS)[number];

export const VECTOR_FUNCTIONS = ["sum", "avg", "min", "max", "count", "topk", "bottomk"] as const;
export type VectorFunction = (typeof VECTOR_FUNCTIONS)[number];

export const ARITHMETIC = ["+", "-", "*", "/", "%", "^"] as const;
export const COMPARISONS = ["==", "!=", ">", ">=", "<", "<="] as const;
/** Operators on numbers. */
export type NumberOperator = (typeof ARITHMETIC)[number] | (typeof COMPARISONS)[number];
/** Operators that choose between the series of two vectors. */
export const SET_OPERATORS = ["and", "or", "unless"] as const;
export type SetOperator = (typeof SET_OPERATORS)[number];
export type BinaryOperator = NumberOperator | SetOperator;

export interface RangeAggregation {
  kind: "range";
  fn: RangeFunction;
  /** Of `quantile_over_time`, 0 to 1; else `null`. */
  parameter: number | null;
  logs: LogExpression;
  unwrap: Unwrap | null;
  range: number;
  offset: number;
  grouping: Grouping | null;
}

export type MetricExpression =
  | RangeAggregation
  | {
      kind: "vector-aggregation";
      fn: VectorFunction;
      /** Of `topk` and `bottomk`, at least 1; else `null`. */
      parameter: number | null;
      of: MetricExpression;
      /** `null`: one group, without labels. */
      grouping: Grouping | null;
    }
  /** Of two vectors, series with the same labels belong together. `isBool`: comparisons return 0 or 1. */
  | { kind: "binary"; operator: BinaryOperator; isBool: boolean; left: MetricExpression; right: MetricExpression }
  | { kind: "number"; value: number }
  | { kind: "vector"; value: number };

export type LogqlExpression = LogExpression | MetricExpression;
