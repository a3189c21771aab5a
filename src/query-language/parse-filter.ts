import { SyntaxFault } from "./error.ts";
import { fieldOf, printField } from "./fields.ts";
import { parseValue } from "./parse-value.ts";
import { type ParserState, QUERY_LIMITS, type QueryReader } from "./reader.ts";
import { type Field, type Filter, joined } from "./syntax.ts";
import { columnNamed, type TableColumn } from "./table-columns.ts";

const RESERVED = new Set(["AND", "OR", "NOT"]);

/** Reads a filter up to `|`, a closing parenthesis or the end. */
export function parseFilter(state: ParserState, depth = 0): Filter {
  const { reader } = state;
  const either = [parseAll(state, depth)];
  while (reader.takeKeyword("OR")) either.push(parseAll(state, depth));
  return joined("or", either);
}

/** Reads tests of which all must hold. */
function parseAll(state: ParserState, depth: number): Filter {
  const { reader } = state;
  const all: Filter[] = [];
  for (;;) {
    reader.skipSpace();
    const isNext = !reader.isAtEnd && reader.next !== ")" && reader.next !== "|" && reader.peekWord() !== "OR";
    if (all.length > 0 && !isNext) break;
    if (all.length > 0) reader.takeKeyword("AND");
    all.push(parseNot(state, depth));
    reader.skipSpace();
  }
  return joined("and", all);
}

function parseNot(state: ParserState, depth: number): Filter {
  const { reader } = state;
  reader.skipSpace();
  reader.expect("filter", state.columns);
  if (depth > QUERY_LIMITS.depth)
    throw new SyntaxFault(`The query is nested more than ${QUERY_LIMITS.depth} deep`, reader.at, []);
  if (reader.takeKeyword("NOT") || takesMinus(reader)) return { kind: "not", filter: parseNot(state, depth + 1) };
  return parseAtom(state, depth);
}

/** A `-` negates what it touches. Alone and doubled it is text. */
function takesMinus(reader: QueryReader): boolean {
  return /^-[^\s|)-]/.test(reader.text.slice(reader.at, reader.at + 2)) && reader.take("-", "operator");
}

function parseAtom(state: ParserState, depth: number): Filter {
  const { reader } = state;
  if (++state.atoms > QUERY_LIMITS.atoms)
    throw new SyntaxFault(`The query has more than ${QUERY_LIMITS.atoms} tests`, reader.at, []);
  const start = reader.at;
  if (reader.take("(", "operator")) {
    state.atoms--;
    const filter = parseFilter(state, depth + 1);
    if (!reader.take(")", "operator")) throw new SyntaxFault("The parenthesis is not closed", start, [")"]);
    return filter;
  }
  const field = parseTestedField(state);
  if (field !== null) return { kind: "field", field, test: parseValue(state, field) };
  return parseText(state);
}

/** Reads `name:` if a value follows. */
function parseTestedField(state: ParserState): Field | null {
  const { reader, columns } = state;
  const { at } = reader;
  // A path of many names would be read again from each of them.
  if (columns === null && at < state.textUntil) return null;
  const tokens = reader.tokens.length;
  const field = columns === null ? pathField(reader) : columnField(reader, columns, true);
  if (field !== null && reader.next === ":" && isValue(reader.text, reader.at + 1)) {
    reader.take(":", "operator");
    return field;
  }
  state.textUntil = reader.pathEnd;
  reader.reset(at, tokens);
  return null;
}

function pathField(reader: QueryReader): Field | null {
  const path = reader.path();
  return path && fieldOf(path);
}

function isValue(text: string, at: number): boolean {
  return /^[^\s:)|]/.test(text.slice(at, at + 1)) && !text.startsWith("//", at);
}

/**
 * Reads the name of a column, also of an unnamed aggregation: `p99(ms)`.
 * @param isTest whether only a name before a colon is one
 * @returns `null`, without having read, if there is no name here
 */
export function columnField(reader: QueryReader, columns: readonly TableColumn[], isTest = false): Field | null {
  const start = reader.at;
  const call = /^[a-z0-9_]+\([^()|]*\)/.exec(reader.text.slice(start))?.[0];
  if (call !== undefined) {
    reader.take(call, "field");
    if (!isTest || reader.next === ":")
      return { kind: "column", name: columnNamed(call.replaceAll(" ", ""), columns, start) };
    return null;
  }
  const path = reader.path();
  if (path === null || (isTest && reader.next !== ":")) return null;
  return { kind: "column", name: columnNamed(path, columns, start) };
}

function parseText(state: ParserState): Filter {
  const { reader } = state;
  const start = reader.at;
  const regex = reader.regex();
  const quoted = regex === null ? reader.quoted("text") : null;
  const word = regex === null && quoted === null ? reader.word("text") : "";
  if (regex === null && quoted === null && (word === "" || RESERVED.has(word))) throw missing(reader, start, word);
  if (/^\*+$/.test(word)) return { kind: "all" };
  if (reader.isPiped) refuseComparison(state, start, word);
  if (regex !== null) return { kind: "text", test: regex };
  if (quoted === "") throw new SyntaxFault("The text is empty", start, ["a text", "*"], "*");
  if (quoted === null && word.includes("*")) return { kind: "text", test: { kind: "wildcard", pattern: word } };
  return { kind: "text", test: { kind: "contains", text: quoted ?? word } };
}

const FILTER_STARTS = ["a field", "a text", "("];

function missing(reader: QueryReader, start: number, word: string): SyntaxFault {
  const here = word === "" ? reader.next : word;
  const what = here === "" ? "The query ends where a test is expected" : `A test is expected before \`${here}\``;
  // The word itself is searched for in quotes.
  return new SyntaxFault(what, start, FILTER_STARTS, word === "" ? undefined : `"${word}"`);
}

const COMPARISON = /^([^\s()|,:<>=!]+)(\s*)([<>=]=?|!=)\s*([^\s()|,]+)/;

/** `n > 10` is a comparison in other languages, and a table has no text. */
function refuseComparison({ reader, columns }: ParserState, start: number, word: string): void {
  const [, name = "", space = "", operator = "", value = ""] = COMPARISON.exec(reader.text.slice(start)) ?? [];
  const isComparison = name !== "" && (space !== "" || columns !== null);
  if (isComparison || /^(?:[<>=]=?|!=)$/.test(word)) {
    const test = /^[<>]/.test(operator) ? operator : "";
    throw new SyntaxFault(
      "A comparison is written without spaces: `field:>value`",
      start,
      ["field:>value"],
      isComparison ? `${operator === "!=" ? "-" : ""}${name}:${test}${value}` : undefined,
    );
  }
  if (columns === null) return;
  throw new SyntaxFault(
    "A table has columns and no text: name the column to test",
    start,
    columns.map(({ name }) => `${printField({ kind: "column", name })}:`),
  );
}
