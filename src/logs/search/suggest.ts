import { printField } from "../../query-language/fields.ts";
import { printFilter } from "../../query-language/print.ts";
import { type Field, LEVEL_NAMES, OWN_FIELDS } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import type { Completion } from "./completion.ts";
import { type SampledType, type SampledValue, sampledFields, sampledValues } from "./field-sample.ts";

/** A text that may be written at a place of a query. */
export interface Suggestion {
  text: string;
  kind: "field" | "value" | "operator" | "function" | "pipe" | "keyword" | "column";
  /** Type of a field's values. */
  type?: SampledType | "time" | "level";
  /** Entries of the basis that have the field or the value. */
  count?: number;
}

/** Suggestions of one answer. */
export const MAX_SUGGESTIONS = 50;

/** Whether the suggestions at a place depend on entries. */
export function needsEntries({ kind, columns }: Completion): boolean {
  return columns === null && (kind === "filter" || kind === "value" || kind === "key");
}

/**
 * Returns what may be written at a place, the likeliest first.
 * @param entries a sample of those that the rest of the query leaves
 * @param counts of the field's values, if they are stored; otherwise they are counted in the sample
 */
export function suggestionsAt(
  completion: Completion,
  entries: readonly Entry[],
  counts: readonly SampledValue[] | null,
): Suggestion[] {
  const all = candidates(completion, entries, counts);
  return matching(all, completion.typed).slice(0, MAX_SUGGESTIONS);
}

function candidates(
  { kind, columns, words, field, typed }: Completion,
  entries: readonly Entry[],
  counts: readonly SampledValue[] | null,
): Suggestion[] {
  switch (kind) {
    case "filter":
      return [...fields(columns, entries, ":"), ...(columns === null ? named("keyword", ["NOT"]) : [])];
    case "key":
      return [
        ...fields(columns, entries, ""),
        ...named("function", hasTime(columns) ? ["bin(1m)", "bin(5m)", "bin(1h)"] : []),
      ];
    case "value":
      return field === null ? [] : values(field, entries, counts, typed === "");
    case "function":
      return words.map((word) => ({ text: `${word}(`, kind: "function" }));
    case "pipe":
      return named("pipe", words);
    case "keyword":
      return named("keyword", words);
    case "duration":
      return named("value", DURATIONS);
    default:
      return [];
  }
}

const DURATIONS = ["15m", "1h", "6h", "1d", "7d"];

function named(kind: Suggestion["kind"], texts: readonly string[]): Suggestion[] {
  return texts.map((text) => ({ text, kind }));
}

function hasTime(columns: Completion["columns"]): boolean {
  return columns?.some(({ type }) => type === "time") ?? true;
}

/** @param end text after the name */
function fields(columns: Completion["columns"], entries: readonly Entry[], end: string): Suggestion[] {
  if (columns !== null) {
    return columns.map(({ name }) => ({ text: `${printField({ kind: "column", name })}${end}`, kind: "column" }));
  }
  const sampled = sampledFields(entries).map(({ field, type, count }): Suggestion => {
    const own = field.kind === "own" && field.name === "level" ? "level" : type;
    return { text: `${printField(field)}${end}`, kind: "field", type: own, count };
  });
  // Every entry has some fields that no member of it shows, and others may be absent from the sample.
  const texts = new Set(sampled.map(({ text }) => text));
  const others = OWN_FIELDS.filter((name) => !texts.has(`${name}${end}`)).map((name): Suggestion => {
    const type = name === "time" || name === "received" ? "time" : name === "seq" ? "number" : "string";
    return { text: `${name}${end}`, kind: "field", type };
  });
  return [...sampled, ...others];
}

/** @param isEmpty whether nothing is typed yet, so that operators may follow, too */
function values(
  field: Field,
  entries: readonly Entry[],
  counts: readonly SampledValue[] | null,
  isEmpty: boolean,
): Suggestion[] {
  if (field.kind === "own" && (field.name === "time" || field.name === "received")) {
    return [...named("value", DURATIONS), ...(isEmpty ? operators("time") : [])];
  }
  const sampled = sampledValues(entries, field);
  const type = field.kind === "own" && field.name === "level" ? "level" : sampled.type;
  const found = (counts ?? sampled.values).map(
    ({ text, count }): Suggestion => ({ text: valueText(field, text), kind: "value", count }),
  );
  const known = new Set(found.map(({ text }) => text));
  const levels =
    type === "level"
      ? named(
          "value",
          LEVEL_NAMES.filter((name) => !known.has(name)),
        )
      : [];
  return [...found, ...levels, ...(isEmpty ? operators(type) : [])];
}

/** Operators by the type of the values that they compare. */
function operators(type: SampledType | "time" | "level"): Suggestion[] {
  switch (type) {
    case "number":
    case "time":
    case "level":
      return named("operator", [">=", "<=", ">", "<", "*"]);
    case "boolean":
      return named("operator", ["*"]);
    default:
      return named("operator", ["*", "~/", "=", ...(type === "any" ? [">=", "<="] : [])]);
  }
}

/** Returns a value as it is written after the field and the colon. */
function valueText(field: Field, text: string): string {
  const written = printFilter({ kind: "field", field, test: { kind: "is", text } });
  return written.slice(printField(field).length + 1);
}

/** Returns suggestions that begin with what is typed, then those that contain it. */
function matching(suggestions: readonly Suggestion[], typed: string): Suggestion[] {
  const wanted = typed.replace(/^"/, "").toLowerCase();
  if (wanted === "") return [...suggestions];
  const place = ({ text }: Suggestion) => text.replace(/^"/, "").toLowerCase().indexOf(wanted);
  // What is typed already needs no suggestion, unless more follows.
  const others = suggestions.filter(({ text }) => text !== typed);
  return [...others.filter((each) => place(each) === 0), ...others.filter((each) => place(each) > 0)];
}
