import { printField } from "./fields.ts";
import type { Aggregate, Filter, Key, Pipe, Query, Regex, Scalar, TextTest, ValueTest } from "./syntax.ts";
import { printDuration, printTime } from "./values.ts";

/** Writes a query as text that `parse` reads as the same query. */
export function print({ filter, pipes }: Query): string {
  return [printFilter(filter), ...pipes.map(printPipe)].join(" | ");
}

/** Like `print`, with each pipe on a separate line. */
export function format({ filter, pipes }: Query): string {
  return [printFilter(filter), ...pipes.map(printPipe)].join("\n| ");
}

/** @param within what the filter is a part of, which decides whether it needs parentheses */
export function printFilter(filter: Filter, within: "whole" | "and" | "or" | "not" = "whole"): string {
  switch (filter.kind) {
    case "all":
      return "*";
    case "text": {
      const text = printText(filter.test);
      return within === "not" && text.startsWith("-") ? `(${text})` : text;
    }
    case "field":
      return `${printField(filter.field)}:${printTest(filter.test)}`;
    case "not": {
      const text = `-${printFilter(filter.filter, "not")}`;
      // Two minus signs are text.
      return within === "not" ? `(${text})` : text;
    }
    default: {
      const { kind, filters } = filter;
      const text = filters.map((each) => printFilter(each, kind)).join(kind === "or" ? " OR " : " ");
      return within === "whole" || (within === "or" && kind === "and") ? text : `(${text})`;
    }
  }
}

/** Texts that need no quotes. The characters of operators, names and wildcards are not among theirs. */
const PLAIN_TEXT = /^(?!-|(?:AND|OR|NOT)$)[\p{L}\p{N}_.@$#%&/+?;'^[\]{}-]+$/u;
/** The same for values, which a colon does not end. After the colon of the field, these would make the whole a text. */
const PLAIN_VALUE = /^(?!(?:AND|OR|NOT)$|:|\/\/)(?!.*\.\.)[\p{L}\p{N}_.@$#%&/+?;'^[\]{}:-]+$/u;
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

function quoted(text: string, plain: RegExp): string {
  return plain.test(text) ? text : JSON.stringify(text);
}

function printText(test: TextTest): string {
  if (test.kind === "contains") return quoted(test.text, PLAIN_TEXT);
  return test.kind === "wildcard" ? test.pattern : printRegex(test);
}

function printRegex({ source, ignoreCase }: Regex): string {
  const escaped = source.replaceAll(/\\[\s\S]|\//g, (part) => (part === "/" ? "\\/" : part));
  return `~/${escaped}/${ignoreCase ? "i" : ""}`;
}

function printTest(test: ValueTest): string {
  switch (test.kind) {
    case "is":
      return quoted(test.text, PLAIN_VALUE);
    case "exact":
      return `=${quoted(test.text, PLAIN_VALUE)}`;
    case "exists":
      return "*";
    case "compare":
      return `${test.operator}${printScalar(test.value)}`;
    case "range":
      return `${printScalar(test.from)}..${printScalar(test.to)}`;
    case "during":
      return printTime(test.time);
    case "anyOf":
      return `(${test.tests.map(printTest).join(" OR ")})`;
    case "wildcard":
      return /^(?::|\/\/)/.test(test.pattern) ? `(${test.pattern})` : test.pattern;
    case "regex":
      return printRegex(test);
  }
}

function printScalar(scalar: Scalar): string {
  switch (scalar.kind) {
    case "number":
      return String(scalar.value);
    case "level":
      return scalar.level;
    case "time":
      return printTime(scalar.time);
  }
}

function printPipe(pipe: Pipe): string {
  switch (pipe.kind) {
    case "where":
      return `where ${printFilter(pipe.filter)}`;
    case "count":
      return `count${printBy(pipe.by)}`;
    case "stats":
      return `stats ${pipe.aggregates.map(printAggregate).join(", ")}${printBy(pipe.by)}`;
    case "top":
    case "rare":
      return `${pipe.kind}${printCount(pipe.limit)}${printBy(pipe.by)}`;
    case "patterns":
      return `patterns${printCount(pipe.limit)}${pipe.versus === null ? "" : ` vs ${printDuration(pipe.versus)}`}`;
    case "facets":
      return `facets${printCount(pipe.limit)}`;
    case "fields":
      return `fields ${pipe.fields.map(printField).join(", ")}`;
    case "sort":
      return `sort ${printField(pipe.by)}${pipe.order === "desc" ? " desc" : ""}`;
    case "limit":
      return `limit ${pipe.limit}`;
    case "context":
      return `context ${pipe.entries}`;
  }
}

function printCount(count: number | null): string {
  return count === null ? "" : ` ${count}`;
}

function printBy(by: readonly Key[]): string {
  if (by.length === 0) return "";
  return ` by ${by.map((key) => (key.kind === "bin" ? `bin(${printDuration(key.ms)})` : printField(key.field))).join(", ")}`;
}

function printAggregate({ fn, field, as }: Aggregate): string {
  const call = `${fn}(${field === null ? "" : printField(field)})`;
  return as === null ? call : `${call} as ${quoted(as, PLAIN_NAME)}`;
}
