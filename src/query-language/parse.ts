import { type QueryError, SyntaxFault } from "./error.ts";
import { parseFilter } from "./parse-filter.ts";
import { parsePipe, pipeLike } from "./parse-pipes.ts";
import { type ParserState, type Place, QUERY_LIMITS, QueryReader, type Token } from "./reader.ts";
import type { Pipe, Query } from "./syntax.ts";
import type { TableColumn } from "./table-columns.ts";

export type ParseResult =
  /** `columns`: of the table that the query makes; `null`: it finds entries. */
  { ok: true; query: Query; columns: readonly TableColumn[] | null } | { ok: false; error: QueryError };

/** Reads a query. Throws nothing, whatever the text is. */
export function parse(text: string): ParseResult {
  return read(text).result;
}

/** Reads a query that must be a filter without pipes. */
export function parseFilterText(text: string): ParseResult {
  const result = parse(text);
  if (!result.ok || result.query.pipes.length === 0) return result;
  const position = read(text).pipeAt;
  return {
    ok: false,
    error: { message: "Only a filter is accepted here, without pipes", position, expected: ["the end"] },
  };
}

/** A query as far as it can be read, for an editor. */
export interface Analysis {
  result: ParseResult;
  /** Pieces in order, up to an error. */
  tokens: readonly Token[];
}

export function analyze(text: string): Analysis {
  const { result, reader } = read(text);
  return { result, tokens: reader.tokens };
}

/** Returns what may be written at a position, which is in UTF-16 offsets. */
export function placeAt(text: string, position: number): Place {
  return read(text.slice(0, position)).reader.place;
}

function read(text: string): { result: ParseResult; reader: QueryReader; pipeAt: number } {
  const reader = new QueryReader(text);
  const state: ParserState = { reader, columns: null, atoms: 0, textUntil: 0 };
  const pipes: Pipe[] = [];
  let pipeAt = -1;
  try {
    refuseTooLong(text);
    reader.skipSpace();
    reader.expect("filter", null);
    const isFiltered = !reader.isAtEnd && reader.next !== "|";
    const filter = isFiltered ? parseFilter(state) : ({ kind: "all" } as const);
    for (reader.skipSpace(); reader.next === "|"; reader.skipSpace()) {
      if (pipeAt < 0) pipeAt = reader.at;
      reader.take("|", "operator");
      reader.isPiped = true;
      pipes.push(parsePipe(state));
    }
    if (!reader.isAtEnd) throw unexpected(reader);
    return { result: { ok: true, query: { filter, pipes }, columns: state.columns }, reader, pipeAt };
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    return { result: { ok: false, error: error.error }, reader, pipeAt };
  }
}

/** UTF-8 has 1 to 3 bytes for each UTF-16 unit. */
function refuseTooLong(text: string): void {
  if (text.length * 3 <= QUERY_LIMITS.bytes) return;
  const bytes = text.length > QUERY_LIMITS.bytes ? text.length : new TextEncoder().encode(text).length;
  if (bytes > QUERY_LIMITS.bytes) {
    throw new SyntaxFault(`The query is longer than ${QUERY_LIMITS.bytes.toLocaleString("en-US")} bytes`, 0, []);
  }
}

function unexpected(reader: QueryReader): SyntaxFault {
  const word = reader.peekWord() || reader.next;
  if (word === ")") return new SyntaxFault("The parenthesis was not opened", reader.at, ["|", "the end"]);
  const pipe = reader.isPiped ? pipeLike(word) : undefined;
  return new SyntaxFault(`Unexpected \`${word}\``, reader.at, ["|", "the end"], pipe && `| ${pipe}`);
}
