import { printField } from "../../../../src/query-language/fields.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { print, printFilter } from "../../../../src/query-language/print.ts";
import type { Aggregate, Key, Pipe } from "../../../../src/query-language/syntax.ts";
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

/** Returns a title that a query suggests: what it makes, and of which entries. `Entries by level: "payment failed"` */
export function titleOf(query: string): string {
  const parsed = parse(query);
  if (!parsed.ok) return "";
  const { filter, pipes } = parsed.query;
  const making = pipes.filter(({ kind }) => kind !== "where" && kind !== "sort" && kind !== "limit");
  const [only] = making;
  // A table that is made of a table, and entries with others, have no short name.
  const made =
    (making.length === 1 && only && madeBy(only)) || print({ filter: { kind: "all" }, pipes: making }).slice(4);
  const title = made === "" ? "Entries" : made;
  const filters = pipes
    .slice(0, only ? pipes.indexOf(only) : undefined)
    .flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []));
  const shown = [filter, ...filters].filter(({ kind }) => kind !== "all");
  const of = shown.map((each) => printFilter(each, shown.length > 1 ? "and" : "whole"));
  const text = inWords(title, of.join(" ")).replaceAll(/\p{Cc}/gu, " ");
  return text.slice(0, BOARD_LIMITS.title).replace(/[\uD800-\uDBFF]$/, "");
}

const LEVELS: Readonly<Record<string, string>> = {
  "level:warn": "Warnings",
  "level:>=warn": "Warnings and errors",
  "level:>=error": "Errors",
};

/** One pattern of messages, with or without quotes. */
const PATTERN = /^pattern:=?("(?:[^"\\]|\\.)*"|\w[^\s"*]*)$/s;

/** Puts a filter into a title, in words if it is a level, one text or one pattern, whose placeholders become `…`. */
function inWords(title: string, filter: string): string {
  const [, level = "", rest = ""] = /^(level:\S+)(?: (.*))?$/s.exec(filter) ?? [];
  const isAll = title.startsWith("Entries") && !filter.includes(" OR ");
  const named = isAll ? LEVELS[level] : undefined;
  const made = named === undefined ? title : title.replace("Entries", named);
  const of = (named === undefined ? filter : rest)
    .replace(/^"([^"\\]*)"$/, "$1")
    .replace(PATTERN, (_, text: string) =>
      (text.startsWith('"') ? String(JSON.parse(text)) : text).replaceAll(/<(?:[A-Z0-9]+|\*)>/g, "…"),
    );
  return of === "" ? made : `${made}: ${of}`;
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
  const names = keys.flatMap((key) => (key.kind === "field" ? [printField(key.field)] : []));
  return names.length === 0 ? "" : ` by ${names.join(", ")}`;
}

/** Only a word of this file: the name of a field or an alias stays as written. */
function capitalized(text: string): string {
  return /^(entries|sum|average|least|highest|first|last|values|distinct|rate)\b/.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
}
