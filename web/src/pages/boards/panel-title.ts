import { printField } from "../../../../src/query-language/fields.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { print, printFilter } from "../../../../src/query-language/print.ts";
import { type Aggregate, type Filter, joined, type Key, type Pipe } from "../../../../src/query-language/syntax.ts";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";

/** Aggregates whose name in a title differs from the one in a query. */
const WORDS: Partial<Record<Aggregate["fn"], string>> = {
  count_distinct: "Distinct",
  sum: "Sum of",
  avg: "Average of",
  min: "Least",
  max: "Highest",
  first: "First",
  last: "Last",
  values: "Values of",
};

/** Returns a title that a query suggests: what it makes, and of which entries. `Errors of payments with “nordpay” by service` */
export function titleOf(query: string): string {
  const parsed = parse(query);
  if (!parsed.ok) return "";
  const { filter, pipes } = parsed.query;
  const making = pipes.filter(({ kind }) => kind !== "where" && kind !== "sort" && kind !== "limit");
  const [only] = making;
  const filters = pipes
    .slice(0, only ? pipes.indexOf(only) : undefined)
    .flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []));
  const shown = [filter, ...filters].filter(({ kind }) => kind !== "all");
  const text = titleFor(making, shown).replaceAll(/\p{Cc}/gu, " ");
  return text.slice(0, BOARD_LIMITS.title).replace(/[\uD800-\uDBFF]$/, "");
}

function titleFor(making: readonly Pipe[], shown: readonly Filter[]): string {
  const [only] = making;
  const entries = entriesIn(shown);
  const counted = making.length === 0 ? [] : making.length === 1 && only ? countedBy(only) : null;
  if (counted !== null && entries !== null) {
    // One level is no group.
    const keys = entries.isOneLevel ? counted.filter((key) => key.kind === "bin" || nameOf(key) !== "level") : counted;
    return `${firstUpper(entries.text)}${by(keys)}`;
  }
  // A table that is made of a table, and entries with others, have no short name.
  const made =
    (making.length === 1 && only && madeBy(only)) || print({ filter: { kind: "all" }, pipes: [...making] }).slice(4);
  const title = made === "" ? "Entries" : made;
  if (shown.length === 0) return title;
  const of = shown.map((each) => printFilter(each, shown.length > 1 ? "and" : "whole"));
  return `${title}: ${entries?.text ?? of.join(" ")}`;
}

/** Words for the entries of some levels, by the test as `print` writes it. */
const LEVELS: Readonly<Record<string, string>> = {
  "level:warn": "warnings",
  "level:error": "errors",
  "level:>=warn": "warnings and errors",
  "level:>=error": "errors",
};

const WITH = "with ";

/** Says in words which entries pass all filters: `errors of payments with “nordpay”`; `null` if only a query can. */
function entriesIn(filters: readonly Filter[]): { text: string; isOneLevel: boolean } | null {
  const all = joined("and", filters);
  const tests = all.kind === "and" ? all.filters : [all];
  const isLevel = (test: Filter): boolean => LEVELS[printFilter(test)] !== undefined;
  const levels = tests.filter(isLevel);
  const words = tests.filter((test) => !isLevel(test)).map(testInWords);
  if (levels.length > 1 || words.includes(null)) return null;
  const level = levels[0] && printFilter(levels[0]);
  const starting = (start: string) => words.flatMap((word) => (word?.startsWith(start) ? [word] : []));
  const parts = starting(WITH).map((word) => word.slice(WITH.length));
  const what = (level && LEVELS[level]) ?? "entries";
  const text = [what, ...starting("of "), ...starting("on "), ...starting("like ")].join(" ");
  return {
    text: parts.length === 0 ? text : `${text} ${WITH}${parts.join(" and ")}`,
    // Fatal entries are errors, too.
    isOneLevel: level !== undefined && level !== "level:>=warn",
  };
}

/** `of payments`, `on web-1`, `with status 502`, `with “nordpay”`; placeholders of a pattern become `…`. */
function testInWords(filter: Filter): string | null {
  if (filter.kind === "text") return filter.test.kind === "contains" ? `${WITH}“${filter.test.text}”` : null;
  if (filter.kind !== "field" || (filter.test.kind !== "is" && filter.test.kind !== "exact")) return null;
  const { text } = filter.test;
  switch (printField(filter.field)) {
    case "level":
    case "time":
    case "received":
      return null;
    case "service":
      return `of ${text}`;
    case "host":
      return `on ${text}`;
    case "pattern":
      return `like “${text.replaceAll(/<(?:[A-Z0-9]+|\*)>/g, "…")}”`;
    default:
      return `${WITH}${printField(filter.field)} ${text}`;
  }
}

/** Returns the keys by which a pipe counts entries; `null` if it makes other values. */
function countedBy(pipe: Pipe): readonly Key[] | null {
  if (pipe.kind === "count") return pipe.by;
  if (pipe.kind !== "stats" || pipe.aggregates.length > 1) return null;
  const [only] = pipe.aggregates;
  return only?.fn === "count" && only.field === null && only.as === null ? pipe.by : null;
}

function madeBy(pipe: Pipe): string | null {
  switch (pipe.kind) {
    case "count":
      return `Entries${by(pipe.by)}`;
    case "stats":
      return capitalized(`${pipe.aggregates.map(aggregateTitle).join(", ")}${by(pipe.by)}`);
    case "top":
      return `Top${pipe.limit === null ? "" : ` ${pipe.limit}`}${by(pipe.by)}`;
    case "rare":
      return `Rarest${pipe.limit === null ? "" : ` ${pipe.limit}`}${by(pipe.by)}`;
    case "patterns":
      return pipe.versus === null ? "Top patterns" : null;
    case "facets":
      return "Fields";
    default:
      return null;
  }
}

function aggregateTitle({ fn, field, as }: Aggregate): string {
  if (as !== null) return as;
  if (fn === "rate") return field === null ? "entries per second" : `rate of ${printField(field)}`;
  if (field === null) return "entries";
  const word = WORDS[fn] ?? (fn === "count" ? "Entries with" : `${fn} of`);
  return `${word.toLowerCase()} ${printField(field)}`;
}

/** Spans of time are the axis of the chart, and no part of its title. */
function by(keys: readonly Key[]): string {
  const names = keys.flatMap((key) => (key.kind === "field" ? [nameOf(key)] : []));
  return names.length === 0 ? "" : ` by ${names.join(", ")}`;
}

function nameOf(key: Extract<Key, { kind: "field" }>): string {
  return printField(key.field);
}

/** Only a word of this file: the name of a field or an alias stays as written. */
function capitalized(text: string): string {
  return /^(entries|sum|average|least|highest|first|last|values|distinct|rate)\b/.test(text) ? firstUpper(text) : text;
}

function firstUpper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
