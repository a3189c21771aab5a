import { type Completion, completionAt } from "../../../../../src/logs/search/completion.ts";
import { printField } from "../../../../../src/query-language/fields.ts";
import { printFilter } from "../../../../../src/query-language/print.ts";
import type { Field } from "../../../../../src/query-language/syntax.ts";
import type { FieldFacts } from "../fields/field-facts.ts";
import type { LoadedFields } from "../fields/loaded-fields.ts";
import type { Times } from "../view/range.ts";
import { type Basis, SHOWN, type Suggestion, type Suggestions } from "./suggestions.ts";

/** A text that is being written. */
interface Typed {
  query: string;
  position: number;
}

/**
 * Adds the names and values that the list of fields has loaded to the suggestions of the service, which has looked at the newest
 * entries. If the list counts the same entries, its counts come first, also before the service answers; otherwise what it adds has
 * no counts.
 * @param times of what is typed
 */
export function withLoaded(
  typed: Typed,
  suggested: Suggestions | null,
  loaded: LoadedFields | null,
  times: Times,
): Suggestions | null {
  if (loaded === null) return suggested;
  const place = completionAt(typed.query, typed.position);
  const items = matching(loadedAt(place, loaded.fields.fields), place.typed);
  const isExact = countsSame(place, loaded, times);
  if (items.length === 0 || (suggested === null && !isExact)) return suggested;
  const { start, end } = place;
  const own: Suggestions = { query: typed.query, start, end, items, basis: basisOf(loaded) };
  if (suggested === null) return { ...own, items: items.slice(0, SHOWN) };
  if (suggested.start !== start || suggested.end !== end) return suggested;
  const [first, second] = isExact ? [own, suggested] : [suggested, own];
  const known = new Set(first.items.map(({ text }) => text));
  const others = second.items.filter(({ text }) => !known.has(text)).map(({ count: _, ...item }) => item);
  return { ...first, items: [...first.items, ...others].slice(0, SHOWN) };
}

/** Names of the loaded fields for a box without a text, the most frequent first. */
export function fieldsToBegin({ fields: { fields } }: LoadedFields): Suggestion[] {
  return named(fields, ":").map(({ count: _, ...item }) => item);
}

function basisOf({ fields: { matched, complete } }: LoadedFields): Basis {
  return { kind: complete ? "counts" : "sample", entries: matched, complete };
}

/** Whether the list of fields counts the entries that the rest of a query leaves. */
function countsSame({ filter }: Completion, loaded: LoadedFields, { from, to }: Times): boolean {
  const { times } = loaded.scope;
  const rest = filter.kind === "all" ? "*" : printFilter(filter);
  return rest === loaded.filter && times.from === from && times.to === to;
}

function loadedAt({ kind, columns, field }: Completion, fields: readonly FieldFacts[]): Suggestion[] {
  if (kind === "value" && field !== null) {
    const name = printField(field);
    const facts = fields.find((each) => each.name === name);
    return (facts?.values ?? []).map(({ value, count }) => {
      return { text: valueText(field, String(value)), kind: "value", count };
    });
  }
  if (columns !== null || (kind !== "filter" && kind !== "key")) return [];
  return named(fields, kind === "filter" ? ":" : "");
}

/** @param end text after the name */
function named(fields: readonly FieldFacts[], end: string): Suggestion[] {
  return fields.map(({ name, type, entries }): Suggestion => {
    const shown = name === "level" ? "level" : type === "mixed" ? "any" : type;
    return { text: `${name}${end}`, kind: "field", type: shown, count: entries };
  });
}

/** Returns a value as it is written after the field and the colon. */
function valueText(field: Field, text: string): string {
  return printFilter({ kind: "field", field, test: { kind: "is", text } }).slice(printField(field).length + 1);
}

/** Suggestions that begin with what is typed, then those that contain it. */
function matching(items: readonly Suggestion[], typed: string): Suggestion[] {
  const wanted = typed.replace(/^"/, "").toLowerCase();
  const place = ({ text }: Suggestion): number => text.replace(/^"/, "").toLowerCase().indexOf(wanted);
  const others = items.filter(({ text }) => text !== typed);
  return [...others.filter((each) => place(each) === 0), ...others.filter((each) => place(each) > 0)];
}
