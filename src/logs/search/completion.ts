import { analyze, parse, placeAt } from "../../query-language/parse.ts";
import type { Place, Token } from "../../query-language/reader.ts";
import { type Field, type Filter, joined, type Pipe } from "../../query-language/syntax.ts";

/** What is being written at a place of a query. Positions are UTF-16 offsets. */
export interface Completion {
  kind: Place["kind"];
  /** A suggestion replaces the text from `start` to `end`. */
  start: number;
  end: number;
  /** The text from `start` to the position. */
  typed: string;
  /** The field whose value is written. */
  field: Field | null;
  /** Columns of the table before the pipe; `null`: entries. */
  columns: Place["columns"];
  words: readonly string[];
  /** What the rest of the query leaves of all entries. */
  filter: Filter;
}

const ALL: Filter = { kind: "all" };
/** Operators before a value. The value alone is completed. */
const OPERATOR = /^(?:>=|<=|>|<|=)/;
/** A word as it goes on behind the position. */
const WORD_REST = /^[^\s()|",:]*/;

/** The rest of a test behind the word at the position: the colon and the value. */
const ATOM_REST = /^:(?:[<>]?=?(?:"(?:[^"\\]|\\.)*"|\([^()]*\)|~\/(?:[^/\\]|\\.)*\/i?|[^\s()|"]*))/s;

/** Returns what is being written at a position of a text, which need not be a query. */
export function completionAt(text: string, position: number): Completion {
  const before = text.slice(0, position);
  // `name:` alone is a text, and a test of the field as soon as a value follows.
  const probe = /[^:\s]:$/.test(before) ? placeAt(`${before}x`, position + 1) : null;
  const probed = probe?.kind === "value" ? probe : null;
  const place = probed ?? withNext(before, placeAt(text, position));
  const operator = place.kind === "value" ? (OPERATOR.exec(text.slice(place.start, position))?.[0] ?? "") : "";
  const start = place.start + operator.length;
  const rest = WORD_REST.exec(text.slice(position))?.[0] ?? "";
  return {
    kind: place.kind,
    start,
    end: position + rest.length,
    typed: text.slice(start, position),
    field: place.field,
    columns: place.columns,
    words: place.words,
    filter: filterAround(text, probed === null ? before : `${before}x`, place.start, position + rest.length),
  };
}

/** After a finished test and white space, another one may be written, which the parser has not tried to read. */
function withNext(before: string, place: Place): Place {
  if (place.kind !== "value" && place.kind !== "filter") return place;
  const typed = before.slice(place.start);
  if (!/\s$/.test(typed) || typed.trim() === "") return place;
  const { tokens, result } = analyze(before);
  const last = tokens.at(-1);
  // The white space is within quotes, or within the list of a field's values.
  if (last === undefined || last.end > before.trimEnd().length || isOpenList(before, tokens, place)) return place;
  if (!result.ok && /not closed/.test(result.error.message) && before[result.error.position] !== "(") return place;
  return { kind: "filter", start: before.length, field: null, columns: place.columns, words: [] };
}

/** Whether a place is in the parentheses of a field's values. */
function isOpenList(before: string, tokens: readonly Token[], { kind }: Place): boolean {
  if (kind !== "value") return false;
  let depth = 0;
  const texts = tokens.map(({ start, end }) => before.slice(start, end));
  for (let at = texts.length - 1; at >= 0; at--) {
    if (texts[at] === ")") depth++;
    else if (texts[at] === "(" && --depth < 0) return texts[at - 1] === ":";
  }
  return false;
}

/**
 * Returns the filter of a query without the test that is being written from `start` to `end`.
 * @param before the text up to the position, with a value
 */
function filterAround(text: string, before: string, start: number, end: number): Filter {
  const { tokens } = analyze(before);
  const pipe = tokens.findLast(({ start: at, end: to }) => to <= start && text.slice(at, to) === "|");
  if (pipe !== undefined) {
    const result = parse(text.slice(0, pipe.start));
    return result.ok ? entriesOf(result.query.filter, result.query.pipes) : ALL;
  }
  const atom = atomStart(text, tokens, start);
  // A negated test would leave what it excludes.
  const left = text.slice(0, atom).replace(/(?:\bNOT\s+|-)$/, "");
  const right = text.slice(end).replace(ATOM_REST, "");
  for (const attempt of [`${left} * ${right}`, `${left} *`, `${left}`]) {
    const result = parse(closed(attempt));
    if (result.ok) return entriesOf(result.query.filter, result.query.pipes);
  }
  return ALL;
}

/** Filters and `where` pipes of the entries that a table is made of. */
function entriesOf(filter: Filter, pipes: readonly Pipe[]): Filter {
  const filters = [filter];
  for (const pipe of pipes) {
    if (pipe.kind === "where") filters.push(pipe.filter);
    else if (pipe.kind !== "sort") break;
  }
  return simplified({ kind: "and", filters });
}

/** Returns a filter without tests that every entry passes. */
function simplified(filter: Filter): Filter {
  if (filter.kind !== "and" && filter.kind !== "or") return filter;
  const filters = filter.filters.map(simplified);
  const others = filters.filter(({ kind }) => kind !== "all");
  if (others.length === 0 || (filter.kind === "or" && others.length < filters.length)) return ALL;
  return joined(filter.kind, others);
}

/** Returns where the test begins whose value is at a position: at its field. */
function atomStart(text: string, tokens: readonly Token[], start: number): number {
  const field = tokens.findLast((token) => token.kind === "field" && token.end <= start);
  if (field === undefined || text[field.end] !== ":") return start;
  // A finished test before it.
  const between = text.slice(field.end + 1, start);
  return between === "" || between.startsWith("(") ? field.start : start;
}

/** Closes parentheses that are open at the end. */
function closed(text: string): string {
  const { tokens } = analyze(text);
  let open = 0;
  for (const { start, end } of tokens) {
    const token = text.slice(start, end);
    if (token === "(") open++;
    else if (token === ")") open--;
  }
  return open > 0 ? text + ")".repeat(open) : text;
}
