import { type Hint, hintsOf } from "../../../../../src/query-language/hints.ts";
import { analyze } from "../../../../../src/query-language/parse.ts";
import { printFilter } from "../../../../../src/query-language/print.ts";
import { type Filter, joined } from "../../../../../src/query-language/syntax.ts";

/** What the query of a view asks for. */
export interface Asked {
  /** Whether it has an answer of its own, such as a table, in place of the list of entries. */
  isAnswer: boolean;
  /** The filter part for requests; `null` if every entry passes. */
  q: string | null;
  /** A text that is searched for, to mark it in entries; empty if there is none. */
  text: string;
  /** What the text probably does not do as intended. The service says it of answers. */
  hints: readonly Hint[];
  /** Whether the text is no query: the query box says why, and nothing is requested. */
  isInvalid: boolean;
}

/** Reads a query. */
export function askedOf(query: string): Asked {
  if (query.trim() === "") return { isAnswer: false, q: null, text: "", hints: [], isInvalid: false };
  const analysis = analyze(query);
  const { result } = analysis;
  if (!result.ok) return { isAnswer: false, q: query, text: "", hints: [], isInvalid: true };
  const { filter, pipes } = result.query;
  const end = pipes.findIndex(({ kind }) => kind !== "where");
  const isAnswer = end >= 0;
  // Of an answer, the entries that it is made of.
  const filters = pipes
    .slice(0, isAnswer ? end : pipes.length)
    .flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []));
  const whole = joined(
    "and",
    [filter, ...filters].filter(({ kind }) => kind !== "all"),
  );
  const isOpen = whole.kind === "and" && whole.filters.length === 0;
  const q = isOpen ? null : printFilter(whole);
  if (isAnswer) return { isAnswer, q, text: "", hints: [], isInvalid: false };
  const hints = hintsOf(query, analysis).filter(({ ifNothing }) => !ifNothing);
  return { isAnswer, q, text: textOf(whole), hints, isInvalid: false };
}

function textOf(filter: Filter): string {
  if (filter.kind === "text" && filter.test.kind === "contains") return filter.test.text;
  return filter.kind === "and" ? (filter.filters.map(textOf).find((text) => text !== "") ?? "") : "";
}
