import { z } from "zod";
import { WELL_FORMED } from "../../http/fields.ts";
import { sized } from "../../platform/bytes.ts";
import type { QueryError } from "../../query-language/error.ts";
import { type Hint, hintsOf } from "../../query-language/hints.ts";
import { explained } from "../../query-language/meant.ts";
import { analyze, type ParseResult, parse, parseFilterText } from "../../query-language/parse.ts";
import { QUERY_LIMITS } from "../../query-language/reader.ts";
import type { Filter, Regex } from "../../query-language/syntax.ts";
import { InvalidQuery, planSearch } from "./search-plan.ts";
import { compileAll, InvalidRegex } from "./text-tests.ts";

/** A query of a request. Its regular expressions compile. */
export type ParsedQuery = Extract<ParseResult, { ok: true }>;

/** With what its text probably does not do as intended. */
export type HintedQuery = ParsedQuery & { hints: Hint[] };

const LIMITS = `At most ${sized(QUERY_LIMITS.bytes)}, ${QUERY_LIMITS.atoms} tests, ${QUERY_LIMITS.depth} levels.`;

/** A query with or without pipes. */
export const QueryText = z
  .string()
  .describe(`A query in the query language: a filter, then pipes. \`*\` is every entry. ${LIMITS}`)
  .meta({ examples: ["level:>=error route:/api/* | stats count(), p99(ms) by route, bin(5m)"] })
  .transform((text, ctx): HintedQuery => {
    const analysis = analyze(text);
    return { ...parsed(text, analysis.result, ctx), hints: hintsOf(text, analysis) };
  });

/** A query that is stored: its text, and whether it makes a table. */
export const StoredQueryText = z
  .string()
  .regex(WELL_FORMED, "Must be well-formed Unicode.")
  .describe(`A query in the query language. ${LIMITS}`)
  .meta({ examples: ["* | stats count() by level, bin(5m)"] })
  .transform((text, ctx): { text: string; isTable: boolean } => {
    const { query, columns } = parsed(text, parse(text), ctx);
    if (ctx.issues.length > 0) return z.NEVER;
    try {
      planSearch(query);
    } catch (error) {
      if (!(error instanceof InvalidQuery)) throw error;
      ctx.addIssue({ code: "custom", message: error.message });
    }
    return { text, isTable: columns !== null };
  });

/** Returns the hints of a query that are of use for an answer. @param matched entries that its filter found */
export function notesOf(hints: readonly Hint[], matched: number): string[] {
  return hints.filter(({ ifNothing }) => !ifNothing || matched === 0).map(({ message }) => message);
}

/** The filter part of a query. */
export const FilterText = z
  .string()
  .describe(`A filter in the query language, without pipes. Entries must pass it as well as \`filters\`. ${LIMITS}`)
  .meta({ examples: ['level:>=error status:500..599 -route:/health "timed out"'] })
  .transform((text, ctx) => parsed(text, parseFilterText(text), ctx));

/** Characters of a suggestion in a message. */
const MAX_MEANT = 200;

function didYouMean(suggestion: string): string {
  return `Did you mean \`${suggestion.length > MAX_MEANT ? `${suggestion.slice(0, MAX_MEANT)}...` : suggestion}\`?`;
}

function parsed(text: string, result: ParseResult, ctx: z.core.$RefinementCtx): ParsedQuery {
  const error = result.ok ? regexError(text, result) : result.error;
  if (result.ok && error === null) return result;
  if (error !== null) {
    const { message, ...params } = explained(text, error, Date.now());
    // Errors of the API end with a period.
    const sentence = /[.?!]$/.test(message) ? message : `${message}.`;
    const meant = params.suggestion === undefined ? "" : ` ${didYouMean(params.suggestion)}`;
    ctx.addIssue({ code: "custom", message: sentence + meant, params });
  }
  return z.NEVER;
}

/** Returns why a regular expression of a query does not compile; `null` if all do. */
export function regexError(text: string, { query }: ParsedQuery): QueryError | null {
  try {
    compileAll(regexesOf(query));
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    const { message, source } = error;
    const position = analyze(text).tokens.find(
      ({ kind, start, end }) => kind === "regex" && hasSource(text.slice(start, end), source),
    )?.start;
    return {
      message: `The regular expression is not valid: ${message}`,
      position: position ?? 0,
      expected: ["a regular expression of RE2"],
    };
  }
  return null;
}

/** Returns the regular expressions anywhere in the syntax. */
export function regexesOf(node: unknown): Regex[] {
  if (typeof node !== "object" || node === null) return [];
  // SAFETY: of all nodes only regular expressions have this kind.
  if ("kind" in node && node.kind === "regex") return [node as Regex];
  return Object.values(node).flatMap(regexesOf);
}

function hasSource(written: string, source: string): boolean {
  const result = parse(written);
  return result.ok && regexesOf(result.query).some((regex) => regex.source === source);
}

/** Whether a filter has times that count from the time of the query. */
export function isRelative(filter: Filter): boolean {
  return JSON.stringify(filter).includes('{"kind":"ago",');
}
