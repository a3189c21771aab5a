import { nearest, SyntaxFault } from "./error.ts";
import { fieldOf } from "./fields.ts";
import { columnField, parseFilter } from "./parse-filter.ts";
import type { ParserState } from "./reader.ts";
import {
  AGGREGATE_FUNCTIONS,
  type Aggregate,
  type AggregateFunction,
  type Field,
  type Key,
  type Pipe,
} from "./syntax.ts";
import { columnsAfter } from "./table-columns.ts";
import { parseDuration } from "./values.ts";

const PIPES = [
  "where",
  "count",
  "stats",
  "top",
  "rare",
  "patterns",
  "facets",
  "fields",
  "sort",
  "limit",
  "context",
] as const;
type PipeName = (typeof PIPES)[number];

/** Names of other languages for the same pipes. */
const FOREIGN_PIPES: ReadonlyMap<string, PipeName> = new Map([
  ["filter", "where"],
  ["search", "where"],
  ["summarize", "stats"],
  ["aggregate", "stats"],
  ["timechart", "stats"],
  ["head", "limit"],
  ["take", "limit"],
  ["order", "sort"],
  ["project", "fields"],
  ["keep", "fields"],
  ["select", "fields"],
  ["cluster", "patterns"],
]);

/** Returns the pipe that a word may mean. */
export function pipeLike(word: string): string | undefined {
  return FOREIGN_PIPES.get(word.toLowerCase()) ?? nearest(word, PIPES);
}

/** Pipes that read the members of entries. */
const OF_ENTRIES: ReadonlySet<PipeName> = new Set(["patterns", "facets", "context"]);

/** Maximum of the numbers of pipes: rows of a table, and entries around another. */
const MAX_ROWS = 10_000;
const MAX_CONTEXT = 100;

/** Reads the pipe after `|`. Sets the columns that it leaves. */
export function parsePipe(state: ParserState): Pipe {
  const { reader, columns } = state;
  reader.skipSpace();
  reader.expect("pipe", columns, null, columns === null ? PIPES : PIPES.filter((name) => !OF_ENTRIES.has(name)));
  const start = reader.at;
  const word = reader.word("pipe");
  const name = PIPES.find((each) => each === word);
  if (name === undefined) {
    if (word === "") throw new SyntaxFault("A pipe is missing", start, PIPES);
    throw new SyntaxFault(`Unknown pipe \`${word}\``, start, PIPES, pipeLike(word));
  }
  if (columns !== null && OF_ENTRIES.has(name)) {
    throw new SyntaxFault(
      `\`${name}\` reads entries, and the pipe before makes a table`,
      start,
      PIPES.filter((each) => !OF_ENTRIES.has(each)),
    );
  }
  const pipe = parseOf(state, name);
  state.columns = columnsAfter(pipe, columns);
  refuseDuplicates(state, start);
  return pipe;
}

function parseOf(state: ParserState, kind: PipeName): Pipe {
  switch (kind) {
    case "where":
      return { kind, filter: parseFilter(state) };
    case "count":
      return { kind, by: parseBy(state) };
    case "stats":
      return { kind, aggregates: parseItems(state, () => parseAggregate(state)), by: parseBy(state) };
    case "top":
    case "rare": {
      const limit = parseCount(state, MAX_ROWS);
      const by = parseBy(state);
      if (by.length === 0) {
        const { reader } = state;
        const meant = `by ${reader.peekWord() || "field"}`;
        throw new SyntaxFault(
          `\`${kind}\` needs the fields to count by, as they are named in entries`,
          reader.at,
          ["by"],
          meant,
        );
      }
      return { kind, limit, by };
    }
    case "patterns":
      return { kind, limit: parseCount(state, MAX_ROWS), versus: parseVersus(state) };
    case "facets":
      return { kind, limit: parseCount(state, MAX_ROWS) };
    case "fields":
      return { kind, fields: parseItems(state, () => parseField(state)) };
    case "sort":
      return { kind, by: parseField(state, " desc"), order: parseOrder(state) };
    case "limit":
      return { kind, limit: parseCount(state, MAX_ROWS) ?? missingNumber(state, MAX_ROWS) };
    case "context":
      return { kind, entries: parseCount(state, MAX_CONTEXT) ?? missingNumber(state, MAX_CONTEXT) };
  }
}

function refuseDuplicates({ columns }: ParserState, start: number): void {
  const names = columns?.map(({ name }) => name) ?? [];
  // A query has hundreds of pipes and columns at most, so each pipe reads the names once.
  const known = new Set<string>();
  const twice = names.find((name) => known.size === known.add(name).size);
  if (twice !== undefined) {
    throw new SyntaxFault(`The table would have two columns \`${twice}\`: remove one, or change its \`as\``, start, []);
  }
}

function takeWord({ reader, columns }: ParserState, word: string, words: readonly string[] = [word]): boolean {
  reader.skipSpace();
  reader.expect("keyword", columns, null, words);
  return reader.takeKeyword(word);
}

function parseOrder(state: ParserState): "asc" | "desc" {
  if (takeWord(state, "desc", ["asc", "desc"])) return "desc";
  takeWord(state, "asc", ["asc", "desc"]);
  return "asc";
}

function parseItems<Item>({ reader }: ParserState, parse: () => Item): Item[] {
  const items = [parse()];
  for (;;) {
    reader.skipSpace();
    if (!reader.take(",", "operator")) return items;
    items.push(parse());
  }
}

function parseBy(state: ParserState): Key[] {
  return takeWord(state, "by") ? parseItems(state, () => parseKey(state)) : [];
}

function parseKey(state: ParserState): Key {
  const { reader } = state;
  reader.skipSpace();
  const bin = /^bin\s*\(/.exec(reader.text.slice(reader.at))?.[0];
  if (bin === undefined || state.columns?.some(({ type }) => type === "time") === false)
    return { kind: "field", field: parseField(state) };
  reader.take(bin, "function");
  const ms = parseLength(state, "5m");
  reader.skipSpace();
  if (!reader.take(")", "operator")) throw new SyntaxFault("The parenthesis is not closed", reader.at, [")"]);
  return { kind: "bin", ms };
}

/** Reads a duration. */
function parseLength(state: ParserState, example: string): number {
  const { reader } = state;
  reader.skipSpace();
  reader.expect("duration", state.columns);
  const start = reader.at;
  const word = reader.word("value");
  const ms = parseDuration(word);
  if (ms !== null) return ms;
  const what = word === "" ? "A duration is missing" : `\`${word}\` is not a duration`;
  const unit = /^\d+$/.test(word) ? `${word}m` : example;
  throw new SyntaxFault(what, start, ["a number with the unit ms, s, m, h, d or w"], unit);
}

function parseVersus(state: ParserState): number | null {
  return takeWord(state, "vs") ? parseLength(state, "1d") : null;
}

/**
 * Reads a field of entries or a column.
 * @param descending what a `-` before the name may mean
 */
function parseField(state: ParserState, descending = ""): Field {
  const { reader, columns } = state;
  reader.skipSpace();
  reader.expect("key", columns);
  const start = reader.at;
  if (columns !== null) {
    const column = columnField(reader, columns);
    if (column !== null) return column;
  } else {
    const path = reader.path();
    if (path !== null) return fieldOf(path);
  }
  const word = reader.peekWord();
  const what = word === "" ? "A field is missing" : `\`${word}\` is not the name of a field`;
  const name = word.replace(/^-/, "");
  const column = columns?.find((each) => each.name.startsWith(name))?.name ?? name;
  const meant = name === word ? JSON.stringify(word) : column + descending;
  throw new SyntaxFault(what, start, ["a field"], name === "" || name === "*" ? undefined : meant);
}

function parseAggregate(state: ParserState): Aggregate {
  const { reader } = state;
  reader.skipSpace();
  reader.expect("function", state.columns, null, AGGREGATE_FUNCTIONS);
  const start = reader.at;
  const word = reader.word("function");
  const fn = AGGREGATE_FUNCTIONS.find((each) => each === word);
  if (fn === undefined) {
    if (word === "") throw new SyntaxFault("A function is missing", start, AGGREGATE_FUNCTIONS);
    throw new SyntaxFault(`Unknown function \`${word}\``, start, AGGREGATE_FUNCTIONS, functionLike(word));
  }
  reader.skipSpace();
  if (!reader.take("(", "operator")) throw new SyntaxFault(`\`${fn}\` is a function`, start, ["("], `${fn}()`);
  reader.skipSpace();
  const field = reader.next === ")" ? null : parseField(state);
  if (field === null) reader.expect("key", state.columns);
  reader.skipSpace();
  if (!reader.take(")", "operator")) throw new SyntaxFault("The parenthesis is not closed", reader.at, [")"]);
  if (field === null && fn !== "count" && fn !== "rate") {
    throw new SyntaxFault(`\`${fn}\` needs a field`, start, [`${fn}(field)`], `${fn}(field)`);
  }
  return { fn, field, as: parseAlias(state) };
}

function parseAlias(state: ParserState): string | null {
  if (!takeWord(state, "as")) return null;
  const { reader } = state;
  reader.skipSpace();
  reader.expect("name", state.columns);
  const start = reader.at;
  const name = reader.quoted("field") ?? reader.word("field");
  if (name === "") throw new SyntaxFault("A name is missing", start, ["a name"]);
  return name;
}

const FOREIGN_FUNCTIONS: ReadonlyMap<string, AggregateFunction> = new Map([
  ["mean", "avg"],
  ["average", "avg"],
  ["median", "p50"],
  ["total", "sum"],
  ["dc", "count_distinct"],
  ["distinct", "count_distinct"],
  ["uniq", "count_distinct"],
  ["count_uniq", "count_distinct"],
  ["unique", "count_distinct"],
  ["p100", "max"],
  ["any", "first"],
]);

function functionLike(word: string): string | undefined {
  return FOREIGN_FUNCTIONS.get(word.toLowerCase()) ?? nearest(word, AGGREGATE_FUNCTIONS);
}

/** Reads a whole number from 1 on. @returns `null` if no number is here */
function parseCount(state: ParserState, most: number): number | null {
  const { reader } = state;
  reader.skipSpace();
  reader.expect("number", state.columns);
  const word = reader.peekWord();
  if (!/^[+-]?\d/.test(word)) return null;
  if (!/^[1-9]\d{0,8}$/.test(word) || Number(word) > most) {
    throw new SyntaxFault(`\`${word}\` is not a whole number from 1 to ${most.toLocaleString("en-US")}`, reader.at, [
      "a whole number",
    ]);
  }
  reader.take(word, "value");
  return Number(word);
}

function missingNumber({ reader }: ParserState, most: number): never {
  throw new SyntaxFault(`A number from 1 to ${most.toLocaleString("en-US")} is missing`, reader.at, ["a whole number"]);
}
